use civitas_tests::service::{BASE, Service};
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn bodies_are_read_in_every_announced_encoding_and_no_other() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let component = service.id("component", "ideas");
        let path = format!("{BASE}/draft_proposals/sync");
        let send = async |media: Option<&str>, body: String| {
            let headers: Vec<_> = media.into_iter().map(|m| ("content-type", m)).collect();
            nora.raw(Method::POST, &path, &headers, Some(body.into_bytes())).await
        };
        let form = format!("data[component_id]={component}");
        let id = send(Some("application/x-www-form-urlencoded"), form).await.is(200).data()["id"].clone();
        nora.delete(&format!("/draft_proposals/{}/sync", id.as_str().unwrap())).await.is(200);
        let multipart = format!(
            "--b\r\ncontent-disposition: form-data; name=\"data[component_id]\"\r\n\r\n{component}\r\n--b--\r\n"
        );
        let id = send(Some("multipart/form-data; boundary=b"), multipart).await.is(200).data()["id"].clone();
        nora.delete(&format!("/draft_proposals/{}/sync", id.as_str().unwrap())).await.is(200);
        let json = json!({"data": {"component_id": component.to_string()}}).to_string();
        send(None, json.clone()).await.is(200);
        send(Some("text/plain"), json).await.refuses(415, "Unsupported media type");
        for bad in ["{", "[]", "3", "{\"a\":\"\\u0000\"}", "\"x\""] {
            send(Some("application/json"), bad.to_owned()).await.refuses(400, "Malformed JSON request");
        }
        send(Some("application/json"), format!("{}1{}", "{\"a\":".repeat(101), "}".repeat(101)))
            .await
            .is(400);
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(1_048_576));
        send(Some("application/json"), long).await.refuses(413, "Payload too large");
        send(Some("multipart/form-data"), "x".to_owned()).await.is(400);
    }
}

#[tokio::test]
async fn a_body_with_a_content_coding_is_refused() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let path = format!("{BASE}/me/extended_data/sync");
        let json = json!({"object_path": "k", "data": 1}).to_string().into_bytes();
        let send = async |codings: &[&str], body: &[u8]| {
            let mut headers = vec![("content-type", "application/json")];
            headers.extend(codings.iter().map(|coding| ("content-encoding", *coding)));
            nora.raw(Method::PUT, &path, &headers, Some(body.to_vec())).await
        };
        // The beginning of what gzip makes, and what could be read.
        for body in [b"\x1f\x8b\x08\0\0\0", &json[..]] {
            for codings in [&["gzip"][..], &["br"], &["identity, gzip"], &["identity", "zstd"], &["unknown"]]
            {
                send(codings, body).await.refuses(415, "Unsupported media type");
            }
        }
        nora.get("/me/extended_data?object_path=k").await.is(200).data().as_object().unwrap();
        for codings in [&["identity"][..], &["Identity"], &[""], &[]] {
            send(codings, &json).await.is(200);
        }
        let empty =
            nora.raw(Method::DELETE, &format!("{BASE}/jobs/x"), &[("content-encoding", "gzip")], None).await;
        assert_ne!(empty.status, 415, "there is no body");
        let upload = format!("{BASE}/attachments/direct_upload/none");
        let upload = nora.raw(Method::PUT, &upload, &[("content-encoding", "gzip")], Some(vec![0; 9])).await;
        upload.refuses(415, "Unsupported media type");
        let multipart = [("content-encoding", "gzip"), ("content-type", "multipart/form-data; boundary=b")];
        let form = nora.raw(Method::POST, &format!("{BASE}/attachments"), &multipart, Some(vec![0; 9])).await;
        form.refuses(415, "Unsupported media type");
    }
}

#[tokio::test]
async fn strange_ids_methods_and_versions_are_not_found() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        for id in ["abc", "12abc", "-1", "0x1", "999999999999999999999999999999", "1.5", "%31%30x", "%00"] {
            for path in [
                "/proposals",
                "/meetings",
                "/spaces/assemblies",
                "/components/blog_components",
                "/vote_proposals",
                "/questionnaires",
                "/questions",
                "/questionnaire_responses",
                "/submission_requests",
            ] {
                nora.get(&format!("{path}/{id}")).await.refuses(404, "Resource not found");
            }
        }
        for id in ["x", "00000000-0000-0000-0000-000000000000", "%00"] {
            nora.get(&format!("/jobs/{id}")).await.refuses(404, "Resource not found");
        }
        nora.put("/proposals", &json!({})).await.refuses(404, "Route not found");
        nora.get("/spaces/towns/1").await.refuses(404, "Route not found");
        nora.get("/draft_proposals").await.refuses(404, "Action not found");
        let old = nora.raw(Method::GET, "/api/rest_full/v0.2/proposals", &[], None).await;
        old.refuses(404, "Route not found");
        nora.raw(Method::HEAD, &format!("{BASE}/proposals"), &[], None).await.is(200);
    }
}

#[tokio::test]
async fn no_query_brings_the_service_down() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let lists = [
            "/proposals",
            "/spaces/search",
            "/components/search",
            "/vote_proposals",
            "/jobs",
            "/proposals/1",
            "/meetings",
            "/meetings/1",
            "/questionnaires",
            "/questionnaires/1",
            "/questions",
            "/answer_options",
            "/answers",
            "/questionnaire_responses/1",
        ];
        let queries = [
            "page=9223372036854775807&per_page=100",
            "page=-1&per_page=abc",
            "page[]=1",
            "filter=abc",
            "filter[]=1",
            "filter[id_eq]=99999999999999999999",
            "filter[id_eq][]=1",
            "filter[id_in][]=1&filter[id_in]=2",
            "filter[state_matches]=%25%5C",
            "filter[state_matches]=%5C",
            "filter[state_matches]=%5C%CC%87",
            "filter[state_matches]=%25%CC%87%5C%CC%87_%CC%87",
            "filter[state_start]=%CC%87",
            "filter[state_start]=%25_%5C",
            "filter[extended_data_cont]=%25%5C%22",
            "filter[title_matches]=%5B%28",
            "filter[x%00]=1",
            "locales[]=%F0%9F%98%80",
            "space_id=9999999999999999999999",
            "order=published_at&order_direction=sideways",
            "%ff%fe=%c3%28",
            "filter[voted_weight_lt]=-9223372036854775808",
            "filter[questionnaire_id]=9223372036854775807&question_id=-1",
            "filter[participatory_space_type_matches]=%5C&locale=%F0%9F%98%80",
        ];
        for path in lists {
            for query in queries {
                let answer = nora.raw(Method::GET, &format!("{BASE}{path}?{query}"), &[], None).await;
                assert!(answer.status.as_u16() < 500, "{path}?{query}: {}", answer.text);
            }
        }
    }
}
