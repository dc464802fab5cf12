use super::super::tests::memory::{LATER, NOW, ada, refusal, session};
use super::*;
use time::Duration;

#[tokio::test]
async fn a_second_factor_is_active_after_its_first_code() {
    let (memory, id) = ada().await;
    let (own, _) = (session(&memory, id).await, session(&memory, id).await);
    let factors = memory.sign_in();
    let new = factors.begin_second_factor(id, "City: Panel", NOW).await.unwrap();
    assert_eq!(new.url.expose(), "otpauth://City  Panel/ada@city.example/S");
    assert_eq!(memory.only_account().second_factor, None);
    let confirm = async |code: &str, at| factors.enable_second_factor(id, &new.sealed, code, &own, at).await;
    assert_eq!(refusal(confirm("000000", NOW).await), refusals::CODE_WRONG);
    assert_eq!(refusal(confirm("S 7", LATER).await), refusals::SECOND_FACTOR_EXPIRED);
    assert_eq!(memory.sessions(), 2);
    let codes = confirm("S 7", NOW + Duration::MINUTE).await.unwrap();
    let factor = memory.only_account().second_factor.unwrap();
    assert_eq!((codes.len(), factor.recovery_codes.len(), factor.last_step), (10, 10, 7));
    assert_eq!(memory.sessions(), 1, "the other sessions are ended");
    assert_eq!(refusal(confirm("S 8", NOW).await), refusals::SECOND_FACTOR_IS_ON);
    let again = factors.begin_second_factor(id, "City", NOW).await;
    assert_eq!(refusal(again), refusals::SECOND_FACTOR_IS_ON);
}

#[tokio::test]
async fn a_second_factor_is_removed_once() {
    let (memory, id) = ada().await;
    let own = session(&memory, id).await;
    let factors = memory.sign_in();
    let new = factors.begin_second_factor(id, "City", NOW).await.unwrap();
    factors.enable_second_factor(id, &new.sealed, "S1", &own, NOW).await.unwrap();
    memory.administrators().disable_second_factor(id, LATER).await.unwrap();
    assert_eq!(memory.only_account().second_factor, None);
    let again = memory.administrators().disable_second_factor(id, LATER).await;
    assert_eq!(refusal(again), refusals::SECOND_FACTOR_IS_OFF);
}
