use super::audit::trail;
use super::city;
use civitas_audit::Action;
use civitas_tests::panel::{Form, PanelClient};
use image::{ImageFormat, RgbImage};
use std::io::Cursor;

const HELLO: &[u8] = b"hello world\n";

/// The form of a new attachment of a record such as `proposals/7`, with texts.
async fn new(panel: &PanelClient, city: &str, parent: &str) -> Form {
    let page = panel.get(&format!("{city}/attachments/new?parent={parent}")).await.is(200);
    let form = page.form(&format!("{city}/attachments"));
    form.set("attachment[title][en]", "Site plan").set("attachment[description][en]", "Scale 1:500")
}

/// The id of the newest attachment.
async fn newest(panel: &PanelClient, city: &str) -> i64 {
    let links = panel.get(&format!("{city}/attachments")).await.is(200).attributes("a", "href");
    let start = format!("{city}/attachments/");
    let id = links.iter().find_map(|href| href.strip_prefix(&start)?.strip_suffix("/edit"));
    id.unwrap().parse().unwrap()
}

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let image = RgbImage::from_pixel(width, height, image::Rgb([9, 200, 30]));
    image.write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

#[tokio::test]
async fn a_file_is_attached_served_edited_and_deleted() {
    for (service, panel) in super::panels().await {
        let (city, proposal) = (city(&service), service.id("proposal", "p2"));
        let list = format!("{city}/proposals/{proposal}/attachments");
        panel.get(&list).await.is(200).shows("No attachments yet");
        let form = new(&panel, &city, &format!("proposals/{proposal}")).await.set("attachment[weight]", "3");
        let sent = panel.send_file(&form, Some(("dir\\Pläne.TXT", HELLO))).await.leads_to(&list);
        let page = panel.follow(&sent).await.is(200).shows("“Site plan” is attached.").shows("Pläne.TXT");
        let machine = service.machine().await;
        let id = newest(&panel, &city).await;
        let shown = machine.get(&format!("/attachments/{id}")).await.is(200);
        let attributes = &shown.data()["attributes"];
        assert_eq!((&attributes["title"]["en"], &attributes["weight"]), (&"Site plan".into(), &3.into()));
        assert_eq!(attributes["attached_to"]["id"], proposal);
        assert_eq!(attributes["content_type"], "text/plain");
        let url = attributes["url"].as_str().unwrap();
        assert!(page.attributes("a", "href").iter().any(|href| href == url), "{url}");
        let edit = format!("{city}/attachments/{id}");
        let form = panel.get(&format!("{edit}/edit")).await.is(200).shows("text/plain").form(&edit);
        let form = form.set("attachment[title][fr]", "Plan").set("attachment[weight]", "-1");
        panel.send(&form).await.leads_to(&list);
        let shown = machine.get(&format!("/attachments/{id}")).await.is(200);
        let attributes = &shown.data()["attributes"];
        assert_eq!((&attributes["title"]["fr"], &attributes["weight"]), (&"Plan".into(), &(-1).into()));
        // The form is older than the attachment now.
        let late = panel.edit(&edit).await.replace("revision", "1");
        panel.send(&late).await.is(422).shows("Somebody else changed this record meanwhile.");
        let ask = panel.get(&format!("{edit}/delete")).await.is(200).shows("Pläne.TXT (12 bytes)");
        panel.send(&ask.form(&edit)).await.leads_to(&list);
        machine.get(&format!("/attachments/{id}")).await.is(404);
        panel.get(&format!("{edit}/edit")).await.is(404);
        let trail = trail(&service).await;
        let own: Vec<Action> = trail.iter().map(|entry| entry.action).take(3).collect();
        assert_eq!(own, [Action::AttachmentDeleted, Action::AttachmentUpdated, Action::AttachmentCreated]);
    }
}

/// Name and content of a file; `None`: no file is chosen.
type Sent<'a> = Option<(&'a str, &'a [u8])>;

#[tokio::test]
async fn a_refused_file_keeps_what_was_typed() {
    for (service, panel) in super::panels().await {
        let (city, proposal) = (city(&service), service.id("proposal", "p2"));
        let parent = format!("proposals/{proposal}");
        let action = format!("{city}/attachments");
        let (large, wide) = (vec![b'x'; 10 * 1024 * 1024 + 1], png(8_001, 1));
        let files: [(Sent<'_>, &str); 7] = [
            (None, "Choose a file that is not empty"),
            (Some(("empty.txt", b"")), "Choose a file that is not empty"),
            (Some(("plan.svg", b"<svg/>")), "Choose a file of one of these kinds"),
            (Some(("plan.docx", HELLO)), "Choose a file of one of these kinds"),
            (Some(("plan.png", HELLO)), "The content of the file does not fit its name"),
            (Some(("large.txt", &large)), "Choose a file of at most 10.0 MB."),
            (Some(("wide.png", &wide)), "8,000 pixels"),
        ];
        for (file, problem) in files {
            let form = new(&panel, &city, &parent).await;
            let refused = panel.send_file(&form, file).await.is(422).shows(problem);
            let again = refused.form(&action);
            for name in ["attachment[title][en]", "attachment[description][en]", "parent"] {
                assert_eq!(again.values(name), form.values(name), "{problem}");
            }
        }
        let form = new(&panel, &city, &parent).await;
        let file = Some(("plan.txt", HELLO));
        let blank = form.clone().set("attachment[title][en]", " ").set("attachment[weight]", "many");
        let refused = panel.send_file(&blank, file).await.is(422).shows("Choose the file again");
        refused.shows("Enter a text.").shows("Enter a whole number.");
        let both = form.clone().set("attachment[link]", "https://maps.example/1");
        panel.send_file(&both, file).await.is(422).shows("Choose a file or enter an address, not both.");
        for link in ["maps.example", "data:text/html,x", "ftp://maps.example"] {
            let sent = form.clone().set("attachment[link]", link);
            let refused =
                panel.send_file(&sent, None).await.is(422).shows("Enter an address that begins with");
            assert_eq!(refused.form(&action).values("attachment[link]"), [link]);
        }
        let foreign = form.clone().with("attachment[collection]", "987654");
        panel.send_file(&foreign, file).await.is(422).shows("Choose one of the values offered.");
        panel.get(&format!("{city}/attachments")).await.is(200).shows("No attachments yet");
        // The same form is accepted when it is right.
        panel.send_file(&form, file).await.is(302);
    }
}

#[tokio::test]
async fn attachments_are_found_by_text_kind_and_type() {
    for (service, panel) in super::panels().await {
        let city = city(&service);
        let (space, proposal) = (service.id("space", "streets"), service.id("proposal", "p2"));
        let picture = png(40, 30);
        let (of_city, of_space) =
            (city.rsplit_once('/').unwrap().1, format!("participatory_processes/{space}"));
        for (parent, title, link, file) in [
            (format!("organization/{of_city}"), "Statutes", "", Some(("statutes.txt", HELLO))),
            (of_space, "Map", "https://maps.example/streets", None),
            (format!("proposals/{proposal}"), "Photo", "", Some(("trees.png", picture.as_slice()))),
        ] {
            let form = new(&panel, &city, &parent).await;
            let form = form.set("attachment[title][en]", title).set("attachment[link]", link);
            panel.send_file(&form, file).await.is(302);
        }
        let list = format!("{city}/attachments");
        for (query, found) in [
            ("", vec!["Photo", "Map", "Statutes"]),
            ("?sort=oldest", vec!["Statutes", "Map", "Photo"]),
            ("?q=TREES", vec!["Photo"]),
            ("?q=maps.example", vec!["Map"]),
            ("?q=stat&type=document", vec!["Statutes"]),
            ("?kind=participatory_processes", vec!["Map"]),
            ("?kind=meetings", vec![]),
            ("?type=image", vec!["Photo"]),
            ("?type=link&kind=proposals", vec![]),
        ] {
            let page = panel.get(&format!("{list}{query}")).await.is(200);
            let content = page.content();
            let mut places: Vec<(usize, &str)> = Vec::new();
            for title in ["Statutes", "Map", "Photo"] {
                let delete = format!("Delete… {title}");
                places.extend(content.find(&delete).map(|place| (place, title)));
            }
            places.sort_unstable();
            let titles: Vec<&str> = places.into_iter().map(|(_, title)| title).collect();
            assert_eq!(titles, found, "{query}: {content}");
        }
        let tab = format!("{city}/spaces/participatory_processes/{space}/attachments");
        panel.get(&tab).await.is(200).shows("Map").lacks("statutes.txt");
    }
}

#[tokio::test]
async fn an_attachment_of_another_organization_is_not_found() {
    for (service, panel) in super::panels().await {
        let (city, town) = (city(&service), service.id_in("town", "organization", "town"));
        let town = format!("/system/organizations/{town}");
        let proposal = service.id("proposal", "p2");
        let form = new(&panel, &city, &format!("proposals/{proposal}")).await;
        panel.send_file(&form, Some(("plan.txt", HELLO))).await.is(302);
        let id = newest(&panel, &city).await;
        panel.get(&format!("{town}/attachments/{id}/edit")).await.is(404);
        panel.get(&format!("{town}/attachments/{id}/delete")).await.is(404);
        panel.act("PUT", &format!("{town}/attachments/{id}"), &[("attachment[weight]", "1")]).await.is(404);
        panel.act("DELETE", &format!("{town}/attachments/{id}"), &[]).await.is(404);
        panel.get(&format!("{town}/attachments/new?parent=proposals/{proposal}")).await.is(404);
        panel.get(&format!("{town}/proposals/{proposal}/attachments")).await.is(404);
        for parent in ["answers/1", "proposals/987654", "proposals", "organization/987654"] {
            panel.get(&format!("{city}/attachments/new?parent={parent}")).await.is(404);
        }
        panel.get(&format!("{town}/attachments")).await.is(200).shows("No attachments yet");
        // A form with a file needs a session, and its token.
        let stale = service.visitor().send_file(&form, Some(("plan.txt", HELLO))).await.is(302);
        assert!(stale.header("location").starts_with(civitas_tests::panel::SIGN_IN));
        let forged = form.replace("authenticity_token", "x");
        panel.send_file(&forged, Some(("plan.txt", HELLO))).await.is(403);
    }
}
