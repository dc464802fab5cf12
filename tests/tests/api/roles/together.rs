use super::{ASSEMBLY, ORGANIZATION, body, create, id, path, update_events};
use civitas_tests::service::{Answer, Service};
use civitas_tests::until_not_busy;
use std::collections::BTreeMap;

/// Sends the same request this number of times at once, and counts the answers by status.
async fn at_once<F: Future<Output = Answer> + Send + 'static>(
    attempts: usize,
    ask: impl Fn() -> F + Clone + Send + 'static,
) -> BTreeMap<u16, usize> {
    let attempts: Vec<_> = (0..attempts).map(|_| tokio::spawn(until_not_busy(ask.clone()))).collect();
    let mut answers = BTreeMap::new();
    for attempt in attempts {
        *answers.entry(attempt.await.unwrap().status.as_u16()).or_default() += 1;
    }
    answers
}

#[tokio::test]
async fn of_hundreds_who_give_the_same_role_at_once_one_gives_it() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let (council, nora) = (service.id("space", "council"), service.id("user", "norablum"));
        let wanted = body(ASSEMBLY, council, nora, "space_moderator");
        let answers = at_once(300, move || {
            let (client, body) = (machine.clone(), wanted.clone());
            async move { create(&client, &body).await }
        });
        assert_eq!(answers.await, BTreeMap::from([(201, 1), (400, 299)]), "{:?}", service.engine);
        // Over new connections: the old ones may have idled too long meanwhile.
        let rows = service.machine().await.get(&format!("/roles?filter[user_id]={nora}")).await.is(200);
        assert_eq!(rows.data().as_array().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn of_many_who_take_the_same_role_at_once_one_takes_it() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let wanted =
            body(ASSEMBLY, service.id("space", "council"), service.id("user", "norablum"), "space_moderator");
        let role = format!("{}/sync", path(&id(&create(&machine, &wanted).await.is(201))));
        let answers = at_once(100, move || {
            let (client, role) = (machine.clone(), role.clone());
            async move { client.delete(&role).await }
        });
        assert_eq!(answers.await, BTreeMap::from([(204, 1), (404, 99)]), "{:?}", service.engine);
    }
}

#[tokio::test]
async fn an_administrator_appointed_many_times_at_once_has_one_event() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let wanted = body(
            ORGANIZATION,
            service.id("organization", "city"),
            service.id("user", "norablum"),
            "general_admin",
        );
        let answers = at_once(100, move || {
            let (client, body) = (machine.clone(), wanted.clone());
            async move { create(&client, &body).await }
        });
        assert_eq!(answers.await, BTreeMap::from([(201, 100)]), "{:?}", service.engine);
        assert_eq!(update_events(&service).await, 1);
    }
}
