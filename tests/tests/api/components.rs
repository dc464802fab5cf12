use civitas_tests::service::Service;
use serde_json::{Value, json};

#[tokio::test]
async fn every_kind_of_component_is_found_with_its_own_meta() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let all = nora.get("/components/search?per_page=100").await.is(200);
        let mut kinds: Vec<_> = all
            .data()
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c["attributes"]["manifest_name"].as_str().unwrap())
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), 10);
        for component in all.data().as_array().unwrap() {
            let keys = component["meta"].as_object().unwrap().len();
            let expected = match component["attributes"]["manifest_name"].as_str().unwrap() {
                "proposals" => 35,
                "meetings" => 7,
                _ => 2,
            };
            assert_eq!(keys, expected, "{component}");
            assert!(component["attributes"]["participatory_space_id"].is_string());
        }
    }
}

#[tokio::test]
async fn the_active_step_decides_what_the_component_says() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let meta = async |name: &str| {
            let path =
                format!("/components/proposal_components/{}?locales[]=en", service.id("component", name));
            nora.get(&path).await.is(200).data()["meta"].clone()
        };
        let ideas = meta("ideas").await;
        assert_eq!(
            (&ideas["votes_enabled"], &ideas["can_vote"], &ideas["can_create_proposals"]),
            (&json!(true), &json!(true), &json!(true))
        );
        assert_eq!(ideas["votes"], json!([{"label": {"en": "Vote"}, "weight": 1}]));
        let cards = meta("cards").await;
        let weights: Vec<_> =
            cards["votes"].as_array().unwrap().iter().map(|v| v["weight"].clone()).collect();
        assert_eq!(weights, [0, 1, 2, 3]);
        let closed = meta("closed").await;
        assert_eq!(
            (&closed["votes"], &closed["can_vote"], &closed["votes_enabled"]),
            (&json!([]), &json!(false), &json!(false))
        );
        let machine = service.machine().await;
        let path = format!("/components/proposal_components/{}", service.id("component", "ideas"));
        let seen = machine.get(&path).await.is(200).data()["meta"].clone();
        assert_eq!((&seen["can_vote"], &seen["can_create_proposals"]), (&json!(true), &json!(false)));
    }
}

#[tokio::test]
async fn a_draft_is_linked_for_its_author_and_client_alone() {
    for service in Service::on_both_engines().await {
        let path = format!("/components/proposal_components/{}", service.id("component", "ideas"));
        let link = async |client: civitas_tests::service::Client| {
            client.get(&path).await.is(200).data()["links"]["draft"].clone()
        };
        let draft = link(service.user("luisortega").await).await;
        let id = service.id("proposal", "luisdraft");
        assert_eq!(draft["href"], format!("https://city.test/api/rest_full/v0.3/draft_proposals/{id}"));
        assert_eq!(draft["meta"].as_object().unwrap().len(), 6);
        assert_eq!(link(service.user("norablum").await).await, Value::Null);
        assert_eq!(link(service.user_through("city", "second", "luisortega").await).await, Value::Null);
        assert_eq!(link(service.machine().await).await, Value::Null);
    }
}

#[tokio::test]
async fn resources_are_counted_uncapped_and_named_by_kind() {
    for service in Service::on_both_engines().await {
        let path = format!("/components/proposal_components/{}", service.id("component", "ideas"));
        let resources = async |nickname: &str| {
            let nora = service.user(nickname).await;
            nora.get(&path).await.is(200).data()["relationships"]["resources"].clone()
        };
        let seen = resources("norablum").await;
        assert_eq!(seen["meta"]["count"], 11, "hidden and deleted ones are not");
        assert_eq!(seen["data"][0]["type"], "proposals");
        assert_eq!(resources("luisortega").await["meta"]["count"], 12, "and the own draft");
    }
}

#[tokio::test]
async fn a_component_of_another_kind_or_out_of_sight_is_not_found() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        for (path, name) in [
            ("proposal_components", "news"),
            ("blog_components", "ideas"),
            ("proposal_components", "unready"),
            ("proposal_components", "circle-motions"),
        ] {
            nora.get(&format!("/components/{path}/{}", service.id("component", name))).await.is(404);
        }
        let news = service.id("component", "news");
        let shown =
            nora.get(&format!("/components/blog_components/{news}?component_id={news}")).await.is(200);
        assert_eq!(shown.data()["attributes"]["global_announcement"], json!({}));
        nora.get(&format!("/components/blog_components/{news}?component_id=99999")).await.is(404);
        nora.get(&format!("/components/blog_components/{news}?space_id=x")).await.is(400);
        service
            .user("maryadmin")
            .await
            .get(&format!("/components/proposal_components/{}", service.id("component", "unready")))
            .await
            .is(200);
    }
}

#[tokio::test]
async fn spaces_of_components_are_filtered_by_manifest_or_class_name() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        for name in ["assemblies", "Platform::Assembly"] {
            let answer = nora
                .get(&format!("/components/search?filter[participatory_space_type]={name}"))
                .await
                .is(200);
            assert_eq!(answer.ids(), [service.id("component", "council-motions")]);
        }
        let typed = nora.get("/components/proposal_components?filter[name_start]=IDE").await.is(200);
        assert_eq!(typed.ids(), [service.id("component", "ideas")]);
        nora.get("/components/proposal_components?filter[manifest_name]=x")
            .await
            .refuses(400, "Unknown filter: manifest_name");
    }
}
