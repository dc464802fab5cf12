//! Conformance tests of the list of accounts.

use super::{NOW, World, admin, unusual, user};
use crate::{USER_FIELDS, User, UserField, UserSearch, UserSort, UserStateFilter};
use civitas_kernel::conformance::check_list;
use civitas_kernel::filter::read_filters;
use civitas_kernel::testing::raw_filter;
use civitas_kernel::{PageRequest, Result, UserId};
use serde_json::json;

async fn ids(world: &World<'_>, key: &str, value: &str) -> Result<Vec<UserId>> {
    let filters = read_filters(USER_FIELDS, &raw_filter(key, value))?;
    assert!(filters.iter().all(|f| f.field != UserField::Nickname || key.starts_with("nickname")));
    let page = world.users.list(world.mine, &filters, PageRequest::default()).await?;
    Ok(page.items.into_iter().map(|(id, _)| id).collect())
}

/// Accounts that are not deleted are listed by id, and found by every filter.
pub async fn lists_living_accounts(world: World<'_>) -> Result<()> {
    let nora = world.add_user(&user("Nora_Blum")).await?;
    let zoe = world.add_user(&unusual()).await?;
    world.add_user(&User { deleted_at: Some(NOW), ..user("gone") }).await?;
    let data = json!({"phone": "+33", "key": {"is": "awesome"}});
    let data = data.as_object().cloned().unwrap_or_default();
    let ada = world.add_user(&User { extended_data: data.into(), ..admin("noradmin") }).await?;
    world.users.add(world.other, &user("Nora_Blum")).await?;

    let first = PageRequest::new(1, 2);
    let page = world.users.list(world.mine, &[], first).await?;
    assert_eq!((page.items, page.has_more), (vec![(nora, user("Nora_Blum")), (zoe, unusual())], true));
    let second = world.users.list(world.mine, &[], PageRequest { page: 2, ..first }).await?;
    assert_eq!((second.items.len(), second.has_more), (1, false));
    let beyond = world.users.list(world.mine, &[], PageRequest { page: i64::MAX, ..first }).await?;
    assert_eq!((beyond.items, beyond.has_more), (vec![], false));

    assert_eq!(ids(&world, "nickname", "Nora_Blum").await?, [nora]);
    assert_eq!(ids(&world, "nickname", "nora_blum").await?, [], "in its own case");
    assert_eq!(ids(&world, "nickname_not_in", "Nora_Blum").await?, [zoe, ada]);
    assert_eq!(ids(&world, "nickname_start", "NORA").await?, [nora, ada]);
    assert_eq!(ids(&world, "nickname_start", "nora_").await?, [nora], "no wildcard");
    assert_eq!(ids(&world, "nickname_matches", "nora_%").await?, [nora, ada], "a wildcard");
    assert_eq!(ids(&world, "nickname_blank", "true").await?, []);
    assert_eq!(ids(&world, "id_gt", &nora.to_string()).await?, [zoe, ada]);
    assert_eq!(ids(&world, "id_in", &zoe.to_string()).await?, [zoe]);
    assert_eq!(ids(&world, "id_present", "0").await?, []);
    assert_eq!(ids(&world, "extended_data_cont", r#""KEY":{"is":"awesome"}"#).await?, [zoe, ada]);
    assert_eq!(ids(&world, "extended_data_cont", r#""phone": "+"#).await?, [ada]);
    assert_eq!(ids(&world, "email", "nora_blum@example.org").await?, [nora]);
    assert_eq!(ids(&world, "email_start", "nora").await?, [nora, ada]);
    assert_eq!(ids(&world, "name", "Nora").await?, ids(&world, "name_cont", "NÓRA").await?);
    check_list(async |raw, page| {
        let page = world.users.list(world.mine, &read_filters(USER_FIELDS, &raw)?, page).await?;
        Ok(page.map(|(id, user)| (id, user.created_at, user.updated_at)))
    })
    .await
}

/// Accounts are found by the beginning of nickname and address, by id and by state, in both orders; not deleted ones, and
/// not those of other organizations.
pub async fn searches_accounts(world: World<'_>) -> Result<()> {
    let later = |user: User, seconds| User { created_at: NOW + time::Duration::seconds(seconds), ..user };
    let bea = world.add_user(&later(user("Bea"), 1)).await?;
    let zoe = world.add_user(&later(unusual(), 2)).await?;
    let abe =
        world.add_user(&later(User { email: "bear@example.org".to_owned(), ..admin("abe") }, 3)).await?;
    world.add_user(&User { deleted_at: Some(NOW), ..user("bea_gone") }).await?;
    let foreign = world.users.add(world.other, &user("Bea")).await?;
    let text = |text: &str| UserSearch { text: Some(text.to_owned()), ..UserSearch::default() };
    let state = |state| UserSearch { state: Some(state), ..UserSearch::default() };
    for (search, expected) in [
        (UserSearch::default(), vec![abe, zoe, bea]),
        (UserSearch { sort: UserSort::Nickname, ..UserSearch::default() }, vec![abe, bea, zoe]),
        (text(" BEA "), vec![abe, bea]),
        (text("ea"), vec![]),
        (text("%"), vec![]),
        (text(&zoe.to_string()), vec![zoe]),
        (text(&foreign.to_string()), vec![]),
        (UserSearch { sort: UserSort::Nickname, ..text("b") }, vec![abe, bea]),
        (state(UserStateFilter::Active), vec![abe]),
        (state(UserStateFilter::Blocked), vec![zoe]),
        (state(UserStateFilter::Locked), vec![zoe]),
        (state(UserStateFilter::Unconfirmed), vec![bea]),
        (state(UserStateFilter::Admin), vec![abe, zoe]),
        (UserSearch { state: Some(UserStateFilter::Unconfirmed), ..text("bea") }, vec![bea]),
    ] {
        let page = world.users.search(world.mine, &search, PageRequest::default()).await?;
        let ids: Vec<_> = page.items.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, expected, "{search:?}");
        let number = i64::try_from(expected.len()).unwrap_or_default();
        assert_eq!(world.users.count_found(world.mine, &search).await?, number, "{search:?}");
    }
    let second = PageRequest::new(2, 2);
    let page = world.users.search(world.mine, &UserSearch::default(), second).await?;
    assert_eq!((page.items[0].0, page.items.len(), page.has_more), (bea, 1, false));
    Ok(())
}
