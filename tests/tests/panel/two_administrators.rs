//! Two administrators who delete each other at the same moment: one stays, and the other one is signed out.

use civitas_kernel::AdministratorId;
use civitas_tests::Service;
use civitas_tests::panel::{EMAIL, Form, PASSWORD, PanelClient, SIGN_IN};
use futures_util::future::join;

/// Two deletions need not meet.
const ROUNDS: usize = 28;

async fn signed_in(service: &Service, email: &str) -> (AdministratorId, PanelClient) {
    let id = service.add_administrator(email, PASSWORD).await;
    let panel = service.visitor();
    panel.sign_in(email, PASSWORD).await.is(302);
    panel.confirm(PASSWORD).await.is(302);
    (id, panel)
}

/// Sends the form that deletes an administrator. Returns the status, and where it leads.
async fn delete(panel: &PanelClient, token: &str, id: AdministratorId) -> (u16, String) {
    let form = Form::to(&format!("/system/admins/{id}")).with("authenticity_token", token);
    let answer = panel.send(&form.with("_method", "delete")).await;
    (answer.status, answer.header("location").to_owned())
}

/// `spare`: how many administrators there are besides the two.
async fn one_of_two_stays(service: &Service, spare: i64) {
    let administrators = service.store.administrators();
    let mut left = signed_in(service, "first@riverton.example").await;
    for round in 0..ROUNDS {
        left.1.confirm(PASSWORD).await.is(302);
        let other = signed_in(service, &format!("other{round}@riverton.example")).await;
        let tokens = (left.1.token().await, other.1.token().await);
        let (one, two) = join(delete(&left.1, &tokens.0, other.0), delete(&other.1, &tokens.1, left.0)).await;
        for (status, location) in [&one, &two] {
            let is_led = *status == 302 && (location == "/system/admins" || location.starts_with(SIGN_IN));
            // The refusal: an account that is gone.
            assert!(is_led || *status == 404, "{:?} {round}: {one:?} {two:?}", service.engine);
        }
        let stays = administrators.find(left.0).await.unwrap().is_some();
        let out = if stays { other.1 } else { std::mem::replace(&mut left, other).1 };
        assert_eq!(administrators.count().await.unwrap(), spare + 1, "{round}: {one:?} {two:?}");
        left.1.get("/system").await.is(200);
        assert!(out.get("/system").await.header("location").starts_with(SIGN_IN));
    }
}

#[tokio::test]
async fn of_two_administrators_who_delete_each_other_one_stays() {
    for service in Service::on_both_engines().await {
        one_of_two_stays(&service, 0).await;
    }
}

#[tokio::test]
async fn a_deleted_administrator_deletes_nobody_when_there_are_others() {
    for service in Service::on_both_engines().await {
        service.add_administrator(EMAIL, PASSWORD).await;
        one_of_two_stays(&service, 1).await;
    }
}
