//! Conformance tests of roles.

use super::{NOBODY, NOW, World, admin, user};
use crate::{ROLE_FIELDS, Role, RoleDetail, RoleId, RoleKind, SpaceRoleId, User};
use civitas_kernel::filter::{RawFilter, RawValue, read_filters};
use civitas_kernel::records::conformance::{Samples, replace};
use civitas_kernel::{Error, PageRequest, Result, SpaceKind, SpaceRef, UserId};
use time::{Duration, OffsetDateTime};

/// A role given directly.
pub(super) fn role(space: SpaceRef, user: Option<UserId>, kind: RoleKind) -> Role {
    Role { updated_at: NOW + Duration::seconds(1), ..Role::new(space, user, kind, NOW) }
}

fn pending(space: SpaceRef, email: &str) -> Role {
    let invitation = role(space, None, RoleKind::SpaceValuator);
    Role { email: Some(email.to_owned()), invited_at: Some(NOW), ..invitation }
}

fn is_taken<T>(outcome: Result<T>) -> bool {
    matches!(outcome, Err(Error::Invalid { fields, .. }) if fields[0].code == "taken")
}

/// Roles for the conformance tests of [`Records`](civitas_kernel::records::Records).
pub async fn roles(world: World<'_>) -> Result<Samples<'_, Role>> {
    let id = world.add_user(&user("Nora")).await?;
    let member = role(world.space, Some(id), RoleKind::SpacePrivateMember);
    let accepted = Role {
        kind: RoleKind::SpaceAdministrator,
        invited_at: Some(NOW),
        accepted_at: Some(NOW),
        created_at: NOW - Duration::seconds(1),
        updated_at: NOW,
        ..member.clone()
    };
    let samples = [accepted, pending(world.assembly, "new@example.org"), member];
    Ok(Samples::new(world.roles, [world.mine, world.other], samples, i64::MAX))
}

/// A user has each kind of role once in a space, by invitation or not.
pub async fn keeps_roles(world: World<'_>) -> Result<()> {
    let (roles, mine) = (world.roles, world.mine);
    let id = world.add_user(&user("Nora")).await?;
    let member = role(world.space, Some(id), RoleKind::SpacePrivateMember);
    roles.add(mine, &member).await?;
    assert!(is_taken(roles.add(mine, &member).await), "given before");
    let invited = Role { kind: RoleKind::SpaceAdministrator, invited_at: Some(NOW), ..member.clone() };
    let invitation = roles.add(mine, &invited).await?;

    for (kind, given) in [
        (RoleKind::SpacePrivateMember, true),
        (RoleKind::SpaceAdministrator, true),
        (RoleKind::SpaceModerator, false),
    ] {
        assert_eq!(roles.has(mine, world.space, id, kind).await?, given, "{kind:?}");
        assert!(!roles.has(mine, world.assembly, id, kind).await?);
        assert!(!roles.has(mine, world.space, NOBODY, kind).await?);
    }
    assert!(roles.has_space(mine, world.conference).await?);
    let elsewhere = SpaceRef { kind: SpaceKind::Initiatives, ..world.space };
    assert!(!roles.has_space(mine, elsewhere).await?);
    let twice = replace(roles, mine, invitation, &member).await;
    assert!(is_taken(twice), "two of a kind by a change");
    Ok(())
}

/// A role is found by its name only if every member is equal; times are compared in whole seconds.
pub async fn finds_roles_by_their_names(world: World<'_>) -> Result<()> {
    let (roles, mine) = (world.roles, world.mine);
    let nora = world.add_user(&user("Nora")).await?;
    let invited = Role { invited_at: Some(NOW), ..role(world.space, Some(nora), RoleKind::SpaceModerator) };
    let row = roles.add(mine, &invited).await?;
    let name = invited.id();
    assert_eq!(roles.find_by_id(mine, &name).await?.as_ref(), Some(&invited));
    assert_eq!(roles.find_by_id_for_update(mine, &name).await?, Some((row, invited)));
    let moved = |seconds| name.invited_at.map(|at| at + Duration::seconds(seconds));
    for other in [
        SpaceRoleId { invited_at: None, ..name },
        SpaceRoleId { invited_at: moved(1), ..name },
        SpaceRoleId { invited_at: moved(-1), ..name },
        SpaceRoleId { user: None, ..name },
        SpaceRoleId { user: Some(NOBODY), ..name },
        SpaceRoleId { kind: RoleKind::SpaceValuator, ..name },
        SpaceRoleId { space: world.assembly, ..name },
    ] {
        assert_eq!(roles.find_by_id(mine, &other).await?, None, "{other:?}");
        assert_eq!(roles.find_by_id_for_update(mine, &other).await?, None, "{other:?}");
    }
    let first = pending(world.space, "one@example.org");
    let one = roles.add(mine, &first).await?;
    roles.add(mine, &pending(world.space, "two@example.org")).await?;
    assert_eq!(
        roles.find_by_id_for_update(mine, &first.id()).await?,
        Some((one, first)),
        "of two of a name, the first"
    );
    let gone = User { deleted_at: Some(NOW), ..user("Nora") };
    replace(world.users, mine, nora, &gone).await?;
    assert_eq!(roles.find_by_id(mine, &name).await?, None, "whose account is deleted");
    assert_eq!(roles.find_by_id_for_update(mine, &name).await?, None);
    assert!(roles.find(mine, row).await?.is_some(), "the row stays");
    Ok(())
}

/// A removed role is not found, and no other one is removed.
pub async fn removes_roles(world: World<'_>) -> Result<()> {
    let nora = world.add_user(&user("Nora")).await?;
    let [moderator, valuator] =
        [RoleKind::SpaceModerator, RoleKind::SpaceValuator].map(|kind| role(world.space, Some(nora), kind));
    let row = world.roles.add(world.mine, &moderator).await?;
    let other = world.roles.add(world.mine, &valuator).await?;
    world.roles.remove(world.mine, row).await?;
    world.roles.remove(world.mine, row).await?;
    assert_eq!(world.roles.find(world.mine, row).await?, None);
    assert_eq!(world.roles.find(world.mine, other).await?, Some(valuator));
    world.roles.add(world.mine, &moderator).await?;
    Ok(())
}

/// General administrators come first, then processes, assemblies with their private members last, conferences;
/// inside each the oldest first. Deleted accounts are left out, and pages do not overlap.
pub async fn lists_roles_in_order(world: World<'_>) -> Result<()> {
    let (mine, space, assembly, conference) = (world.mine, world.space, world.assembly, world.conference);
    let at = |minutes| NOW + Duration::minutes(minutes);
    let nora = world.add_user(&user("Nora")).await?;
    let gone = world.add_user(&User { deleted_at: Some(NOW), ..admin("gone") }).await?;
    let younger = world.add_user(&User { created_at: at(5), ..admin("younger") }).await?;
    let older = world.add_user(&User { created_at: at(-5), ..admin("older") }).await?;
    world.users.add(world.other, &admin("elsewhere")).await?;
    let add = async |space, user, kind, created_at: OffsetDateTime| -> Result<RoleDetail> {
        let given = Role { created_at, ..role(space, user, kind) };
        world.roles.add(mine, &given).await?;
        Ok(given.detail())
    };
    let last = add(conference, Some(nora), RoleKind::SpaceValuator, at(-9)).await?;
    let member = add(assembly, Some(nora), RoleKind::SpacePrivateMember, at(-8)).await?;
    let moderator = add(assembly, Some(nora), RoleKind::SpaceModerator, at(8)).await?;
    let second = add(space, Some(older), RoleKind::SpaceAdministrator, NOW).await?;
    let third = add(space, Some(nora), RoleKind::SpaceAdministrator, NOW).await?;
    let first = add(space, Some(nora), RoleKind::SpacePrivateMember, at(-1)).await?;
    add(space, Some(gone), RoleKind::SpaceAdministrator, NOW).await?;
    let waiting = pending(conference, "new@example.org");
    world.roles.add(mine, &waiting).await?;

    let mut expected = Vec::new();
    for (id, nickname, created_at) in [(older, "older", at(-5)), (younger, "younger", at(5))] {
        let account = User { created_at, ..admin(nickname) };
        expected.extend(RoleDetail::from_admin(mine, id, &account));
    }
    expected.extend([first, second, third, moderator, member, last, waiting.detail()]);
    let all = world.roles.list(mine, &[], PageRequest::default()).await?;
    assert_eq!((&all.items, all.has_more), (&expected, false));
    assert!(!expected[8].accepted_invite && expected[7].accepted_invite);
    let mut paged = Vec::new();
    for page in 1..=5 {
        let page = PageRequest::new(page, 2);
        let listed = world.roles.list(mine, &[], page).await?;
        assert_eq!(listed.has_more, page.page < 5);
        paged.extend(listed.items);
    }
    assert_eq!(paged, expected);
    let beyond = PageRequest::new(i64::MAX, 100);
    assert_eq!(world.roles.list(mine, &[], beyond).await?.items, []);
    Ok(())
}

/// Text filters, and the roles of [`filters_roles`] they select.
const WORDS: &[(&str, &str, &[usize])] = &[
    ("resource_id_blank", "1", &[]),
    ("resource_id_lt", "1", &[]),
    ("resource_type", "Platform::Organization", &[0]),
    ("resource_type", "platform::organization", &[]),
    ("resource_type_not_eq", "Platform::Assembly", &[0, 1, 3]),
    ("resource_type_in", "Platform::ParticipatoryProcess", &[1]),
    ("resource_type_not_in", "Platform::Conference", &[0, 1, 2]),
    ("resource_type_start", "platform::o", &[0]),
    ("resource_type_start", "platform__", &[]),
    ("resource_type_matches", "%::_onference", &[3]),
    ("resource_type_blank", "false", &[0, 1, 2, 3]),
    ("type", "general_admin", &[0]),
    ("type", "mayor", &[]),
    ("type_not_eq", "space_valuator", &[0, 1, 2]),
    ("type_in", "space_private_member", &[2]),
    ("type_not_in", "general_admin", &[1, 2, 3]),
    ("type_start", "SPACE_", &[1, 2, 3]),
    ("type_matches", "%or", &[1, 3]),
    ("type_present", "true", &[0, 1, 2, 3]),
    ("created_at_gteq", "2001-01-01", &[0, 1, 2, 3]),
    ("updated_at_lt", "2001-01-01", &[]),
];

async fn found(world: &World<'_>, pairs: &[(&str, &str)]) -> Result<Vec<RoleId>> {
    let pairs = pairs.iter().map(|(key, value)| ((*key).to_owned(), RawValue::One((*value).to_owned())));
    let filters = read_filters(ROLE_FIELDS, &RawFilter::new(pairs.collect()))?;
    let page = world.roles.list(world.mine, &filters, PageRequest::default()).await?;
    Ok(page.items.into_iter().map(|detail| detail.id).collect())
}

/// Every predicate works the same on flags and on rows.
pub async fn filters_roles(world: World<'_>) -> Result<()> {
    let mine = world.mine;
    let ada = world.add_user(&admin("ada")).await?;
    let nora = world.add_user(&user("Nora")).await?;
    let process = role(world.space, Some(nora), RoleKind::SpaceModerator);
    let assembly = role(world.assembly, Some(ada), RoleKind::SpacePrivateMember);
    let conference = pending(world.conference, "new@example.org");
    for given in [&process, &assembly, &conference] {
        world.roles.add(mine, given).await?;
    }
    let all = [
        RoleId::GeneralAdmin { organization: mine, user: ada },
        RoleId::InSpace(process.id()),
        RoleId::InSpace(assembly.id()),
        RoleId::InSpace(conference.id()),
    ];
    let (ada, nora, organization) = (ada.to_string(), nora.to_string(), mine.to_string());
    let numbers: [(&str, &str, &[usize]); 8] = [
        ("user_id", &ada, &[0, 2]),
        ("user_id_not_eq", &ada, &[1]),
        ("user_id_in", &nora, &[1]),
        ("user_id_not_in", &nora, &[0, 2]),
        ("user_id_gt", &ada, &[1]),
        ("user_id_lt", &nora, &[0, 2]),
        ("user_id_blank", "true", &[3]),
        ("user_id_present", "1", &[0, 1, 2]),
    ];
    for (key, value, left) in numbers.iter().chain(WORDS) {
        let expected: Vec<_> = left.iter().map(|i| all[*i]).collect();
        assert_eq!(found(&world, &[(key, value)]).await?, expected, "{key}={value}");
    }
    let both = found(&world, &[("resource_id", &organization), ("type", "general_admin")]).await?;
    assert_eq!(both, all[..1], "conditions hold together");
    Ok(())
}
