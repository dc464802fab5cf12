use super::super::tests::memory::{EMAIL, LATER, NOW, PASSWORD, ada, password, refusal, session};
use super::*;

#[tokio::test]
async fn a_password_has_twelve_characters_and_is_not_the_address() {
    for (email, text, expected) in [
        ("ada", PASSWORD, refusals::EMAIL_INVALID),
        (EMAIL, "elf Zeichen", refusals::PASSWORD_SHORT),
        (EMAIL, "ééééééééééé", refusals::PASSWORD_SHORT),
        (EMAIL, "            ", refusals::PASSWORD_BLANK),
        (EMAIL, &"x".repeat(1_001), refusals::PASSWORD_LONG),
        (EMAIL, " ADA@city.example ", refusals::PASSWORD_IS_EMAIL),
    ] {
        assert_eq!(refusal(password(email, text).await), expected);
    }
    assert!(password(EMAIL, "zwölf Zeichen").await.is_ok());
}

#[tokio::test]
async fn an_address_is_lower_case_and_belongs_to_one_account() {
    let (memory, id) = ada().await;
    assert_eq!(memory.only_account().email, EMAIL);
    let administrators = memory.administrators();
    let again = administrators.create(password("ADA@city.example", PASSWORD).await.unwrap(), NOW).await;
    assert_eq!(refusal(again), refusals::EMAIL_TAKEN);
    let bo = administrators.create(password("bo@city.example", PASSWORD).await.unwrap(), NOW).await.unwrap();
    assert_eq!(
        refusal(administrators.change_email(bo, "Ada@city.example", LATER).await),
        refusals::EMAIL_TAKEN
    );
    assert_eq!(refusal(administrators.change_email(bo, "bo", LATER).await), refusals::EMAIL_INVALID);
    administrators.change_email(id, "Countess@city.example", LATER).await.unwrap();
    administrators.change_email(bo, EMAIL, LATER).await.unwrap();
}

#[tokio::test]
async fn a_password_set_by_another_administrator_ends_the_sessions_and_forgets_failures() {
    let (memory, id) = ada().await;
    session(&memory, id).await;
    memory.edit(id, |ada| while !ada.sources.count_failure("home", LATER) {});
    let new = password(EMAIL, "a new long password").await.unwrap();
    memory.administrators().set_password(id, new, LATER).await.unwrap();
    let ada = memory.only_account();
    assert_eq!(ada.password.as_deref(), Some("hash of a new long password"));
    assert_eq!((memory.sessions(), ada.updated_at), (0, LATER));
    assert!(!ada.sources.is_refused("home", LATER));
    let other = password("bo@city.example", "a new long password").await.unwrap();
    let conflict = memory.administrators().set_password(id, other, LATER).await;
    assert!(matches!(conflict, Err(Error::Conflict(_))), "made for another address");
}

#[tokio::test]
async fn the_own_password_keeps_the_own_session() {
    let (memory, id) = ada().await;
    let (own, _) = (session(&memory, id).await, session(&memory, id).await);
    let new = password(EMAIL, "a new long password").await.unwrap();
    memory.administrators().change_own_password(id, new, &own, LATER).await.unwrap();
    assert_eq!(memory.sessions(), 1);
    assert_eq!(memory.only_account().password.as_deref(), Some("hash of a new long password"));
}

#[tokio::test]
async fn the_last_administrator_stays() {
    let (memory, id) = ada().await;
    let administrators = memory.administrators();
    assert_eq!(refusal(administrators.delete(id, id).await), refusals::LAST_ADMINISTRATOR);
    let bo = administrators.create(password("bo@city.example", PASSWORD).await.unwrap(), NOW).await.unwrap();
    administrators.delete(id, bo).await.unwrap();
    assert_eq!(refusal(administrators.delete(bo, bo).await), refusals::LAST_ADMINISTRATOR);
    let late = administrators.delete(bo, id).await;
    assert!(matches!(late, Err(Error::Unauthenticated)), "who is gone learns nothing");
}

#[tokio::test]
async fn preferences_and_the_last_organization_are_stored() {
    let (memory, id) = ada().await;
    let administrators = memory.administrators();
    administrators.set_preferences(id, Some(Locale::FR), PanelTheme::Dark, LATER).await.unwrap();
    administrators.set_last_organization(id, Some(OrganizationId(3))).await.unwrap();
    let ada = memory.only_account();
    assert_eq!((ada.locale, ada.theme), (Some(Locale::FR), PanelTheme::Dark));
    assert_eq!((ada.organization, ada.updated_at), (Some(OrganizationId(3)), LATER));
    memory.edit(id, |ada| while !ada.sources.count_failure("home", LATER) {});
    administrators.unlock(id, LATER).await.unwrap();
    assert_eq!(memory.only_account().sources.refused_until(LATER), None);
    let unknown = administrators.unlock(AdministratorId(99), LATER).await;
    assert!(matches!(unknown, Err(Error::NotFound)));
}
