use civitas_accounts::User;
use civitas_kernel::{Ability, OrganizationId, UserId, clock};
use civitas_tests::service::Service;
use civitas_tests::{commit, replace};
use serde_json::{Value, json};
use time::macros::datetime;

/// Adds an account past the interface.
async fn add(service: &Service, nickname: &str, change: impl FnOnce(&mut User)) -> i64 {
    let at = datetime!(2026-01-05 09:00 UTC);
    let email = format!("{nickname}@city.example");
    let mut user = User::new(nickname.to_owned(), email, "Somebody".to_owned(), at);
    change(&mut user);
    let city = OrganizationId(service.id("organization", "city"));
    commit(&*service.store, async |tx| tx.users().add(city, &user).await).await.unwrap().0
}

#[tokio::test]
async fn everybody_but_the_deleted_is_listed_by_id() {
    for service in Service::on_both_engines().await {
        let locked = add(&service, "locked", |user| user.locked_at = Some(user.created_at)).await;
        let both = add(&service, "both", |user| {
            (user.locked_at, user.blocked_at) = (Some(user.created_at), Some(user.created_at));
        });
        let both = both.await;
        let deleted = add(&service, "deleted", |user| user.deleted_at = Some(user.created_at)).await;
        let plain = add(&service, "plain", |user| {
            user.about = Some("<b>raw</b>".to_owned());
            user.personal_url = Some("javascript:alert(1)".to_owned());
            user.extended_data = json!({"phone": "+41"}).as_object().unwrap().clone().into();
        });
        let plain = plain.await;
        for client in [service.machine().await, service.user("norablum").await] {
            let all = client.get("/users?per_page=100").await.is(200);
            let ids = all.ids();
            assert!(ids.is_sorted() && !ids.contains(&deleted));
            assert_eq!(ids.len(), 9, "six of the archive, three of ours, none of the other city");
            let of = |id: i64| &all.data()[all.ids().iter().position(|listed| *listed == id).unwrap()];
            let state = |id: i64| (of(id)["meta"]["blocked"] == true, of(id)["meta"]["locked"] == true);
            assert_eq!(state(service.id("user", "victor_b")), (true, false));
            assert_eq!(
                (state(locked), state(both), state(plain)),
                ((false, true), (true, true), (false, false))
            );
            let expected = json!({"id": plain.to_string(), "type": "user", "attributes": {
                "name": "Somebody", "nickname": "plain", "personal_url": "javascript:alert(1)",
                "email": "plain@city.example", "about": "<b>raw</b>", "locale": "en",
                "extended_data": {"phone": "+41"}, "created_at": "2026-01-05T09:00:00Z",
                "updated_at": "2026-01-05T09:00:00Z"}, "relationships": {"roles": {"data": []}},
                "meta": {"blocked": false, "locked": false}});
            assert_eq!(*of(plain), expected);
            let nora = of(service.id("user", "norablum"));
            assert_eq!(
                (&nora["attributes"]["locale"], &nora["attributes"]["about"]),
                (&json!("fr"), &Value::Null)
            );
        }
        service.machine().await.get(&format!("/users/{plain}")).await.refuses(404, "Route not found");
    }
}

#[tokio::test]
async fn filters_and_pages_are_those_of_the_contract() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let user = |name: &str| service.id("user", name);
        let phone = add(&service, "phone", |user| {
            user.extended_data =
                json!({"phone": "+33", "key": {"is": "awesome"}}).as_object().unwrap().clone().into();
        });
        let phone = phone.await;
        let nora = user("norablum");
        for (query, wanted) in [
            ("filter[nickname]=norablum".to_owned(), vec![nora]),
            ("filter[nickname]=NoraBlum".to_owned(), vec![]),
            ("filter[nickname_start]=NORA".to_owned(), vec![nora]),
            ("filter[nickname_matches]=%25blum".to_owned(), vec![nora]),
            ("filter[nickname_in][]=norablum&filter[nickname_in][]=phone".to_owned(), vec![nora, phone]),
            (format!("filter[id]={nora}"), vec![nora]),
            (format!("filter[id_gt]={}", phone - 1), vec![phone]),
            (format!("filter[id_not_in][]={nora}&filter[nickname_start]=nora"), vec![]),
            (r#"filter[extended_data_cont]="key":{"is":"AWESOME"}"#.to_owned(), vec![phone]),
            ("filter[nickname]=phone&locales=xx&order=id".to_owned(), vec![phone]),
        ] {
            let answer = machine.get(&format!("/users?{query}")).await.is(200);
            assert_eq!(answer.ids(), wanted, "{query}");
        }
        for (query, sentence) in [
            ("filter[id]=x", "Invalid value for filter id"),
            ("filter[about]=x", "Unknown filter: about"),
            ("filter[nickname_lt]=x", "Unknown filter: nickname_lt"),
            ("order=rand", "Unknown order rand"),
        ] {
            machine.get(&format!("/users?{query}")).await.refuses(400, sentence);
        }
        let first = machine.get("/users?per_page=3").await.is(200);
        let second = machine.get("/users?per_page=3&page=2").await.is(200);
        assert_eq!((first.ids().len(), &first.body["meta"]["has_more"]), (3, &json!(true)));
        assert!(first.ids().last() < second.ids().first());
    }
}

#[tokio::test]
async fn extended_data_is_for_those_who_may_and_the_validator_knows() {
    for service in Service::on_both_engines().await {
        let data = json!({"phone": "+41"});
        let id = add(&service, "phone", |user| user.extended_data = data.as_object().unwrap().clone().into())
            .await;
        let machine = service.machine().await;
        let path = format!("/users?filter[id]={id}");
        let full = machine.get(&path).await.is(200);
        assert_eq!(full.data()[0]["attributes"]["extended_data"], data);
        let (client, stored) = service.store.clients().find_by_uid("id_city_full").await.unwrap().unwrap();
        let mut narrowed = stored.clone();
        narrowed.permissions.remove(Ability::OauthExtendedDataRead);
        service.store.clients().save(client, &narrowed).await.unwrap();
        let seen = [("if-none-match", full.header("etag"))];
        let bare = machine.send(reqwest::Method::GET, &path, &seen, None).await.is(200);
        assert_eq!(bare.data()[0]["attributes"]["extended_data"], json!({}));
        for value in ["phone", ""] {
            machine
                .get(&format!("/users?filter[extended_data_cont]={value}"))
                .await
                .refuses(403, "Forbidden");
        }
        service.store.clients().save(client, &stored).await.unwrap();
        machine.send(reqwest::Method::GET, &path, &seen, None).await.is(304);
        let since = [("if-modified-since", full.header("last-modified"))];
        machine.send(reqwest::Method::GET, &path, &since, None).await.is(304);

        let city = OrganizationId(service.id("organization", "city"));
        let user = service.store.users().find(city, UserId(id)).await.unwrap().unwrap();
        let deleted = User { deleted_at: Some(clock::now()), ..user };
        replace(service.store.users(), city, UserId(id), &deleted).await.unwrap();
        let gone = machine.send(reqwest::Method::GET, &path, &since, None).await.is(200);
        assert_eq!(*gone.data(), json!([]));
        assert_ne!(gone.header("last-modified"), full.header("last-modified"));
    }
}
