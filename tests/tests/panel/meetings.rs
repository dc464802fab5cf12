use super::{id, listed};
use civitas_kernel::{MeetingId, OrganizationId, clock};
use civitas_meetings::Meeting;
use civitas_tests::Service;
use civitas_tests::panel::{Form, PanelClient};
use time::Duration;

/// The path of the meetings of the first city.
fn list(service: &Service) -> String {
    super::city(service) + "/meetings"
}

/// The form of a new meeting, filled in.
async fn filled(service: &Service, panel: &PanelClient, title: &str) -> Form {
    let list = list(service);
    let page = format!("{list}/new?in={}", service.id("component", "meetings"));
    let form = panel.get(&page).await.is(200).form(&list);
    form.set("meeting[title][en]", title).set("meeting[start_time]", "2027-01-10T18:00")
}

async fn meeting(service: &Service, panel: &PanelClient, title: &str) -> String {
    panel.create(&filled(service, panel, title).await).await
}

async fn stored(service: &Service, path: &str) -> Meeting {
    let city = OrganizationId(service.id("organization", "city"));
    service.store.meetings().find(city, MeetingId(id(path))).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_meeting_is_created_in_the_zone_of_the_organization_and_published() {
    for (service, panel) in super::panels().await {
        let city = super::city(&service);
        let settings = panel.edit(&city).await;
        panel.send(&settings.set("organization[time_zone]", "Europe/Madrid")).await.is(302);
        let form = filled(&service, &panel, "Kick-off").await;
        let form = form
            .set("meeting[title][fr]", "Lancement")
            .set("meeting[description][en]", "<p>Come & see.</p>")
            .set("meeting[end_time]", "2027-01-10T20:30");
        let path = panel.create(&form).await;
        let machine = service.machine().await;
        machine.get(&format!("/meetings/{}", id(&path))).await.is(404);
        panel.get(&list(&service)).await.is(200).shows("Kick-off").shows("10 Jan 2027, 18:00");

        panel.press(&path, "publish").await.shows("“Kick-off” is published.").shows("Published");
        let answer = machine.get(&format!("/meetings/{}", id(&path))).await.is(200);
        let attributes = &answer.data()["attributes"];
        assert_eq!(attributes["title"]["fr"], "Lancement");
        assert_eq!(attributes["description"]["en"], "<p>Come & see.</p>");
        assert_eq!(attributes["start_time"], "2027-01-10T17:00:00Z");
        assert_eq!(attributes["end_time"], "2027-01-10T19:30:00Z");

        let form = panel.edit(&path).await;
        assert_eq!(form.values("meeting[start_time]"), ["2027-01-10T18:00"]);
        let form = form.set("meeting[start_time]", "2027-07-10T18:00").set("meeting[end_time]", "");
        panel.send(&form.set("meeting[title][fr]", " ")).await.is(302);
        let answer = machine.get(&format!("/meetings/{}", id(&path))).await.is(200);
        let attributes = &answer.data()["attributes"];
        assert_eq!(attributes["start_time"], "2027-07-10T16:00:00Z", "in summer");
        assert!(attributes["end_time"].is_null() && attributes["title"].get("fr").is_none());
        panel.press(&path, "unpublish").await.shows("is not published any more").shows("Not published");
        machine.get(&format!("/meetings/{}", id(&path))).await.is(404);
        let audit = panel.get("/system/audit_log").await.is(200);
        audit.shows("Meeting created").shows("Meeting updated").shows("start_time").shows("published_at");
    }
}

#[tokio::test]
async fn a_refused_meeting_keeps_what_was_typed() {
    for (service, panel) in super::panels().await {
        let form = filled(&service, &panel, "Kick-off").await;
        let form = form
            .set("meeting[title][fr]", "Lancement")
            .set("meeting[description][en]", "\"Come\"\n<b>second</b> line")
            .set("meeting[end_time]", "2027-01-10T20:00")
            .set("meeting[audience]", "private");
        let (long, other) = ("x".repeat(256), service.id("component", "news").to_string());
        let foreign = service.id_in("town", "component", "meetings").to_string();
        let kept = ["meeting[title][fr]", "meeting[description][en]", "meeting[audience]"];
        for (field, value, problem) in [
            ("meeting[title][en]", " ", "Enter a text."),
            ("meeting[title][en]", &long, "Enter at most"),
            ("meeting[start_time]", "", "Enter a date with a time."),
            ("meeting[start_time]", "tomorrow", "Enter a date with a time."),
            ("meeting[start_time]", "0000-01-01T00:00", "Enter a date with a time."),
            ("meeting[end_time]", "2027-01-10T17:59", "Enter an end that is not before the start."),
            ("meeting[end_time]", "later", "Enter a date with a time."),
            ("meeting[audience]", "nobody", "Choose one of the values offered."),
            ("meeting[component]", "", "Choose one."),
            ("meeting[component]", &other, "Choose one."),
            ("meeting[component]", &foreign, "Choose one."),
        ] {
            let sent = form.clone().replace(field, value);
            let sent = sent.replace("authenticity_token", &panel.token().await);
            let again = panel.send(&sent).await.is(422).shows(problem).form(&list(&service));
            for name in kept.iter().filter(|name| **name != field) {
                assert_eq!(again.values(name), sent.values(name), "{name} after {field} = {value:?}");
            }
        }
        panel.get(&list(&service)).await.is(200).shows("No meetings yet");
        let path = panel.create(&form).await;
        let before = stored(&service, &path).await;
        assert!(before.private && !before.transparent && before.published_at.is_none());
        // An existing one too; and a form that is late is told so.
        let form = panel.edit(&path).await;
        let wrong =
            form.clone().set("meeting[start_time]", "2027-01-10T21:00").set("meeting[title][fr]", "X");
        let again = panel.send(&wrong).await.is(422).shows("Enter an end").form(&path);
        assert_eq!(again.values("meeting[title][fr]"), ["X"]);
        assert_eq!(stored(&service, &path).await, before);
        super::refuses_a_late_form(&panel, &path, "meeting[title][en]").await;
        assert_eq!(stored(&service, &path).await.title.title(civitas_kernel::Locale::EN), Some("First"));
        // A form without changes changes nothing.
        let before = stored(&service, &path).await;
        panel.send(&panel.edit(&path).await).await.is(302);
        assert_eq!(stored(&service, &path).await, before);
    }
}

#[tokio::test]
async fn meetings_of_another_organization_are_not_found() {
    for (service, panel) in super::panels().await {
        let own = meeting(&service, &panel, "Kick-off").await;
        let pages = ["edit", "delete", "withdraw", "registrations"];
        let acts = ["publish", "unpublish", "hide", "show", "withdraw", "registrations"];
        super::is_of_the_city_alone(&service, &panel, &own, &pages, &acts).await;
        assert_eq!(stored(&service, &own).await.deleted_at, None);
    }
}

#[tokio::test]
async fn a_meeting_is_hidden_cancelled_and_deleted() {
    for (service, panel) in super::panels().await {
        let path = meeting(&service, &panel, "Kick-off").await;
        panel.press(&path, "publish").await;
        let machine = service.machine().await;
        let own = format!("/meetings/{}", id(&path));
        panel.press(&path, "hide").await.shows("“Kick-off” is hidden.");
        machine.get(&own).await.is(404);
        panel.press(&path, "show").await.shows("is shown again");
        machine.get(&own).await.is(200);

        let ask = panel.get(&format!("{path}/withdraw")).await.is(200).shows("Cancel “Kick-off”?");
        assert_eq!(stored(&service, &path).await.withdrawn_at, None);
        let sent = panel.send(&ask.form(&format!("{path}/withdraw"))).await.is(302);
        panel.follow(&sent).await.is(200).shows("“Kick-off” is cancelled.").shows("Cancelled");
        machine.get(&own).await.is(200);
        assert!(stored(&service, &path).await.withdrawn_at.is_some());

        let ask = panel.get(&format!("{path}/delete")).await.is(200).shows("0 registrations are lost");
        let sent = panel.send(&ask.form(&path)).await.leads_to(&list(&service));
        panel.follow(&sent).await.is(200).shows("“Kick-off” is deleted.").shows("No meetings yet");
        machine.get(&own).await.is(404);
        panel.get(&format!("{path}/edit")).await.is(404);
        panel.act("DELETE", &path, &[]).await.is(404);
        panel.get("/system/audit_log").await.is(200).shows("Meeting deleted").shows("withdrawn_at");
    }
}

#[tokio::test]
async fn a_meeting_that_moves_is_reminded_of_again() {
    for (service, panel) in super::panels().await {
        let path = meeting(&service, &panel, "Kick-off").await;
        panel.press(&path, "publish").await;
        let (city, own) = (OrganizationId(service.id("organization", "city")), MeetingId(id(&path)));
        let (now, until) = (clock::now(), clock::now() + Duration::hours(48));
        let claim = async || service.store.reminders().claim(city, own, now, until).await.unwrap();
        let start = async |after: Duration| {
            let at = now + after;
            let (date, hour, minute) = (at.date(), at.hour(), at.minute());
            let form = panel.edit(&path).await;
            let form = form.set("meeting[start_time]", &format!("{date}T{hour:02}:{minute:02}"));
            panel.send(&form).await.is(302);
        };
        assert!(!claim().await, "it begins later");
        start(Duration::hours(20)).await;
        assert!(claim().await);
        assert!(!claim().await);
        let form = panel.edit(&path).await.set("meeting[title][en]", "Walk");
        panel.send(&form).await.is(302);
        assert!(!claim().await, "another title is no other start");
        start(Duration::hours(30)).await;
        panel.press(&path, "unpublish").await;
        assert!(!claim().await, "it is not published");
        panel.press(&path, "publish").await;
        assert!(claim().await);
        start(Duration::hours(40)).await;
        panel.press(&path, "withdraw").await;
        assert!(!claim().await, "it is cancelled");
    }
}

#[tokio::test]
async fn meetings_are_searched_filtered_and_sorted() {
    for (service, panel) in super::panels().await {
        let list = list(&service);
        let past = filled(&service, &panel, "Past 100%").await.set("meeting[start_time]", "2020-01-10T18:00");
        let past = panel.create(&past).await;
        let walk = meeting(&service, &panel, "Walk").await;
        panel.press(&walk, "publish").await;
        panel.press(&past, "hide").await;
        let (first, second) = (id(&past), id(&walk));
        let component = service.id("component", "meetings");
        let (days, streets) = (service.id("space", "days"), service.id("space", "streets"));
        for (query, expected) in [
            ("", vec![second, first]),
            ("sort=earliest", vec![first, second]),
            ("time=upcoming", vec![second]),
            ("time=past", vec![first]),
            ("state=published", vec![second]),
            ("state=not-published", vec![first]),
            ("state=hidden", vec![first]),
            ("state=withdrawn", vec![]),
            ("state=unknown&in=x%2Fy", vec![second, first]),
            ("q=0%25", vec![first]),
            ("q=WALK", vec![second]),
            ("q=nothing", vec![]),
            (&format!("in={component}"), vec![second, first]),
            (&format!("in=conferences%2F{days}"), vec![second, first]),
            (&format!("in=participatory_processes%2F{streets}"), vec![]),
            ("page=2", vec![]),
        ] {
            assert_eq!(listed(&panel, &list, query).await, expected, "{query}");
        }
        panel.get(&format!("{list}?q=nothing")).await.is(200).shows("No meeting matches");
    }
}

#[tokio::test]
async fn registered_people_see_a_private_meeting() {
    for (service, panel) in super::panels().await {
        let form = filled(&service, &panel, "Closed").await.set("meeting[audience]", "private");
        let path = panel.create(&form).await;
        panel.press(&path, "publish").await;
        let nora = service.user("norablum").await;
        let own = format!("/meetings/{}", id(&path));
        nora.get(&own).await.is(404);
        let page = format!("{path}/registrations");
        let form = panel.get(&page).await.is(200).shows("Nobody is registered").form(&page);
        for unknown in ["", "nobody", "0", "99999999999999999999"] {
            let form = form.clone().set("registration[person]", unknown);
            let form = form.replace("authenticity_token", &panel.token().await);
            let again = panel.send(&form).await.is(422).shows("No person of the organization");
            assert_eq!(again.form(&page).values("registration[person]"), [unknown]);
        }
        let foreign = service.id_in("town", "user", "norablum").to_string();
        panel.act("POST", &page, &[("registration[person]", &foreign)]).await.is(422);
        let sent = panel.send(&form.set("registration[person]", "@NoraBlum")).await.leads_to(&page);
        let shown = panel.follow(&sent).await.is(200).shows("Norablum is registered.");
        nora.get(&own).await.is(200);
        let member = service.id("user", "member_one").to_string();
        panel.act("POST", &page, &[("registration[person]", &member)]).await.is(302);
        panel.get(&page).await.is(200).shows("2 registered people").shows("Member One");
        panel.get(&format!("{path}/delete")).await.is(200).shows("2 registrations are lost");

        let end = format!("{page}/{}", service.id("user", "norablum"));
        let sent = panel.send(&shown.form(&end)).await.leads_to(&page);
        panel.follow(&sent).await.is(200).shows("Norablum is not registered any more.");
        nora.get(&own).await.is(404);
        panel.act("DELETE", &end, &[]).await.is(404);
        panel.get("/system/audit_log").await.is(200).shows("registrations");
    }
}
