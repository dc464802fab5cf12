use super::*;
use crate::{MockRoleStore, MockUserStore, User};
use civitas_kernel::{OrganizationId, SpaceKind, Subject};
use serde_json::json;
use time::OffsetDateTime;
use time::macros::datetime;

const ORGANIZATION: &str = RoleId::ORGANIZATION;
const SPACE: SpaceRef = SpaceRef { kind: SpaceKind::Assemblies, id: 7 };
const THEN: OffsetDateTime = datetime!(2025-01-01 00:00 UTC);
const ADMIN: RoleId = RoleId::GeneralAdmin { organization: OrganizationId(1), user: UserId(42) };

fn ctx() -> Ctx {
    Ctx::for_test().with_access(&WRITE_ROLES)
}

fn user(admin: bool) -> User {
    User { admin, ..User::new("nora".to_owned(), "n@example.org".to_owned(), "Nora".to_owned(), THEN) }
}

fn role(kind: RoleKind) -> Role {
    Role { invited_at: Some(THEN), ..Role::new(SPACE, Some(UserId(42)), kind, THEN) }
}

/// A store with user 42.
fn people(user: User) -> MockUserStore {
    let mut users = MockUserStore::new();
    let held = user.clone();
    users.expect_find().returning(move |_, id| Ok((id.0 == 42).then(|| user.clone())));
    users.expect_find_for_update().returning(move |_, id| Ok((id.0 == 42).then(|| held.clone())));
    users
}

/// A store in which the user is a moderator of the space, by invitation, and a valuator.
fn role_store() -> MockRoleStore {
    let mut store = MockRoleStore::new();
    let moderator = |id: &SpaceRoleId| {
        let role = role(RoleKind::SpaceModerator);
        (role.id() == *id).then_some(role)
    };
    store.expect_has_space().returning(|_, space| Ok(space == SPACE));
    let given = [RoleKind::SpaceModerator, RoleKind::SpaceValuator];
    store.expect_has().returning(move |_, _, _, kind| Ok(given.contains(&kind)));
    store.expect_find_by_id().returning(move |_, id| Ok(moderator(id)));
    store.expect_find_by_id_for_update().returning(move |_, id| Ok(moderator(id).map(|role| (3, role))));
    store
}

fn create(resource_type: &str, resource_id: i64, role_type: &str) -> CreateRole {
    CreateRole {
        resource_type: resource_type.to_owned(),
        resource_id,
        user: UserId(42),
        role_type: role_type.to_owned(),
    }
}

fn update(id: RoleId, role_type: &str, sent: &Value) -> UpdateRole {
    UpdateRole { id, role_type: role_type.to_owned(), sent: sent.as_object().cloned().unwrap_or_default() }
}

fn moderator() -> RoleId {
    RoleId::InSpace(role(RoleKind::SpaceModerator).id())
}

/// The field and the text of an error.
fn refusal<T>(outcome: Result<T>) -> (String, String) {
    let Err(error) = outcome else { panic!("it was done") };
    let field = error.details().first().map(|detail| detail.field.clone().into_owned());
    (field.unwrap_or_default(), error.description().into_owned())
}

#[tokio::test]
async fn rights_are_asked_first_by_every_command() {
    let (store, users) = (MockRoleStore::new(), MockUserStore::new());
    let roles = Roles { store: &store, users: &users };
    let nobody = Ctx::for_test();
    let created = roles.handle(&nobody, create("", 0, "")).await.map(drop);
    let updated = roles.handle(&nobody, update(ADMIN, "", &json!({}))).await.map(drop);
    let destroyed = roles.handle(&nobody, DestroyRole { id: ADMIN }).await;
    for outcome in [created, updated, destroyed] {
        assert!(matches!(outcome, Err(Error::Forbidden)));
    }
}

#[tokio::test]
async fn a_creation_is_refused_in_the_order_of_the_table() {
    let (store, users) = (role_store(), people(user(false)));
    let roles = Roles { store: &store, users: &users };
    let assembly = "Platform::Assembly";
    let unsupported = |name: &str| format!("Unsupported resource_type for space role: {name}");
    let foreign = "Resource must belong to current organization".to_owned();
    for (command, field, sentence) in [
        (create("?", 9, "moderator"), "type", "Invalid role type: moderator".to_owned()),
        (
            create(assembly, 9, "general_admin"),
            "resource_type",
            "general_admin requires resource_type Platform::Organization".to_owned(),
        ),
        (create(ORGANIZATION, 9, "general_admin"), "resource_id", foreign.clone()),
        (create(ORGANIZATION, 9, "space_moderator"), "resource_id", foreign),
        (create(ORGANIZATION, 1, "space_moderator"), "resource_type", unsupported(ORGANIZATION)),
        (
            create("Platform::Initiative", 7, "space_moderator"),
            "resource_type",
            unsupported("Platform::Initiative"),
        ),
        (create("assemblies", 7, "space_moderator"), "resource_type", unsupported("assemblies")),
        (create(assembly, 9, "space_moderator"), "", "Resource not found".to_owned()),
        (
            CreateRole { user: UserId(43), ..create(assembly, 7, "space_moderator") },
            "",
            "Resource not found".to_owned(),
        ),
        (create(assembly, 7, "space_moderator"), "type", "Type has already been taken".to_owned()),
    ] {
        let prechecked = CommandHandler::<CreateRole>::precheck(&roles, &ctx(), &command).await;
        let expected = (field.to_owned(), sentence);
        assert_eq!(refusal(prechecked), expected);
        assert_eq!(refusal(roles.handle(&ctx(), command).await), expected);
    }
}

#[tokio::test]
async fn a_deleted_user_is_not_given_a_role() {
    let (store, users) = (role_store(), people(User { deleted_at: Some(THEN), ..user(false) }));
    let roles = Roles { store: &store, users: &users };
    for command in
        [create("Platform::Assembly", 7, "space_administrator"), create(ORGANIZATION, 1, "general_admin")]
    {
        assert!(matches!(roles.handle(&ctx(), command).await, Err(Error::NotFound)));
    }
}

#[tokio::test]
async fn a_role_in_a_space_is_a_row_given_now_and_without_invitation() {
    let (mut store, users) = (role_store(), people(user(false)));
    store
        .expect_add()
        .once()
        .withf(|_, role| role.invited_at.is_none() && role.created_at == ctx().now && role.email.is_none())
        .returning(|_, _| Ok(1));
    let roles = Roles { store: &store, users: &users };
    let given = roles.handle(&ctx(), create("Platform::Assembly", 7, "space_administrator")).await.unwrap();
    assert_eq!((given.id.resource_id(), given.accepted_invite), (7, true));
}

#[tokio::test]
async fn the_flag_of_an_administrator_is_set_once_with_an_event() {
    let mut users = people(user(false));
    users
        .expect_save()
        .once()
        .withf(|_, id, change| {
            let events: Vec<_> = change.events(*id).into_iter().map(|e| (e.name, e.subject)).collect();
            change.after.admin
                && change.after.updated_at == ctx().now
                && events == [(Ability::UserUpdated, Subject::User(*id))]
        })
        .returning(|_, _, _| Ok(()));
    let store = role_store();
    let given = Roles { store: &store, users: &users }
        .handle(&ctx(), create(ORGANIZATION, 1, "general_admin"))
        .await
        .unwrap();
    assert_eq!((given.id, given.updated_at), (ADMIN, ctx().now));
    let users = people(user(true));
    let again = Roles { store: &store, users: &users }
        .handle(&ctx(), create(ORGANIZATION, 1, "general_admin"))
        .await
        .unwrap();
    assert_eq!((again.id, again.updated_at), (ADMIN, THEN), "nothing changed");
}

#[tokio::test]
async fn a_change_is_refused_in_the_order_of_the_table() {
    let (store, users) = (role_store(), people(user(true)));
    let roles = Roles { store: &store, users: &users };
    let unknown = RoleId::InSpace(SpaceRoleId { invited_at: None, ..role(RoleKind::SpaceModerator).id() });
    let fixed = "Resource and user of a role can not change";
    let exchanged = "general_admin can not be exchanged with a space role";
    for (command, field, sentence) in [
        (update(unknown, "?", &json!({})), "", "Resource not found"),
        (update(moderator(), "?", &json!({"user_id": 1})), "type", "Invalid role type: ?"),
        (
            update(moderator(), "general_admin", &json!({"resource_type": 1, "resource_id": 8})),
            "resource_type",
            fixed,
        ),
        (
            update(moderator(), "general_admin", &json!({"resource_id": "8", "user_id": 1})),
            "resource_id",
            fixed,
        ),
        (update(moderator(), "general_admin", &json!({"user_id": null})), "user_id", fixed),
        (update(moderator(), "general_admin", &json!({})), "type", exchanged),
        (update(ADMIN, "space_valuator", &json!({"resource_id": 1})), "type", exchanged),
        (update(moderator(), "space_valuator", &json!({})), "type", "Type has already been taken"),
    ] {
        let prechecked = CommandHandler::<UpdateRole>::precheck(&roles, &ctx(), &command).await;
        let expected = (field.to_owned(), sentence.to_owned());
        assert_eq!(refusal(prechecked), expected);
        assert_eq!(refusal(roles.handle(&ctx(), command).await), expected);
    }
}

#[tokio::test]
async fn the_same_type_changes_nothing() {
    let (store, users) = (role_store(), people(user(true)));
    let roles = Roles { store: &store, users: &users };
    let sent = json!({"resource_type": "Platform::Assembly", "resource_id": "7", "user_id": 42});
    let same = roles.handle(&ctx(), update(moderator(), "space_moderator", &sent)).await.unwrap();
    assert_eq!((same.id, same.updated_at), (moderator(), THEN));
    let admin = roles.handle(&ctx(), update(ADMIN, "general_admin", &json!({}))).await.unwrap();
    assert_eq!((admin.id, admin.updated_at), (ADMIN, THEN));
}

#[tokio::test]
async fn a_changed_role_keeps_its_invitation_and_has_another_name() {
    let (mut store, users) = (role_store(), people(user(false)));
    let kept = Role { updated_at: ctx().now, ..role(RoleKind::SpacePrivateMember) };
    let expected = kept.clone();
    store
        .expect_save()
        .once()
        .withf(move |_, row, change| *row == 3 && change.after == kept)
        .returning(|_, _, _| Ok(()));
    let roles = Roles { store: &store, users: &users };
    let command = update(moderator(), "space_private_member", &json!({}));
    let changed = roles.handle(&ctx(), command).await.unwrap();
    assert_eq!(changed, expected.detail());
    assert_ne!(changed.id, moderator());
}

#[tokio::test]
async fn exactly_the_named_role_is_taken_away() {
    let (mut store, mut users) = (role_store(), people(user(true)));
    store.expect_remove().once().withf(|_, row| *row == 3).returning(|_, _| Ok(()));
    users
        .expect_save()
        .once()
        .withf(|_, id, change| !change.after.admin && change.events(*id).len() == 1)
        .returning(|_, _, _| Ok(()));
    let roles = Roles { store: &store, users: &users };
    roles.handle(&ctx(), DestroyRole { id: moderator() }).await.unwrap();
    roles.handle(&ctx(), DestroyRole { id: ADMIN }).await.unwrap();
    let valuator = RoleId::InSpace(role(RoleKind::SpaceValuator).id());
    let gone = roles.handle(&ctx(), DestroyRole { id: valuator }).await;
    assert!(matches!(gone, Err(Error::NotFound)));
    let foreign = RoleId::GeneralAdmin { organization: OrganizationId(2), user: UserId(42) };
    let gone = roles.handle(&ctx(), DestroyRole { id: foreign }).await;
    assert!(matches!(gone, Err(Error::NotFound)));
}
