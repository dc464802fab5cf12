//! Conformance tests of the lists of API clients.

use super::{NOW, World, client, token};
use crate::{ApiClient, ClientFilter, ClientUsage};
use civitas_kernel::{ClientId, PageRequest, Result};
use time::Duration;

/// The list has the newest first, of one organization or of all, and is searched by the beginning of the public name or
/// a part of the name.
pub async fn lists_clients(world: World<'_>) -> Result<()> {
    let mut names = Vec::new();
    for (n, (uid, name, organization)) in [
        ("id_first_1", "Mobile app", Some(world.mine)),
        ("id_second_", "Éditeur 100 %", Some(world.mine)),
        ("id_third_3", "mobile_app", Some(world.other)),
    ]
    .into_iter()
    .enumerate()
    {
        let created_at = NOW + Duration::seconds(i64::try_from(n).unwrap_or_default());
        let added = ApiClient { name: name.to_owned(), created_at, ..client(uid, organization) };
        names.push((world.clients.add(&added).await?, uid));
    }
    let list = async |filter: ClientFilter, page| {
        let page = world.clients.list(&filter, PageRequest::new(page, 2)).await?;
        let known =
            |id: &ClientId| names.iter().find(|(known, _)| known == id).map_or("?", |(_, uid)| &uid[3..6]);
        let found: Vec<_> = page.items.iter().map(|(id, _)| known(id)).collect();
        Result::<_>::Ok((found.join(" "), page.has_more))
    };
    let of = |organization| ClientFilter { organization, search: Some("id_".to_owned()) };
    let search = |text: &str| ClientFilter { organization: Some(world.mine), search: Some(text.to_owned()) };
    assert_eq!(list(of(Some(world.mine)), 1).await?, ("sec fir".to_owned(), false));
    assert_eq!(
        list(ClientFilter { search: Some("MOBILE".to_owned()), organization: None }, 1).await?,
        ("thi fir".to_owned(), false)
    );
    assert_eq!(list(search("éditeur 100 %"), 1).await?.0, "sec");
    assert_eq!(list(search("id_f"), 1).await?.0, "fir");
    assert_eq!(list(search("d_first"), 1).await?.0, "", "the beginning of the public name");
    assert_eq!(list(search("mobile_"), 1).await?.0, "", "no wildcard");
    let all = ClientFilter { organization: Some(world.mine), search: None };
    assert_eq!(list(all.clone(), 1).await?.0, "sec fir");
    assert_eq!(list(all, 2).await?, (String::new(), false));
    Ok(())
}

/// Valid tokens are those that are neither expired nor revoked; the last token is the newest of all.
pub async fn counts_what_clients_have(world: World<'_>) -> Result<()> {
    let busy = world.clients.add(&client("id_of_busy", Some(world.mine))).await?;
    let idle = world.clients.add(&client("id_of_idle", Some(world.mine))).await?;
    let other = world.clients.add(&client("id_of_other_one", Some(world.mine))).await?;
    for n in 0..3 {
        let issued_at = NOW + Duration::seconds(n);
        let issued = crate::AccessToken { issued_at, ..token(world.mine, busy, None) };
        world.tokens.add(&issued).await?;
    }
    let ended = crate::AccessToken { expires_at: NOW, ..token(world.mine, busy, None) };
    world.tokens.add(&ended).await?;
    let revoked = crate::AccessToken { revoked_at: Some(NOW), ..token(world.mine, busy, None) };
    world.tokens.add(&revoked).await?;
    world.tokens.add(&token(world.mine, other, None)).await?;
    let mut usage = world.clients.usage(&[busy, idle], NOW).await?;
    usage.sort_by_key(|(id, _)| *id);
    let of_busy =
        ClientUsage { valid_tokens: 3, registrations: 0, last_token_at: Some(NOW + Duration::seconds(2)) };
    assert_eq!(usage, [(busy, of_busy), (idle, ClientUsage::default())]);
    assert_eq!(world.clients.usage(&[], NOW).await?, []);
    Ok(())
}
