use civitas_tests::service::{CITIES, Client, Service};
use serde_json::{Value, json};

#[tokio::test]
async fn a_proposal_has_the_shape_of_the_contract() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let id = service.id("proposal", "accepted");
        let seen = nora
            .get(&format!("/proposals/{id}?locales[]=en&component_id={}", service.id("component", "ideas")))
            .await
            .is(200);
        let data = seen.data();
        assert_eq!(data["relationships"]["state"]["meta"]["token"], "accepted");
        assert_eq!(data["relationships"]["coauthors"]["meta"]["count"], 2);
        assert_eq!(data["meta"]["can_vote"], true);
        assert_eq!(data["meta"]["published_at"], "2026-02-08T09:00:00Z");
        assert_eq!(data["links"]["collection"]["meta"]["resource_id"], id.to_string());
        assert!(data["links"]["related"]["meta"].get("resource_id").is_none());
        assert_eq!(
            data["links"]["related"]["href"],
            format!("https://city.test/public/components/{}", service.id("component", "ideas"))
        );
        let secret = nora.get(&format!("/proposals/{}", service.id("proposal", "secretly"))).await.is(200);
        assert!(
            secret.data()["relationships"].get("state").is_none(),
            "an answer that is not public shows nowhere"
        );
        let official = nora.get(&format!("/proposals/{}", service.id("proposal", "p2"))).await.is(200);
        assert!(official.data()["relationships"].get("author").is_none());
        let withdrawn =
            nora.get(&format!("/proposals/{}", service.id("proposal", "withdrawn"))).await.is(200);
        assert_eq!(
            (&withdrawn.data()["meta"]["withdrawn"], &withdrawn.data()["meta"]["can_vote"]),
            (&json!(true), &json!(false))
        );
    }
}

#[tokio::test]
async fn hidden_deleted_foreign_and_other_peoples_drafts_are_not_found() {
    for service in Service::on_both_engines().await {
        let (nora, admin) = (service.user("norablum").await, service.user("maryadmin").await);
        for name in ["moderated", "deleted", "luisdraft"] {
            let path = format!("/proposals/{}", service.id("proposal", name));
            nora.get(&path).await.is(404);
            admin.get(&path).await.is(404);
        }
        nora.get(&format!("/proposals/{}", service.id("proposal", "x1"))).await.is(404);
        nora.get(&format!("/proposals/{}", service.id_in("town", "proposal", "p1"))).await.is(404);
        let luis = service.user("luisortega").await;
        let own = luis.get(&format!("/proposals/{}", service.id("proposal", "luisdraft"))).await.is(200);
        assert_eq!(
            (&own.data()["type"], &own.data()["meta"]["published"]),
            (&json!("proposal"), &json!(false))
        );
        let member = service.user("member_one").await;
        member.get(&format!("/proposals/{}", service.id("proposal", "x1"))).await.is(200);
    }
}

#[tokio::test]
async fn the_list_is_ordered_by_publication_and_own_drafts_come_last_then_first() {
    for service in Service::on_both_engines().await {
        let luis = service.user("luisortega").await;
        let component = service.id("component", "ideas");
        let up = luis.get(&format!("/proposals?component_id={component}&per_page=100")).await.is(200).ids();
        let draft = service.id("proposal", "luisdraft");
        assert_eq!((up.len(), up[0], up[up.len() - 1]), (12, service.id("proposal", "p1"), draft));
        let down = luis
            .get(&format!("/proposals?component_id={component}&order_direction=desc&per_page=100"))
            .await
            .is(200)
            .ids();
        assert_eq!((down[0], down[11]), (draft, service.id("proposal", "p1")));
        let shuffled = luis.get("/proposals?order=rand&per_page=2").await.is(200);
        assert_eq!(shuffled.body["meta"]["has_more"], true);
        let again = luis.get("/proposals?order=rand&per_page=2").await.is(200);
        assert_ne!(shuffled.header("etag"), again.header("etag"));
        luis.get("/proposals?order=asc").await.refuses(400, "Unknown order asc");
        luis.get("/proposals?space_manifest=towns").await.refuses(400, "manifest not supported: towns");
        assert_eq!(luis.get("/proposals?component_id=99999999").await.is(200).data(), &json!([]));
    }
}

#[tokio::test]
async fn filters_of_proposals_look_at_public_states_and_own_votes() {
    for service in Service::on_both_engines().await {
        let luis = service.user("luisortega").await;
        let ideas = service.id("component", "ideas");
        let ids = async |query: &str| {
            luis.get(&format!("/proposals?component_id={ideas}&per_page=100&{query}")).await.is(200).ids()
        };
        let id = |name: &str| service.id("proposal", name);
        assert_eq!(ids("filter[state]=accepted").await, [id("accepted")]);
        assert_eq!(
            ids("filter[state_in][]=rejected&filter[state_in][]=withdrawn").await,
            [id("rejected"), id("withdrawn")]
        );
        assert_eq!(
            ids("filter[state_not_eq]=rejected").await.len(),
            11,
            "also those without a state, and the own draft"
        );
        assert_eq!(ids("filter[state_blank]=true").await.len(), 9);
        assert_eq!(ids("filter[state_start]=ACC").await, [id("accepted")]);
        assert_eq!(ids("filter[voted_weight]=1").await, [id("p1")]);
        assert_eq!(ids("filter[voted_weight_blank]=true").await.len(), 10, "drafts are left out");
        assert_eq!(ids("filter[voted_weight_not_eq]=1").await, [] as [i64; 0]);
        assert_eq!(ids("filter[voted_weight_start]=1").await, [id("p1")]);
        assert_eq!(ids("filter[voted_weight]=").await.len(), 12);
        assert_eq!(
            ids(&format!("filter[id_gt]={}&filter[id_lt]={}", id("p2"), id("p5"))).await,
            [id("p3"), id("p4")]
        );
        assert_eq!(ids("filter[extended_data_cont]=%22n%22:7").await, [id("p7")]);
        service.machine().await.get("/proposals?filter[voted_weight]=1").await.refuses(400, "User required");
        let bare = service.user_through("city", "bare", "luisortega").await;
        bare.get("/proposals?filter[extended_data_cont]=").await.refuses(403, "Forbidden");
    }
}

/// The id a link of a proposal leads to.
fn beside(proposal: &Value, link: &str) -> Option<i64> {
    proposal["links"][link]["meta"]["resource_id"].as_str()?.parse().ok()
}

async fn show(client: &Client, id: i64, query: &str) -> Value {
    client.get(&format!("/proposals/{id}?{query}")).await.is(200).data().clone()
}

#[tokio::test]
async fn following_next_to_the_end_and_prev_back_walks_the_list() {
    for service in Service::on_both_engines().await {
        let luis = service.user("luisortega").await;
        let ideas = service.id("component", "ideas");
        for query in [
            format!("component_id={ideas}"),
            format!("component_id={ideas}&order_direction=desc"),
            "order_direction=desc".to_owned(),
            "filter[state_blank]=true".to_owned(),
        ] {
            let list = luis.get(&format!("/proposals?per_page=100&{query}")).await.is(200).ids();
            let mut walked = vec![list[0]];
            while let Some(next) = beside(&show(&luis, *walked.last().unwrap(), &query).await, "next") {
                walked.push(next);
            }
            assert_eq!(walked, list, "{query}");
            let mut back = vec![*list.last().unwrap()];
            while let Some(prev) = beside(&show(&luis, *back.last().unwrap(), &query).await, "prev") {
                back.push(prev);
            }
            back.reverse();
            assert_eq!(back, list, "{query}");
        }
        let alone = show(&luis, service.id("proposal", "accepted"), "filter[state_blank]=true").await;
        assert_eq!(
            (beside(&alone, "next"), beside(&alone, "prev")),
            (None, None),
            "filtered out, and still shown"
        );
        let random = show(&luis, service.id("proposal", "p1"), "order=rand").await;
        assert!(beside(&random, "next").is_some() && beside(&random, "prev").is_none());
        luis.get(&format!("/proposals/{}?component_id=99999", service.id("proposal", "p1"))).await.is(404);
    }
}

#[tokio::test]
async fn a_vote_and_its_removal_change_the_validator_of_the_voter() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let id = service.id("proposal", "p3");
        let path = format!("/proposals/{id}");
        let component = format!("/components/proposal_components/{}", service.id("component", "ideas"));
        let tags = async || {
            (
                nora.get(&path).await.is(200).header("etag").to_owned(),
                nora.get(&component).await.is(200).header("etag").to_owned(),
            )
        };
        let before = tags().await;
        let vote = nora
            .post("/vote_proposals/sync", &json!({"proposal_id": id, "data": {"weight": 1}}))
            .await
            .is(200);
        let voted = nora.get(&path).await.is(200);
        assert_eq!(voted.data()["meta"]["voted"], json!({"weight": 1}));
        assert_ne!(voted.header("etag"), before.0);
        let seen = [("if-none-match", voted.header("etag"))];
        nora.send(reqwest::Method::GET, &path, &seen, None).await.is(304);
        // `Last-Modified` has a resolution of one second: the vote is removed in another second than it was cast.
        tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
        nora.delete(&format!("/vote_proposals/{}", vote.data()["id"].as_str().unwrap())).await.is(200);
        nora.send(reqwest::Method::GET, &path, &seen, None).await.is(200);
        let aged = [("if-modified-since", voted.header("last-modified"))];
        nora.send(reqwest::Method::GET, &path, &aged, None).await.is(200);
        assert_eq!(tags().await.0, before.0, "the same body again, the same validator");
    }
}

#[tokio::test]
async fn a_published_proposal_has_a_number_of_votes() {
    for service in Service::on_both_engines().await {
        let (nora, luis) = (service.user("norablum").await, service.user("luisortega").await);
        let id = |name: &str| service.id("proposal", name);
        let count = async |name: &str| {
            let shown = luis.get(&format!("/proposals/{}", id(name))).await.is(200);
            shown.data()["meta"].get("votes_count").cloned()
        };
        let vote = async |name: &str, weight: i64| {
            let body = json!({"proposal_id": id(name), "data": {"weight": weight}});
            let cast = nora.post("/vote_proposals/sync?include_proposal=true", &body).await.is(200);
            cast.data()["meta"]["votes_count"].clone()
        };
        assert_eq!((count("p1").await, count("p2").await), (Some(json!(1)), Some(json!(0))));
        assert_eq!(count("luisdraft").await, None, "a draft");
        assert_eq!(vote("p1", 1).await, json!(2));
        assert_eq!(count("p1").await, Some(json!(2)));
        let own = format!("/vote_proposals?filter[creator_id]={}", service.id("user", "norablum"));
        let own = nora.get(&own).await.is(200).ids();
        nora.delete(&format!("/vote_proposals/{}/sync", own[0])).await.is(200);
        assert_eq!(count("p1").await, Some(json!(1)));
        // In this component votes are temporary until their user has two.
        assert_eq!(vote("c1", 0).await, json!(0));
        assert_eq!(count("c1").await, Some(json!(0)));
        assert_eq!(vote("c2", 3).await, json!(1), "weights are not added up");
        assert_eq!(count("c1").await, Some(json!(1)), "an abstention is a vote");
    }
}

#[tokio::test]
async fn a_step_may_hide_the_number_of_votes() {
    let archive = CITIES.replace(r#""voting": {"#, r#""voting": {"votes_hidden": true, "#);
    for service in Service::on_both_engines_with(&archive, &[]).await {
        let luis = service.user("luisortega").await;
        let (p1, ideas) = (service.id("proposal", "p1"), service.id("component", "ideas"));
        let shown = luis.get(&format!("/proposals/{p1}")).await.is(200);
        assert_eq!(shown.data()["meta"]["voted"], json!({"weight": 1}));
        assert_eq!(shown.data()["meta"].get("votes_count"), None);
        let listed = luis.get(&format!("/proposals?component_id={ideas}")).await.is(200);
        assert!(listed.data().as_array().unwrap().iter().all(|one| one["meta"].get("votes_count").is_none()));
        let component = luis.get(&format!("/components/proposal_components/{ideas}")).await.is(200);
        assert_eq!(component.data()["meta"].get("votes_hidden"), None);
        let motion = luis.get(&format!("/proposals/{}", service.id("proposal", "m1"))).await.is(200);
        assert_eq!(motion.data()["meta"]["votes_count"], 0, "another step");
    }
}
