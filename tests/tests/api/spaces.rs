use civitas_tests::service::Service;
use serde_json::json;

#[tokio::test]
async fn each_actor_sees_the_spaces_it_may_see() {
    for service in Service::on_both_engines().await {
        let titles = async |client: civitas_tests::service::Client| {
            let answer = client.get("/spaces/search?locales[]=en").await.is(200);
            let rows = answer.data().as_array().unwrap().clone();
            let mut titles: Vec<String> =
                rows.iter().map(|s| s["attributes"]["title"]["en"].as_str().unwrap().to_owned()).collect();
            titles.sort();
            titles.join(" ")
        };
        assert_eq!(titles(service.user("norablum").await).await, "Council Days Petition Streets");
        assert_eq!(titles(service.user("member_one").await).await, "Circle Council Days Petition Streets");
        let all = "Circle Council Days Hidden Petition Streets";
        assert_eq!(titles(service.user("maryadmin").await).await, all);
        assert_eq!(titles(service.machine().await).await, all, "a service token sees as an administrator");
    }
}

#[tokio::test]
async fn a_space_has_the_shape_of_the_contract() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let id = service.id("space", "streets");
        let space = nora.get(&format!("/spaces/participatory_processes/{id}?locales[]=en")).await.is(200);
        let data = space.data();
        assert_eq!(
            (&data["type"], &data["attributes"]["title"]),
            (&json!("space"), &json!({"en": "Streets"}))
        );
        assert_eq!(data["attributes"]["subtitle"], json!({}));
        assert_eq!(data["attributes"]["participatory_space_type"], "Platform::ParticipatoryProcess");
        assert_eq!(data["attributes"]["extended_data"]["phone"], "+33");
        assert_eq!(
            data["relationships"]["components"]["meta"]["count"], 4,
            "the unpublished one is not seen"
        );
        let components = data["relationships"]["components"]["links"]["self"]["href"].as_str().unwrap();
        let path = components.strip_prefix("https://city.test/api/rest_full/v0.3").unwrap();
        assert_eq!(nora.get(path).await.is(200).data().as_array().unwrap().len(), 4);
        let this = &data["links"]["self"];
        assert_eq!(this["href"], format!("https://city.test/public/participatory_processes/{id}"));
        assert_eq!(this["meta"]["action_method"], "GET");
        assert_eq!(data["links"]["related"]["title"], "Riverton");
        let admin = service.user("maryadmin").await;
        let seen = admin.get(&format!("/spaces/participatory_processes/{id}")).await.is(200);
        assert_eq!(seen.data()["relationships"]["components"]["meta"]["count"], 5);
        nora.get(&format!("/spaces/assemblies/{}", service.id("space", "circle")))
            .await
            .refuses(404, "Resource not found");
    }
}

#[tokio::test]
async fn filters_of_spaces_do_what_the_grammar_says() {
    for service in Service::on_both_engines().await {
        let admin = service.user("maryadmin").await;
        let count = async |query: &str| {
            let answer = admin.get(&format!("/spaces/search?{query}")).await.is(200);
            answer.data().as_array().unwrap().len()
        };
        assert_eq!(count("filter[manifest_name]=assemblies").await, 2);
        assert_eq!(
            count("filter[manifest_name_not_in][]=assemblies&filter[manifest_name_not_in][]=conferences")
                .await,
            3
        );
        assert_eq!(count("filter[slug_start]=c").await, 2, "council, circle; initiatives have i-<id>");
        assert_eq!(count("filter[slug_matches]=i-%25").await, 1);
        assert_eq!(count("filter[title_eq]=Le council").await, 1, "any translation");
        assert_eq!(count("filter[title_not_eq]=Le council").await, 5);
        assert_eq!(count("filter[title_start]=le%20").await, 6, "in any case");
        assert_eq!(count("filter[title_blank]=false").await, 6);
        assert_eq!(count("filter[extended_data_cont]=%22KEY%22:{%22is%22:%22awesome%22}").await, 1);
        assert_eq!(count("filter[id_eq]=").await, 6);
        let refused = admin.get("/spaces/search?filter[manifest_name_eq]=towns").await;
        refused.refuses(400, "Invalid value for filter manifest_name_eq");
        admin.get("/spaces/search?filter[colour_eq]=x").await.refuses(400, "Unknown filter: colour_eq");
        let fixed = admin.get("/spaces/conferences?filter[manifest_name_eq]=assemblies").await.is(200);
        assert_eq!(fixed.data(), &json!([]));
        admin.get("/spaces/search?locales=en,EN,xx").await.refuses(400, "Not allowed locales: EN, xx");
    }
}

#[tokio::test]
async fn pages_tell_whether_more_follows_and_never_how_many_there_are() {
    for service in Service::on_both_engines().await {
        let admin = service.user("maryadmin").await;
        let first = admin.get("/spaces/search?per_page=4&page=0&filter[id_gt]=0").await.is(200);
        let meta = &first.body["meta"];
        assert_eq!(
            (&meta["page"], &meta["per_page"], &meta["has_more"], &meta["prev"]),
            (&json!(1), &json!(4), &json!(true), &json!(null))
        );
        let next = meta["next"].as_str().unwrap();
        let path = next.split("/v0.3").nth(1).unwrap();
        let second = admin.get(path).await.is(200);
        assert_eq!(
            (second.data().as_array().unwrap().len(), &second.body["meta"]["has_more"]),
            (2, &json!(false))
        );
        let beyond = admin.get("/spaces/search?page=9").await.is(200);
        assert_eq!((beyond.data(), &beyond.body["meta"]["next"]), (&json!([]), &json!(null)));
        assert!(beyond.body["meta"]["prev"].is_string());
    }
}

#[tokio::test]
async fn a_validator_is_personal_and_changes_with_what_it_stands_for() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let path = "/spaces/search?locales=en,fr";
        let seen = nora.get(path).await.is(200);
        let tag = seen.header("etag").to_owned();
        assert!(tag.starts_with("W/\""));
        assert_eq!(seen.header("cache-control"), "private, max-age=0, must-revalidate");
        assert_eq!(seen.header("vary"), "Authorization, Prefer", "the first of two such headers");
        let fresh = |client: &civitas_tests::service::Client, path: &str, tag: &str| {
            let (client, path, tag) = (client.clone(), path.to_owned(), tag.to_owned());
            async move { client.send(reqwest::Method::GET, &path, &[("if-none-match", &tag)], None).await }
        };
        let same = fresh(&nora, path, &format!("\"x\", {tag}")).await.is(304);
        assert_eq!((same.header("etag"), same.text.as_str()), (tag.as_str(), ""));
        fresh(&nora, "/spaces/search?locales[]=fr&locales[]=en", &tag).await.is(304);
        fresh(&nora, "/spaces/search?locales=en", &tag).await.is(200);
        fresh(&nora, path, "*").await.is(304);
        let luis = service.user("luisortega").await;
        fresh(&luis, path, &tag).await.is(200);
        let second = service.user_through("city", "second", "norablum").await;
        fresh(&second, path, &tag).await.is(200);
        let old = [("if-modified-since", "Thu, 01 Jan 2026 00:00:00 GMT")];
        nora.send(reqwest::Method::GET, path, &old, None).await.is(200);
        // In the second in which a list lost something there may be more to come.
        tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
        let new = [("if-modified-since", "Thu, 01 Jan 2099 00:00:00 GMT")];
        nora.send(reqwest::Method::GET, path, &new, None).await.is(304);
        let forged = [("if-none-match", tag.as_str())];
        service.anonymous().send(reqwest::Method::GET, path, &forged, None).await.is(401);
    }
}
