use super::{id, listed};
use civitas_blogs::Post;
use civitas_kernel::{ComponentId, Locale, OrganizationId, PostId, Translated, clock};
use civitas_tests::Service;
use civitas_tests::panel::{Form, PanelClient};
use serde_json::json;

/// The path of the posts of the first city.
fn list(service: &Service) -> String {
    super::city(service) + "/posts"
}

/// The form of a new post, filled in.
async fn filled(service: &Service, panel: &PanelClient, title: &str) -> Form {
    let list = list(service);
    let page = format!("{list}/new?in={}", service.id("component", "news"));
    let form = panel.get(&page).await.is(200).form(&list);
    form.set("post[title][en]", title).set("post[body][en]", "<p>From Monday on.</p>")
}

async fn stored(service: &Service, path: &str) -> Post {
    let city = OrganizationId(service.id("organization", "city"));
    service.store.posts().find(city, PostId(id(path))).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_post_of_the_organization_is_scheduled_published_and_deleted() {
    for (service, panel) in super::panels().await {
        let machine = service.machine().await;
        let form = filled(&service, &panel, "Works start").await;
        let path = panel.create(&form.set("post[published_at]", "2099-03-01T08:00")).await;
        let own = format!("/blogs/{}", id(&path));
        machine.get(&own).await.is(404);
        let page = panel.get(&list(&service)).await.is(200).shows("Scheduled").shows("1 Mar 2099, 08:00");
        page.shows("the organization");
        assert_eq!(stored(&service, &path).await.author, None);

        panel.press(&path, "publish").await.shows("“Works start” is published.").shows("Published");
        let answer = machine.get(&own).await.is(200);
        assert_eq!(answer.data()["attributes"]["body"]["en"], "<p>From Monday on.</p>");
        assert_eq!(answer.data()["meta"]["published"], true);
        panel.press(&path, "unpublish").await.shows("“Works start” is a draft.").shows("Draft");
        machine.get(&own).await.is(404);
        let form = panel.edit(&path).await.set("post[published_at]", "2026-03-01T08:00");
        panel.send(&form.set("post[title][fr]", "Travaux")).await.is(302);
        let answer = machine.get(&own).await.is(200);
        assert_eq!(answer.data()["attributes"]["title"]["fr"], "Travaux");
        assert_eq!(answer.data()["attributes"]["published_at"], "2026-03-01T08:00:00.000Z");

        panel.press(&path, "hide").await.shows("“Works start” is hidden.").shows("Hidden");
        machine.get(&own).await.is(404);
        assert!(!machine.get("/blogs").await.is(200).ids().contains(&id(&path)));
        panel.get(&format!("{}?state=hidden", list(&service))).await.is(200).shows("Works start");
        panel.get(&format!("{}?state=published", list(&service))).await.is(200).lacks("Works start");
        panel.press(&path, "show").await.shows("“Works start” is not hidden any more.").shows("Published");
        machine.get(&own).await.is(200);

        let ask = panel.get(&format!("{path}/delete")).await.is(200).shows("Delete Works start?");
        machine.get(&own).await.is(200);
        let sent = panel.send(&ask.form(&path)).await.leads_to(&list(&service));
        panel.follow(&sent).await.is(200).shows("“Works start” is deleted.").shows("No posts yet");
        machine.get(&own).await.is(404);
        panel.get(&format!("{path}/edit")).await.is(404);
        panel.act("POST", &format!("{path}/publish"), &[]).await.is(404);
        let audit = panel.get("/system/audit_log").await.is(200);
        audit.shows("Post created").shows("Post updated").shows("Post deleted").shows("published_at");
    }
}

#[tokio::test]
async fn a_refused_post_keeps_what_was_typed() {
    for (service, panel) in super::panels().await {
        let form = filled(&service, &panel, "Works").await.set("post[title][fr]", "Travaux");
        let (long, other) = ("x".repeat(256), service.id("component", "meetings").to_string());
        let foreign = service.id_in("town", "component", "news").to_string();
        for (field, value, problem) in [
            ("post[title][en]", "", "Enter a text."),
            ("post[title][en]", &long, "Enter at most"),
            ("post[body][en]", " ", "Enter a text."),
            ("post[published_at]", "soon", "Enter a date with a time."),
            ("post[component]", "", "Choose one."),
            ("post[component]", &other, "Choose one."),
            ("post[component]", &foreign, "Choose one."),
        ] {
            let sent = form.clone().replace(field, value);
            let sent = sent.replace("authenticity_token", &panel.token().await);
            let again = panel.send(&sent).await.is(422).shows(problem).form(&list(&service));
            assert_eq!(again.values("post[title][fr]"), ["Travaux"], "{field} = {value:?}");
        }
        panel.get(&list(&service)).await.is(200).shows("No posts yet");
        let path = panel.create(&form).await;
        super::refuses_a_late_form(&panel, &path, "post[title][en]").await;
        let before = stored(&service, &path).await;
        panel.send(&panel.edit(&path).await).await.is(302);
        assert_eq!(stored(&service, &path).await, before, "a form without changes changes nothing");
    }
}

#[tokio::test]
async fn a_post_of_a_user_keeps_its_author_and_the_ends_of_its_lines() {
    for (service, panel) in super::panels().await {
        let nora = service.user("norablum").await;
        let attributes = json!({"title": {"en": "Mine"}, "body": {"en": "one\r\ntwo"}});
        let body =
            json!({"data": {"component_id": service.id("component", "news"), "attributes": attributes}});
        let created = nora.post("/blogs/sync", &body).await.is(201);
        let path = format!("{}/{}", list(&service), created.data()["id"].as_str().unwrap());
        panel.get(&list(&service)).await.is(200).shows("Mine").shows("Norablum").shows("Draft");
        let form = panel.edit(&path).await.set("post[title][en]", "Mine too");
        panel.send(&form).await.is(302);
        let post = stored(&service, &path).await;
        assert_eq!(post.author.map(|user| user.0), Some(service.id("user", "norablum")));
        assert_eq!(post.body.title(Locale::EN), Some("one\r\ntwo"));
        let answer = nora.get(&format!("/blogs/{}", id(&path))).await.is(200);
        assert_eq!(answer.data()["attributes"]["title"]["en"], "Mine too");
    }
}

#[tokio::test]
async fn a_post_without_text_in_the_main_language_is_not_published() {
    for (service, panel) in super::panels().await {
        let text = |text: &str| Translated::from([(Locale::FR, text.to_owned())]);
        let component = ComponentId(service.id("component", "news"));
        let post = Post::new(component, text("Travaux"), text("Dès lundi."), clock::now());
        let city = OrganizationId(service.id("organization", "city"));
        let tx = service.store.begin().await.unwrap();
        let own = tx.posts().add(city, &post).await.unwrap();
        tx.commit().await.unwrap();
        let path = format!("{}/{own}", list(&service));
        let refused = panel.act("POST", &format!("{path}/publish"), &[]).await.is(422);
        let form = refused.shows("Enter a text.").form(&path);
        assert_eq!(form.values("post[title][fr]"), ["Travaux"]);
        assert_eq!(stored(&service, &path).await.published_at, None);
        panel.act("DELETE", &path, &[]).await.is(302);
    }
}

#[tokio::test]
async fn posts_of_another_organization_are_not_found() {
    for (service, panel) in super::panels().await {
        let own = panel.create(&filled(&service, &panel, "Works").await).await;
        let (pages, acts) = (["edit", "delete"], ["publish", "unpublish", "hide", "show"]);
        super::is_of_the_city_alone(&service, &panel, &own, &pages, &acts).await;
        assert_eq!(stored(&service, &own).await.deleted_at, None);
    }
}

#[tokio::test]
async fn a_search_finds_every_form_and_case() {
    for (service, panel) in super::panels().await {
        let list = list(&service);
        for title in ["Vélo et βορράς", "Ve\u{301}lo et ΒΟΡΡΆΣ"] {
            panel.create(&filled(&service, &panel, title).await).await;
        }
        for query in ["VÉLO", "ve\u{301}lo", "βορράσ", "ΒΟΡΡΆΣ"] {
            let query = url::form_urlencoded::byte_serialize(query.as_bytes()).collect::<String>();
            let page = panel.get(&format!("{list}?q={query}")).await.is(200);
            page.shows("Vélo et βορράς").shows("Ve\u{301}lo et ΒΟΡΡΆΣ");
        }
    }
}

#[tokio::test]
async fn posts_are_searched_filtered_and_paged() {
    for (service, panel) in super::panels().await {
        let list = list(&service);
        let mut paths = Vec::new();
        for number in 0..26 {
            let form = filled(&service, &panel, &format!("Post <{number}>")).await;
            let time = ["", "2026-01-01T08:00", "2099-01-01T08:00"][number % 3];
            paths.push(panel.create(&form.set("post[published_at]", time)).await);
        }
        let found = async |query: &str| listed(&panel, &list, query).await;
        let (first, end) = (id(&paths[0]), id(&paths[25]));
        let newest = found("").await;
        assert_eq!((newest.len(), newest[0]), (25, end));
        assert_eq!(found("page=2").await, [first]);
        assert_eq!(found("sort=oldest").await[0], first);
        assert_eq!(found("sort=oldest&page=2").await, [end]);
        for (state, number) in [("draft", 9), ("published", 9), ("scheduled", 8), ("unknown", 25)] {
            assert_eq!(found(&format!("state={state}")).await.len(), number, "{state}");
        }
        assert_eq!(found("q=%3C25%3E").await, [end]);
        assert_eq!(found(&format!("in={}&q=post", service.id("component", "news"))).await.len(), 25);
        assert_eq!(found(&format!("in={}", service.id("component", "meetings"))).await, [0; 0]);
        panel.get(&list).await.is(200).shows("Post <25>").lacks("<25>");
    }
}
