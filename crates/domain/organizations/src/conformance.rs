//! Conformance tests: what every implementation of the ports must pass. Each is a function that fails on a violation.

use crate::OrganizationQuery::{ById, ByName};
use crate::{
    Features, HostMatch, MoveState, ORGANIZATION_FIELDS, Organization, OrganizationStore, RegistrationMode,
};
use civitas_kernel::conformance::check_list;
use civitas_kernel::filter::read_filters;
use civitas_kernel::records::Change;
use civitas_kernel::{Error, Locale, OrganizationId, PageRequest, Result, Translated};
use serde_json::json;
use std::collections::BTreeSet;
use time::OffsetDateTime;
use time::macros::datetime;

/// Replaces the stored state.
async fn replace(store: &dyn OrganizationStore, id: OrganizationId, after: &Organization) -> Result<()> {
    let before = store.find(id).await?.ok_or(Error::NotFound)?;
    store.save(id, &Change::new(before, after.clone())).await
}

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30:00.123456 UTC);

fn organization(host: &str) -> Organization {
    let name = Translated::from([(Locale::EN, host.to_owned())]);
    Organization::new(host.to_owned(), name, Locale::EN, NOW)
}

/// An organization without default values.
fn unusual() -> Organization {
    let data = json!({"unconfirmed": false, "nested": {"list": [1, "two", null]}, "word": "Ünïcode"});
    Organization {
        secondary_hosts: ["z", "a", "lost"].map(|name| format!("{name}.rich.example")).to_vec(),
        unconfirmed_secondary_hosts: vec!["lost.rich.example".to_owned()],
        unconfirmed_host: Some("new.rich.example".to_owned()),
        description: Translated::from([(Locale::EN, String::new()), (Locale::FR, "<p>É</p>".to_owned())]),
        available_locales: [Locale::EN, Locale::ES].into_iter().collect(),
        default_locale: Locale::ES,
        reference_prefix: "RIV".to_owned(),
        time_zone: "Pacific/Auckland".to_owned(),
        comments_max_length: 7,
        users_registration_mode: RegistrationMode::Existing,
        force_users_to_authenticate_before_access_organization: true,
        badges_enabled: true,
        enable_participatory_space_filters: true,
        enable_machine_translations: true,
        user_groups_enabled: true,
        rich_text_editor_in_public_views: true,
        send_welcome_notification: true,
        external_domain_allowlist: vec!["b.example".to_owned(), "a.example".to_owned()],
        max_attachment_bytes: 1,
        features: Features { enabled: false, blogs_enabled: false, ..Features::default() },
        extended_data: data.as_object().cloned().unwrap_or_default().into(),
        created_at: datetime!(2020-02-29 23:59:59.999999 UTC),
        updated_at: datetime!(2025-12-31 00:00 UTC),
        ..organization("rich.example")
    }
}

fn is_rejected<T: std::fmt::Debug>(result: &Result<T>) -> bool {
    matches!(result, Err(Error::Rejected(_)))
}

/// A stored organization and its change are read back with all members.
pub async fn keeps_every_member(store: &dyn OrganizationStore) -> Result<()> {
    let unusual = unusual();
    let id = store.add(&unusual).await?;
    assert_eq!(store.find(id).await?.as_ref(), Some(&unusual));
    let plain = Organization { created_at: NOW, updated_at: NOW, ..organization("plain.example") };
    replace(store, id, &plain).await?;
    assert_eq!(store.find(id).await?, Some(plain.clone()));
    assert_eq!(store.find(OrganizationId(i64::MAX)).await?, None);
    let change = Change::new(plain, organization("nobody.example"));
    let unknown = store.save(OrganizationId(i64::MAX), &change).await;
    assert!(matches!(unknown, Err(Error::NotFound)), "what is not there cannot change");
    Ok(())
}

/// A primary host selects its organization, a secondary one redirects to the primary one, an unconfirmed one is not
/// found.
pub async fn finds_organizations_by_their_hosts(store: &dyn OrganizationStore) -> Result<()> {
    let unusual = unusual();
    let id = store.add(&unusual).await?;
    let Some(HostMatch::Primary(tenant)) = store.locate("rich.example").await? else {
        panic!("the primary host leads to its organization");
    };
    assert_eq!((tenant.id, tenant.host.as_str()), (id, "rich.example"));
    assert_eq!((&tenant.name, &tenant.features), (&unusual.name, &unusual.features));
    assert_eq!(tenant.available_locales, unusual.available_locales);
    assert_eq!((tenant.default_locale, tenant.comments_max_length), (Locale::ES, 7));
    assert_eq!(store.tenant(id).await?, Some(tenant));
    assert_eq!(store.tenant(OrganizationId(i64::MAX)).await?, None);
    let secondary = store.locate("a.rich.example").await?;
    assert_eq!(secondary, Some(HostMatch::Secondary { primary: "rich.example".to_owned() }));
    assert_eq!(store.locate("new.rich.example").await?, None, "a pending host is not found");
    assert_eq!(
        store.locate("lost.rich.example").await?,
        None,
        "nor is a secondary one that no check has found"
    );
    assert_eq!(store.locate("nobody.example").await?, None);
    assert_eq!(store.find_by_host("rich.example").await?, Some(id));
    for not_primary in ["a.rich.example", "new.rich.example", "nobody.example"] {
        assert_eq!(store.find_by_host(not_primary).await?, None, "{not_primary}");
    }
    Ok(())
}

/// No host belongs to two organizations, primary, secondary or pending.
pub async fn keeps_hosts_unique_across_kinds(store: &dyn OrganizationStore) -> Result<()> {
    store.add(&unusual()).await?;
    let second = store.add(&organization("second.example")).await?;
    for host in ["rich.example", "a.rich.example", "new.rich.example"] {
        let as_primary = organization(host);
        assert!(is_rejected(&store.add(&as_primary).await), "{host} as primary host");
        let as_secondary =
            Organization { secondary_hosts: vec![host.to_owned()], ..organization("third.example") };
        assert!(is_rejected(&store.add(&as_secondary).await), "{host} as secondary host");
        let as_pending =
            Organization { unconfirmed_host: Some(host.to_owned()), ..organization("second.example") };
        assert!(is_rejected(&replace(store, second, &as_pending).await), "{host} as unconfirmed host");
    }
    assert_eq!(store.find(second).await?, Some(organization("second.example")), "a refusal changes nothing");
    assert_eq!(store.find_by_host("third.example").await?, None);
    Ok(())
}

/// Hosts whose checks have ended without success stay their organization's until another one takes them; those that are
/// confirmed, or are removed and entered again, are its own.
pub async fn lets_others_take_hosts_that_were_released(store: &dyn OrganizationStore) -> Result<()> {
    let id = store.add(&unusual()).await?;
    let named = |host: &str| Organization {
        secondary_hosts: vec!["lost.rich.example".to_owned()],
        ..organization(host)
    };
    let waiting = ["a.rich.example", "lost.rich.example", "new.rich.example"].map(str::to_owned);
    let mut taken = store.taken_hosts(None, &waiting).await?;
    taken.sort();
    assert_eq!(taken, waiting);
    assert!(is_rejected(&store.add(&named("early.example")).await));
    store.release_hosts(id, &waiting[2..]).await?;
    assert!(is_rejected(&store.add(&named("early.example")).await), "another one was released");
    store.release_hosts(id, &waiting).await?;
    assert_eq!(store.taken_hosts(None, &waiting).await?, ["a.rich.example"]);
    assert_eq!(store.find(id).await?, Some(unusual()), "they are shown");
    replace(store, id, &Organization { comments_max_length: 8, ..unusual() }).await?;
    assert_eq!(store.taken_hosts(None, &waiting).await?, ["a.rich.example"], "an update keeps them released");
    replace(store, id, &organization("rich.example")).await?;
    replace(store, id, &unusual()).await?;
    assert!(is_rejected(&store.add(&named("again.example")).await), "they were entered again");
    store.release_hosts(id, &waiting).await?;
    store.add(&named("late.example")).await?;
    let leads = store.locate("lost.rich.example").await?;
    assert_eq!(leads, Some(HostMatch::Secondary { primary: "late.example".to_owned() }));
    let left = store.find(id).await?.unwrap_or_else(unusual);
    assert_eq!(left.secondary_hosts, ["z.rich.example", "a.rich.example"]);
    assert_eq!(left.unconfirmed_host.as_deref(), Some("new.rich.example"));
    assert!(left.updated_at > unusual().updated_at, "it has changed");
    store.add(&organization("new.rich.example")).await?;
    assert_eq!(store.find(id).await?.and_then(|left| left.unconfirmed_host), None);
    Ok(())
}

/// A host can change its kind within the organization, and is free after its removal.
pub async fn lets_hosts_change_their_kind_and_go(store: &dyn OrganizationStore) -> Result<()> {
    let id = store.add(&unusual()).await?;
    let confirmed = Organization {
        host: "new.rich.example".to_owned(),
        unconfirmed_host: None,
        secondary_hosts: vec!["a.rich.example".to_owned()],
        unconfirmed_secondary_hosts: Vec::new(),
        ..unusual()
    };
    replace(store, id, &confirmed).await?;
    assert_eq!(store.find_by_host("new.rich.example").await?, Some(id));
    assert_eq!(store.locate("rich.example").await?, None, "the old host is not found");
    let name = Translated::from([(Locale::EN, "Another".to_owned())]);
    store.add(&Organization { name, ..organization("rich.example") }).await?;
    Ok(())
}

/// Pages have all ids once, in ascending order.
pub async fn pages_of_ids_do_not_overlap(store: &dyn OrganizationStore) -> Result<()> {
    let mut added = BTreeSet::new();
    for n in 0..5 {
        added.insert(store.add(&organization(&format!("page{n}.example"))).await?);
    }
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.ids(after, 2).await?;
        assert!(page.len() <= 2);
        let Some(last) = page.last() else { break };
        after = Some(*last);
        seen.extend(page);
    }
    assert!(seen.is_sorted_by(|a, b| a < b), "ascending, none twice");
    assert!(added.iter().all(|id| seen.contains(id)));
    Ok(())
}

/// Confirmed hosts of organizations that are served here are listed in their order, in pages.
pub async fn lists_the_hosts_that_are_served(store: &dyn OrganizationStore) -> Result<()> {
    let (before, mut ids) = (store.served_hosts("", 100).await?, Vec::new());
    for host in ["page3.example", "page1.example", "page2.example"] {
        ids.push(store.add(&organization(host)).await?);
    }
    store.add(&unusual()).await?;
    let states = [Some(MoveState::Leaving), Some(MoveState::Left), Some(MoveState::Arriving)];
    let mut expected = before.clone();
    let confirmed = unusual().secondary_hosts.into_iter();
    let is_confirmed = |host: &String| !unusual().unconfirmed_secondary_hosts.contains(host);
    expected.extend(confirmed.filter(is_confirmed).chain([unusual().host, "page3.example".to_owned()]));
    expected.sort();
    for (id, state) in ids.into_iter().zip(states) {
        store.set_move_state(id, state).await?;
    }
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let page = store.served_hosts(&after, 2).await?;
        let Some(last) = page.last() else { break };
        after.clone_from(last);
        seen.extend(page);
    }
    assert_eq!(seen, expected);
    Ok(())
}

/// A secondary host can be pending as primary one, and redirects to the primary one meanwhile.
pub async fn a_secondary_host_can_wait_as_well(store: &dyn OrganizationStore) -> Result<()> {
    let waiting = Organization { unconfirmed_host: Some("a.rich.example".to_owned()), ..unusual() };
    let id = store.add(&waiting).await?;
    assert_eq!(store.find(id).await?.as_ref(), Some(&waiting));
    let leads = store.locate("a.rich.example").await?;
    assert_eq!(leads, Some(HostMatch::Secondary { primary: "rich.example".to_owned() }));
    let patient = Organization { unconfirmed_host: None, ..waiting };
    replace(store, id, &patient).await?;
    assert_eq!(store.find(id).await?, Some(patient));
    Ok(())
}

/// No two organizations have the same name in any language, case-insensitively; a name is free after its removal.
pub async fn keeps_names_unique(store: &dyn OrganizationStore) -> Result<()> {
    let named = |host: &str, names: [(Locale, &str); 2]| Organization {
        name: names.into_iter().map(|(locale, text)| (locale, text.to_owned())).collect(),
        ..organization(host)
    };
    let first = named("one.example", [(Locale::EN, "Éclair"), (Locale::FR, "Éclair")]);
    let id = store.add(&first).await?;
    let second = named("two.example", [(Locale::EN, "Two"), (Locale::FR, "éCLAIR")]);
    let texts = ["ÉCLAIR".to_owned(), "Two".to_owned()];
    assert_eq!(store.taken_names(None, &texts).await?, ["ÉCLAIR"]);
    assert_eq!(store.taken_names(Some(id), &texts).await?, [] as [String; 0], "its own");
    replace(store, id, &named("one.example", [(Locale::EN, "One"), (Locale::FR, "Un")])).await?;
    store.add(&second).await?;
    let third = named("three.example", [(Locale::EN, "Three"), (Locale::FR, "Éclair")]);
    assert!(is_rejected(&store.add(&third).await));
    Ok(())
}

/// A page has the organizations in the order of their ids, with their hosts; or the one requested.
pub async fn lists_organizations(store: &dyn OrganizationStore) -> Result<()> {
    let rich = store.add(&unusual()).await?;
    let plain = store.add(&organization("plain.example")).await?;
    let page = PageRequest::new;
    let all = store.list(&ById(None, Vec::new()), page(1, 100)).await?;
    assert!(all.items.is_sorted_by(|(a, _), (b, _)| a < b) && !all.has_more);
    assert!(
        all.items.contains(&(rich, unusual())) && all.items.contains(&(plain, organization("plain.example")))
    );
    let one = store.list(&ById(Some(rich), Vec::new()), page(1, 1)).await?;
    assert_eq!((one.items, one.has_more), (vec![(rich, unusual())], false));
    let first = store.list(&ById(None, Vec::new()), page(1, 1)).await?;
    assert_eq!((first.items.len(), first.has_more), (1, true));
    check_list(async |raw, page| {
        let page = store.list(&ById(None, read_filters(ORGANIZATION_FIELDS, &raw)?), page).await?;
        Ok(page.map(|(id, organization)| (id, organization.created_at, organization.updated_at)))
    })
    .await
}

/// The search finds parts of names in any language and of primary hosts, in any case, in the order of the names in the
/// main languages.
pub async fn searches_organizations(store: &dyn OrganizationStore) -> Result<()> {
    let named = |host: &str, names: [(Locale, &str); 2], main| Organization {
        name: names.into_iter().map(|(locale, text)| (locale, text.to_owned())).collect(),
        default_locale: main,
        ..organization(host)
    };
    let quay = store
        .add(&named("s1.example", [(Locale::EN, "Zquay"), (Locale::FR, "Aquai 50%")], Locale::FR))
        .await?;
    let dam = store
        .add(&named("s2.example", [(Locale::EN, "Bquad 50x"), (Locale::FR, "Ædam")], Locale::EN))
        .await?;
    let search = async |text: Option<&str>, page| {
        let query = ByName(text.map(str::to_owned));
        let page = store.list(&query, PageRequest::new(page, 1)).await?;
        Result::<_>::Ok((page.items.into_iter().map(|(id, _)| id).next(), page.has_more))
    };
    assert_eq!(search(Some("QUA"), 1).await?, (Some(quay), true));
    assert_eq!(search(Some("QUA"), 2).await?, (Some(dam), false));
    assert_eq!(search(Some("zqUAY"), 1).await?, (Some(quay), false), "in another language");
    assert_eq!(search(Some("æDAM"), 1).await?, (Some(dam), false));
    assert_eq!(search(Some("S2.exam"), 1).await?, (Some(dam), false), "a host");
    assert_eq!(search(Some("50%"), 1).await?, (Some(quay), false), "no wildcard");
    assert_eq!(search(Some("nowhere at all"), 1).await?, (None, false));
    let all = store.list(&ByName(None), PageRequest::new(1, 100)).await?;
    let found = all.items.iter().find(|(id, _)| *id == quay).map(|(_, organization)| organization);
    assert_eq!(found, store.find(quay).await?.as_ref(), "with its hosts");
    Ok(())
}
