//! Every list of the document follows the same rules (contract 01 §6 to §8): unknown filters, orders, totals, links.

use civitas_application::SiteSettings;
use civitas_tests::service::{Answer, BASE, CITIES, Client, SYSTEM_CLIENTS, Service};
use reqwest::Method;
use serde_json::{Value, json};

/// Records of lists that the other archives do not have.
const MORE: &str = r#"
{"type": "post", "ref": "first", "organization": "city", "component": "news", "title": {"en": "First"}, "body": {"en": "B"}, "author": "maryadmin", "published_at": "2026-02-02T08:00:00Z"}
{"type": "post", "ref": "second", "organization": "city", "component": "news", "title": {"en": "Second"}, "body": {"en": "B"}, "author": "maryadmin", "published_at": "2026-02-01T08:00:00Z"}
{"type": "attachment", "ref": "plan", "organization": "city", "attached_to": {"type": "proposal", "ref": "p1"}, "title": {"en": "Plan"}, "data": "aGVsbG8gd29ybGQK", "filename": "plan.txt"}
{"type": "attachment", "ref": "map", "organization": "city", "attached_to": {"type": "proposal", "ref": "p2"}, "title": {"en": "Map"}, "data": "aGVsbG8gd29ybGQK", "filename": "map.txt"}
{"type": "webhook_registration", "ref": "hook", "organization": "city", "api_client": "full", "url": "https://hooks.example/civitas", "subscriptions": ["proposal_creation.succeeded"], "signing_secret": "a-signing-secret-of-the-city"}
"#;

/// A list of the document.
struct List {
    /// Its address below the base, with the filters that it requires, and `?` or `&` at the end.
    address: String,
    client: Client,
    /// Its operation.
    operation: Value,
}

/// All lists of the document: what answers `data`, an array, beside `meta`.
async fn lists(service: &Service) -> Vec<List> {
    let document: Value = serde_json::from_str(&civitas_api::openapi(&SiteSettings::default())).unwrap();
    let mut lists = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let content = &item["get"]["responses"]["200"]["content"]["application/json"];
        let Some(schema) = content["schema"]["$ref"].as_str().and_then(|name| name.strip_prefix('#')) else {
            continue;
        };
        let members = &document.pointer(schema).unwrap()["properties"];
        if members["data"]["type"] != "array" || members["meta"].is_null() {
            continue;
        }
        let client = match path.as_str() {
            "/organizations" => service.anonymous().of_system("whole_deployment").await,
            "/vote_proposals" => service.user("luisortega").await,
            _ => service.machine().await,
        };
        let mut address = format!("{path}?");
        for parameter in item["get"]["parameters"].as_array().unwrap() {
            if parameter["required"] == true {
                let name = parameter["name"].as_str().unwrap();
                let id = match name {
                    "filter[questionnaire_id]" => service.id("questionnaire", "poll"),
                    "filter[question_id]" => service.id("question", "one"),
                    other => panic!("{path} requires {other}"),
                };
                address = format!("{address}{name}={id}&");
            }
        }
        lists.push(List { address, client, operation: item["get"].clone() });
    }
    lists
}

impl List {
    async fn get(&self, query: &str) -> Answer {
        self.client.get(&format!("{}{query}", self.address)).await
    }

    async fn counted(&self, method: Method, query: &str, headers: &[(&str, &str)]) -> Answer {
        let headers = [headers, &[("prefer", "respond-async, Count=exact;x=y")]].concat();
        self.client.send(method, &format!("{}{query}", self.address), &headers, None).await
    }

    /// The rows of all pages: each page has the address of the next one.
    async fn rows(&self, query: &str) -> Vec<Value> {
        let mut next = Some(format!("{}{query}&per_page=5", self.address));
        let mut rows = Vec::new();
        while let Some(address) = next {
            let page = self.client.get(&address).await.is(200);
            assert_eq!(page.header("per-page"), "5", "{address}");
            rows.extend(page.data().as_array().unwrap().iter().cloned());
            next = link(&page, "next");
            assert_eq!(page.body["meta"]["has_more"], next.is_some(), "{address}");
        }
        rows
    }
}

/// The address below the base of a page in the header `Link`.
fn link(answer: &Answer, rel: &str) -> Option<String> {
    let rel = format!(">; rel=\"{rel}\"");
    let found = answer.header("link").split(", ").find_map(|link| link.strip_prefix('<')?.strip_suffix(&rel));
    found.map(|address| address.split_once(BASE).unwrap().1.to_owned())
}

/// A member of a row.
fn member<'a>(row: &'a Value, name: &str) -> Option<&'a str> {
    row["attributes"].get(name).or_else(|| row.get(name)).and_then(Value::as_str)
}

fn ids(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| member(row, "id").unwrap()).collect()
}

/// Services whose lists all have rows.
async fn services() -> Vec<Service> {
    let forms = include_str!("../../fixtures/forms.ndjson");
    let archive = [CITIES, forms, SYSTEM_CLIENTS, MORE.trim_start()].concat();
    let services = Service::on_both_engines_with(&archive, &[]).await;
    for service in &services {
        let machine = service.machine().await;
        let path = format!("/components/{}/extended_data", service.id("component", "ideas"));
        for number in 0..3 {
            let accepted = machine.put(&path, &json!({"object_path": "n", "data": number})).await.is(202);
            assert_eq!(machine.finished(&accepted).await["status"], "completed");
        }
    }
    services
}

#[tokio::test]
async fn every_list_refuses_filters_and_orders_that_it_does_not_know() {
    for service in services().await {
        let lists = lists(&service).await;
        assert!(lists.len() >= 21, "only {} lists", lists.len());
        for list in lists {
            for filter in ["nonsense", "nonsense_eq", "id_nonsense", "created_at_start"] {
                let refused = list.get(&format!("filter[{filter}]=1")).await;
                refused.refuses(400, &format!("Unknown filter: {filter}"));
            }
            if list.address.starts_with("/blogs") {
                list.get("filter[state_eq]=x").await.is(200);
            }
            for (query, sentence) in [
                ("order=nonsense", "Unknown order nonsense"),
                ("order=", "Unknown order "),
                ("order=id&order_direction=up", "Unknown order direction up"),
                ("order_direction=up", "Unknown order direction up"),
            ] {
                list.get(query).await.refuses(400, sentence);
            }
            let parameters = list.operation["parameters"].as_array().unwrap();
            for name in ["order", "order_direction", "page", "per_page", "Prefer"] {
                assert!(parameters.iter().any(|known| known["name"] == name), "{} {name}", list.address);
            }
            let headers = &list.operation["responses"]["200"]["headers"];
            for name in ["Link", "Per-Page", "Total", "Preference-Applied", "ETag"] {
                assert!(headers[name].is_object(), "{} {name}", list.address);
            }
        }
    }
}

#[tokio::test]
async fn every_list_is_counted_if_this_is_asked() {
    for service in services().await {
        for list in lists(&service).await {
            let path = &list.address;
            let plain = list.get("per_page=5").await.is(200);
            assert_eq!((plain.header("total"), plain.header("preference-applied")), ("", ""), "{path}");
            assert_eq!(link(&plain, "last"), None, "{path}");
            assert!(plain.header("vary").contains("Prefer"), "{path}");
            let rows = list.rows("").await;
            assert!(!rows.is_empty(), "{path}");
            let counted = list.counted(Method::GET, "per_page=5", &[]).await.is(200);
            let total = rows.len().to_string();
            assert_eq!(counted.header("total"), total, "{path}");
            assert_eq!(counted.header("preference-applied"), "count=exact", "{path}");
            assert_eq!(counted.body, plain.body, "{path}");
            assert_ne!(counted.header("etag"), plain.header("etag"), "{path}");
            for (rel, has) in [("first", true), ("prev", false), ("next", rows.len() > 5), ("last", true)] {
                assert_eq!(link(&counted, rel).is_some(), has, "{path} {rel}");
            }
            let first = list.client.get(&link(&counted, "first").unwrap()).await.is(200);
            assert_eq!(first.data(), plain.data(), "{path}");
            let last = list.client.get(&link(&counted, "last").unwrap()).await.is(200);
            let on_last = (rows.len() - 1) % 5 + 1;
            assert_eq!(ids(last.data().as_array().unwrap()), ids(&rows)[rows.len() - on_last..], "{path}");
            assert_eq!(last.body["meta"]["has_more"], false, "{path}");
            let beyond = list.counted(Method::GET, "per_page=5&page=99", &[]).await.is(200);
            assert_eq!((beyond.header("total"), beyond.data()), (total.as_str(), &json!([])), "{path}");
            assert!(link(&beyond, "prev").is_some(), "{path}");

            let headers = ["etag", "vary", "link", "per-page", "total", "preference-applied"];
            let seen = |answer: &Answer| headers.map(|name| answer.header(name).to_owned());
            let tag = counted.header("etag");
            let fresh = list.counted(Method::GET, "per_page=5", &[("if-none-match", tag)]).await.is(304);
            let head = list.counted(Method::HEAD, "per_page=5", &[]).await.is(200);
            assert_eq!([seen(&fresh), seen(&head)], [seen(&counted), seen(&counted)], "{path}");
            let uncounted = [("if-none-match", tag)];
            let address = format!("{path}per_page=5");
            list.client.send(Method::GET, &address, &uncounted, None).await.is(200);
        }
    }
}

#[tokio::test]
async fn every_list_is_ordered_by_its_id_and_times() {
    for service in services().await {
        for list in lists(&service).await {
            let rows = list.rows("").await;
            let mut all = ids(&rows);
            all.sort_unstable();
            for column in ["id", "created_at", "updated_at"] {
                let context = format!("{} {column}", list.address);
                let up = list.rows(&format!("order={column}")).await;
                let same = list.rows(&format!("order={column}&order_direction=asc")).await;
                assert_eq!(ids(&up), ids(&same), "{context}");
                let down = list.rows(&format!("order={column}&order_direction=desc")).await;
                for rows in [&up, &down] {
                    let mut found = ids(rows);
                    found.sort_unstable();
                    assert_eq!(found, all, "{context}");
                }
                if column == "id" {
                    assert!(ids(&up).iter().eq(ids(&down).iter().rev()), "{context}");
                    let numbers: Result<Vec<i64>, _> = ids(&up).iter().map(|id| id.parse::<i64>()).collect();
                    assert!(numbers.is_ok_and(|ids| ids.is_sorted()) || has_other_ids(&list), "{context}");
                    continue;
                }
                // A time without fractions of a second hides the order of ids within a second.
                let times = |rows: &[Value]| -> Vec<String> {
                    rows.iter().filter_map(|row| member(row, column)).map(str::to_owned).collect()
                };
                assert!(times(&up).is_sorted(), "{context}: {:?}", times(&up));
                assert!(times(&down).is_sorted_by(|a, b| a >= b), "{context}: {:?}", times(&down));
            }
        }
    }
}

/// Whether the ids of a list are no numbers.
fn has_other_ids(list: &List) -> bool {
    ["/jobs", "/roles"].iter().any(|path| list.address.starts_with(path))
}

#[tokio::test]
async fn a_random_order_has_a_total_and_no_last_page() {
    for service in services().await {
        let machine = service.machine().await;
        for path in ["/proposals", "/meetings", "/blogs"] {
            let path = format!("{path}?order=rand");
            let shuffled = machine.send(Method::GET, &path, &[("prefer", "count=exact")], None).await.is(200);
            assert_ne!(shuffled.header("total"), "", "{path}");
            assert!(link(&shuffled, "next").is_some() && link(&shuffled, "last").is_none(), "{path}");
        }
    }
}
