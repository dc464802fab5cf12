//! Conformance tests: what every implementation of the port must pass. Each is a function that fails on a violation, and
//! takes a transaction.

use crate::{
    Action, Actor, ActorKind, AuditEntry, AuditFilter, AuditLog, AuditScope, ChainHead, EMPTY_HASH,
    NewAuditEntry,
};
use civitas_kernel::testing::ALL;
use civitas_kernel::{OrganizationId, PageRequest, Result, UserId, conformance_world};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

conformance_world! {
    /// The store, and two organizations without entries, of which the second has the higher id.
    pub struct World {
        ports(log: AuditLog)
    }
}

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30:00.000001 UTC);

/// A time this many seconds after [`NOW`].
fn at(seconds: i64) -> OffsetDateTime {
    NOW + Duration::seconds(seconds)
}

fn new_entry(action: Action) -> NewAuditEntry {
    NewAuditEntry::new(Actor::CommandLine { command: "civitas api-client grant".to_owned() }, action)
}

impl World<'_> {
    /// Appends this many entries, a second apart.
    async fn fill(&self, organization: Option<OrganizationId>, count: i64) -> Result<Vec<AuditEntry>> {
        let mut entries = Vec::new();
        for n in 0..count {
            let new_entry = new_entry(Action::OrganizationUpdated).in_organization(organization);
            entries.push(self.log.append(&new_entry, at(n)).await?);
        }
        Ok(entries)
    }

    async fn listed(&self, filter: AuditFilter) -> Result<Vec<(Option<OrganizationId>, i64)>> {
        let page = self.log.list(&filter, ALL).await?;
        Ok(page.items.iter().map(|entry| (entry.organization, entry.number)).collect())
    }
}

/// Entries are read back with all members.
pub async fn keeps_every_member(world: World<'_>) -> Result<()> {
    let user = Some((UserId(3), "ada".to_owned()));
    let actors = [
        Actor::Administrator { id: 7, email: "inès@riverton.example".to_owned() },
        Actor::Client { uid: "id_app".to_owned(), name: "App".to_owned(), user },
        Actor::Client { uid: "id_app".to_owned(), name: "App".to_owned(), user: None },
        Actor::CommandLine { command: "civitas import".to_owned() },
        Actor::Archive,
        Actor::Anonymous,
    ];
    let mut appended = Vec::new();
    for (actor, action) in actors.into_iter().zip(Action::ALL) {
        let full = NewAuditEntry::new(actor.clone(), action)
            .in_organization(world.mine)
            .with_object("user", "7", "Été \u{0} 💡")
            .with_address("2001:db8::1")
            .with_change("name.fr", Some("\"Ville\\"), None)
            .with_change("kind", None, Some("x"));
        appended.push(world.log.append(&full, NOW).await?);
        appended.push(
            world.log.append(&NewAuditEntry::new(actor, action).in_organization(world.mine), NOW).await?,
        );
    }
    let read = world.log.page_after(Some(world.mine), 0, 100).await?;
    let entries: Vec<_> = read.into_iter().filter_map(|read| read.entry).collect();
    assert_eq!(entries, appended);
    let (mut number, mut hash) = (0, EMPTY_HASH);
    for entry in &entries {
        assert_eq!(entry.check_chain_link(number, hash), Ok(()));
        (number, hash) = (entry.number, &entry.hash);
    }
    let head = world.log.head(Some(world.mine)).await?;
    assert_eq!(head, Some(ChainHead { number, hash: hash.to_owned(), ..ChainHead::default() }));
    appended.reverse();
    assert_eq!(world.log.list(&AuditFilter::default(), ALL).await?.items, appended);
    Ok(())
}

/// Of entries about a user, and of acts for the user, nothing personal is left, and the chains stay whole.
pub async fn erases_the_details_of_a_user(world: World<'_>) -> Result<()> {
    let app = |user| Actor::Client { uid: "id_app".to_owned(), name: "App".to_owned(), user };
    let ada = || (UserId(3), "ada".to_owned());
    let full = |actor, id: &str| {
        let new_entry = NewAuditEntry::new(actor, Action::UserUpdated)
            .with_object("user", id, "ada")
            .with_address("192.0.2.7");
        new_entry.with_change("name", None, Some("Ada"))
    };
    let new_entries = [
        full(Actor::Administrator { id: 7, email: "ines@riverton.example".to_owned() }, "3")
            .in_organization(world.mine),
        full(app(Some(ada())), "4").in_organization(world.mine),
        full(app(Some((UserId(33), "eve".to_owned()))), "33").in_organization(world.mine),
        full(app(Some(ada())), "3").in_organization(world.other),
        full(app(None), "3").with_object("proposal", "3", "Trees").in_organization(world.mine),
    ];
    let mut appended = Vec::new();
    for new_entry in &new_entries {
        appended.push(world.log.append(new_entry, NOW).await?);
    }
    assert_eq!(world.log.erase_user(world.mine, UserId(3), 1).await?, 2);
    assert_eq!(world.log.erase_user(world.mine, UserId(3), 1).await?, 0, "no entry is erased twice");
    let mut entries = Vec::new();
    for organization in [world.mine, world.other] {
        let (mut number, mut hash) = (0, EMPTY_HASH.to_owned());
        for read in world.log.page_after(Some(organization), 0, 100).await? {
            let entry = read.entry.expect("an entry that can be read");
            assert_eq!(entry.check_chain_link(number, &hash), Ok(()));
            (number, hash) = (entry.number, entry.hash.clone());
            entries.push(entry);
        }
    }
    let (erased, kept): (Vec<_>, Vec<_>) = entries.into_iter().partition(AuditEntry::is_erased);
    assert_eq!(erased.iter().map(|entry| entry.number).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(erased[0].actor, Actor::Administrator { id: 7, email: String::new() });
    assert_eq!(erased[1].actor.user(), Some((UserId(3), "")));
    for entry in &erased {
        let label = entry.object.as_ref().map(|object| object.label.as_str());
        assert_eq!((label, &entry.from, entry.changes.len()), (Some(""), &None, 0));
    }
    assert_eq!(kept, [appended.remove(2), appended.remove(3), appended.remove(2)]);
    Ok(())
}

/// Each organization has a chain of its own, and so has the deployment.
pub async fn isolates_organizations(world: World<'_>) -> Result<()> {
    for chain in [Some(world.mine), Some(world.other), None] {
        assert_eq!(world.log.head(chain).await?, None);
        assert_eq!(world.fill(chain, 2).await?.iter().map(|entry| entry.number).collect::<Vec<_>>(), [1, 2]);
    }
    for chain in [Some(world.mine), Some(world.other), None] {
        let read = world.log.page_after(chain, 0, 9).await?;
        assert_eq!(read.iter().map(|read| read.number).collect::<Vec<_>>(), [1, 2]);
        assert!(read.iter().flat_map(|read| &read.entry).all(|entry| entry.organization == chain));
    }
    let (mine, other) = (world.mine, world.other);
    assert_eq!(world.log.organizations_after(OrganizationId(0), 9).await?, [mine, other]);
    assert_eq!(world.log.organizations_after(OrganizationId(0), 1).await?, [mine]);
    assert_eq!(world.log.organizations_after(mine, 9).await?, [other]);
    let scope = |scope| AuditFilter { scope, ..AuditFilter::default() };
    assert_eq!(world.listed(scope(AuditScope::Deployment)).await?, [(None, 2), (None, 1)]);
    let of_mine = scope(AuditScope::Organization(mine));
    assert_eq!(world.listed(of_mine).await?, [(Some(mine), 2), (Some(mine), 1)]);
    assert_eq!(world.listed(scope(AuditScope::All)).await?.len(), 6);
    Ok(())
}

/// Pages are in order without overlap.
pub async fn pages_do_not_overlap(world: World<'_>) -> Result<()> {
    world.fill(Some(world.mine), 5).await?;
    let mut seen = Vec::new();
    for page in 1..=3 {
        let filter = AuditFilter { scope: AuditScope::Organization(world.mine), ..AuditFilter::default() };
        let listed = world.log.list(&filter, PageRequest::new(page, 2)).await?;
        assert_eq!(listed.has_more, page < 3);
        seen.extend(listed.items.into_iter().map(|entry| entry.number));
    }
    assert_eq!(seen, [5, 4, 3, 2, 1]);
    let read = world.log.page_after(Some(world.mine), 2, 2).await?;
    assert_eq!(read.iter().map(|read| read.number).collect::<Vec<_>>(), [3, 4]);
    Ok(())
}

/// The list is filtered by organization, action, actor, object, text and time.
pub async fn filters(world: World<'_>) -> Result<()> {
    let mine = world.mine;
    let ada = || Actor::Administrator { id: 1, email: "Ada@riverton.example".to_owned() };
    let client = Actor::Client {
        uid: "id_app".to_owned(),
        name: "100% App".to_owned(),
        user: Some((UserId(3), "Élodie".to_owned())),
    };
    let new_entries = [
        NewAuditEntry::new(ada(), Action::UserBlocked).in_organization(mine).with_object(
            "user",
            "7",
            "Marc Oswald",
        ),
        NewAuditEntry::new(ada(), Action::UserUnblocked).in_organization(mine).with_object(
            "user",
            "7",
            "Marc Oswald",
        ),
        NewAuditEntry::new(client, Action::UserBlocked)
            .in_organization(mine)
            .with_object("user", "8", "Nora"),
        NewAuditEntry::new(Actor::Archive, Action::ArchiveImported).in_organization(mine),
    ];
    for (seconds, new_entry) in (0..).zip(&new_entries) {
        world.log.append(new_entry, at(seconds)).await?;
    }
    world.log.append(&NewAuditEntry::new(ada(), Action::UserBlocked), at(9)).await?;
    let of_mine = || AuditFilter { scope: AuditScope::Organization(mine), ..AuditFilter::default() };
    let text = |text: &str| AuditFilter { text: Some(text.to_owned()), ..of_mine() };
    let user = |id: &str| Some(("user".to_owned(), id.to_owned()));
    let cases: [(AuditFilter, &[i64]); 15] = [
        (of_mine(), &[4, 3, 2, 1]),
        (AuditFilter { action: Some(Action::UserBlocked), ..of_mine() }, &[3, 1]),
        (AuditFilter { actor: Some(ActorKind::Administrator), ..of_mine() }, &[2, 1]),
        (AuditFilter { object: user("7"), ..of_mine() }, &[2, 1]),
        (AuditFilter { object: user("7"), action: Some(Action::UserBlocked), ..of_mine() }, &[1]),
        (AuditFilter { object: user("70"), ..of_mine() }, &[]),
        (AuditFilter { since: Some(at(1)), until: Some(at(3)), ..of_mine() }, &[3, 2]),
        (text("ADA@"), &[2, 1]),
        (text("oswald"), &[2, 1]),
        (text("éLODIE"), &[3]),
        (text("100% a"), &[3]),
        (text("%"), &[3]),
        (text("_"), &[]),
        (AuditFilter { until: Some(at(1)), ..text("oswald") }, &[1]),
        (AuditFilter { action: Some(Action::UserUnblocked), ..text("oswald") }, &[2]),
    ];
    for (filter, numbers) in cases {
        let expected: Vec<_> = numbers.iter().map(|number| (Some(mine), *number)).collect();
        assert_eq!(world.listed(filter.clone()).await?, expected, "{filter:?}");
    }
    let everywhere = AuditFilter { action: Some(Action::UserBlocked), ..AuditFilter::default() };
    assert_eq!(world.listed(everywhere).await?, [(None, 1), (Some(mine), 3), (Some(mine), 1)]);
    Ok(())
}

/// The same act of the same actor on the same record is appended once since a time.
pub async fn appends_once_since_a_time(world: World<'_>) -> Result<()> {
    let refused = |id: &str| {
        new_entry(Action::CredentialsRefused).in_organization(world.mine).with_object("api_client", id, id)
    };
    let log = world.log;
    assert!(log.append_unless_since(&refused("a"), at(0), at(10)).await?);
    assert!(!log.append_unless_since(&refused("a"), at(10), at(20)).await?);
    assert!(log.append_unless_since(&refused("b"), at(0), at(20)).await?);
    assert!(log.append_unless_since(&refused("a"), at(11), at(30)).await?);
    let other = new_entry(Action::CredentialsRefused).in_organization(world.other).with_object(
        "api_client",
        "a",
        "a",
    );
    assert!(log.append_unless_since(&other, at(0), at(30)).await?);
    let nothing = new_entry(Action::CredentialsRefused).in_organization(world.mine);
    assert!(log.append_unless_since(&nothing, at(0), at(40)).await?);
    assert!(!log.append_unless_since(&nothing, at(0), at(50)).await?);
    for uid in ["id_one", "id_two"] {
        let actor = Actor::Client { uid: uid.to_owned(), name: String::new(), user: None };
        let impersonated = NewAuditEntry::new(actor, Action::UserImpersonated)
            .in_organization(world.mine)
            .with_object("user", "7", "ada");
        assert!(log.append_unless_since(&impersonated, at(0), at(60)).await?, "{uid}");
        assert!(!log.append_unless_since(&impersonated, at(0), at(70)).await?, "{uid}");
    }
    assert_eq!(log.page_after(Some(world.mine), 0, 9).await?.len(), 6);
    Ok(())
}

/// Old entries are removed from the beginning of chains; the rest follows from what the head keeps.
pub async fn removes_the_oldest_entries(world: World<'_>) -> Result<()> {
    let log = world.log;
    let entries = world.fill(Some(world.mine), 6).await?;
    world.fill(None, 2).await?;
    let mut removed = Vec::new();
    loop {
        match log.remove_before(at(4), 3).await? {
            0 => break,
            some => removed.push(some),
        }
    }
    removed.sort_unstable();
    assert_eq!(removed, [1, 2, 3], "four of the organization, two of the deployment");
    let head = log.head(Some(world.mine)).await?.expect("a head");
    let last = &entries[3];
    assert_eq!((head.number, head.removed_number, &head.removed_hash), (6, 4, &last.hash));
    let rest = log.page_after(Some(world.mine), 0, 9).await?;
    assert_eq!(rest.iter().map(|read| read.number).collect::<Vec<_>>(), [5, 6]);
    let first = rest[0].entry.as_ref().expect("an entry");
    assert_eq!(first.check_chain_link(head.removed_number, &head.removed_hash), Ok(()));
    let empty = log.head(None).await?.expect("a head");
    assert_eq!((empty.number, empty.removed_number), (2, 2));
    let next = log.append(&new_entry(Action::ArchiveExported), at(60)).await?;
    assert_eq!(next.check_chain_link(empty.removed_number, &empty.removed_hash), Ok(()));
    assert_eq!(next.number, 3);
    Ok(())
}
