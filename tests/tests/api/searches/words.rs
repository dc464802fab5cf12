//! Words of all scripts, and terms that mean something to an index of words but nothing to people.

use super::{archive, filter, finds, id, ids, person};
use civitas_kernel::testing::text;
use civitas_kernel::{OrganizationId, ProposalId};
use civitas_proposals::Proposal;
use civitas_tests::service::{Client, Service};
use civitas_tests::{commit, replace};
use serde_json::{Value, json};

/// Titles of proposals, by their refs. Bodies have no word.
const TITLES: &[(&str, &str)] = &[
    ("velo", "Vélo pour tous"),
    ("decomposed", "Ve\u{301}lo cargo"),
    ("street", "Straße am Fluss"),
    ("capitals", "HAUPTSTRASSE"),
    ("north", "ΒΟΡΡΆΣ"),
    ("small-north", "βορράς και νότος"),
    ("izmir", "İzmir günleri"),
    ("iodine", "Йод"),
    ("game", "ИГРА"),
    ("tree", "ЁЛКА"),
    ("library", "図書館の改築"),
    ("drawing", "図工室の机"),
    ("guide", "ｶﾞｲﾄﾞ"),
    ("korean", "한국 공원"),
    ("garden", "حديقة المدينة"),
    ("cities", "مُدُن"),
    ("ligature", "ﬁn de l’été"),
    ("wide", "Ｗｉｄｅ Ⅷ"),
    ("emoji", "🌳🌳 🏳\u{fe0f}\u{200d}🌈"),
    ("percent", "100% renewable_energy"),
    ("plain", "100 renewables energy"),
    ("path", r"C:\temp"),
    ("quoted", r#"The "old" mill"#),
    ("apostrophe", "Rue d'or; DROP TABLE proposals"),
    ("star", "a*b"),
    ("near", "NEAR(river, lake)"),
    ("dash", "north-south line"),
    ("boolean", "bread AND roses"),
    ("caret", "^start of {it}"),
    ("column", "body:xyz + title : zyx"),
    ("tag", "a <b> c"),
];

/// Which titles contain a term.
const TERMS: &[(&str, &[&str])] = &[
    ("velo", &["velo", "decomposed"]),
    ("VÉLO P", &["velo"]),
    ("ve\u{301}lo c", &["decomposed"]),
    ("STRASSE", &["street", "capitals"]),
    ("straße", &["street", "capitals"]),
    ("ß", &["street", "capitals"]),
    ("STRAẞE A", &["street"]),
    ("βορρας", &["north", "small-north"]),
    ("ΒΟΡΡΆΣ", &["north", "small-north"]),
    ("βορράσ", &["north", "small-north"]),
    ("izmir", &["izmir"]),
    ("İZMİR", &["izmir"]),
    ("GUNLERI", &["izmir"]),
    ("й", &["iodine", "game"]),
    ("и", &["iodine", "game"]),
    ("И\u{306}ОД", &["iodine"]),
    ("йгра", &["game"]),
    ("елка", &["tree"]),
    ("ёЛКа", &["tree"]),
    ("図書", &["library"]),
    ("図書館", &["library"]),
    ("図", &["library", "drawing"]),
    ("の改", &["library"]),
    ("机", &["drawing"]),
    ("ガイド", &["guide"]),
    ("カ", &["guide"]),
    ("한국", &["korean"]),
    ("\u{1112}\u{1161}\u{11ab}국", &["korean"]),
    ("حديقة", &["garden"]),
    ("مدن", &["cities"]),
    ("FIN DE", &["ligature"]),
    ("ÉTÉ", &["ligature"]),
    ("wide viii", &["wide"]),
    ("🌳", &["emoji"]),
    ("🌳🌳", &["emoji"]),
    ("🏳\u{fe0f}", &["emoji"]),
    ("%", &["percent"]),
    ("100%", &["percent"]),
    ("100% r", &["percent"]),
    ("100", &["percent", "plain"]),
    ("_", &["percent"]),
    ("e_e", &["percent"]),
    ("e energy", &[]),
    (r"\", &["path"]),
    (r":\t", &["path"]),
    ("\"", &["quoted"]),
    ("\"\"", &[]),
    ("\"old\"", &["quoted"]),
    ("d\" m", &["quoted"]),
    ("'", &["apostrophe"]),
    ("'or; drop", &["apostrophe"]),
    ("*", &["star"]),
    ("a*", &["star"]),
    ("a*b", &["star"]),
    ("vel*", &[]),
    ("near", &["near"]),
    ("NEAR(river", &["near"]),
    ("NEAR(river lake)", &[]),
    ("r, l", &["near"]),
    ("-", &["dash"]),
    ("h-south", &["dash"]),
    ("north -south", &[]),
    ("bread AND roses", &["boolean"]),
    ("bread roses", &[]),
    ("bread OR roses", &[]),
    ("roses AND bread", &[]),
    ("NOT bread", &[]),
    ("^", &["caret"]),
    ("^start", &["caret"]),
    ("{it}", &["caret"]),
    ("body:xyz", &["column"]),
    ("title:velo", &[]),
    ("+ title", &["column"]),
    ("scope : ", &[]),
    ("<b>", &["tag"]),
    ("> c", &["tag"]),
];

fn line(reference: &str, title: &Value, body: &Value) -> String {
    let line = json!({"type": "proposal", "ref": reference, "organization": "metro", "component": "ideas",
        "title": title, "body": body, "published_at": "2026-03-01T09:00:00Z"});
    format!("{line}\n")
}

/// Proposals with the titles, the same ones in a town, and two more.
fn proposals() -> String {
    let mut lines = String::new();
    for (reference, title) in TITLES {
        let of_metro = line(reference, &json!({"en": title}), &json!({"en": "0"}));
        lines.push_str(&of_metro);
        lines.push_str(&of_metro.replace(r#""organization":"metro""#, r#""organization":"town""#));
    }
    let title = json!({"en": "Alphabet", "fr": "Bêtise"});
    lines.push_str(&line("translated", &title, &json!({"en": "Gamma", "fr": "<p>Delta</p>"})));
    let html = "<p>A <strong>bold</strong> plan, em<b>bold</b>ened.</p><p>Next&nbsp;paragraph &amp; more</p>\
                <a href=\"https://hidden.example\">link</a><!-- comment -->";
    lines.push_str(&line("html", &json!({"en": "7"}), &json!({"en": html})));
    let long = "Ünd ".repeat(500);
    lines.push_str(&line("long", &json!({"en": "8"}), &json!({"en": long})));
    lines
}

async fn services() -> Vec<Service> {
    Service::on_both_engines_with(&archive(&proposals()), &[]).await
}

async fn finds_proposals(service: &Service, client: &Client, key: &str, term: &str, expected: &[&str]) {
    let path = format!("/proposals?per_page=100&{}", filter(key, term));
    finds(service, client, &path, "proposal", expected).await;
}

#[tokio::test]
async fn words_of_every_script_are_found_and_no_character_is_an_operator() {
    for service in services().await {
        let ada = person(&service, "ada").await;
        for (term, expected) in TERMS {
            for key in ["title_cont", "title_i_cont", "search_text_cont", "title_or_body_i_cont"] {
                finds_proposals(&service, &ada, key, term, expected).await;
            }
            finds_proposals(&service, &ada, "body_cont", term, &[]).await;
        }
        let town = service.user_through("town", "full", "norablum").await;
        for term in ["velo", "図書"] {
            let found = ids(&town, &format!("/proposals?{}", filter("title_cont", term))).await;
            let expected: Vec<i64> = match term {
                "velo" => ["velo", "decomposed"].map(|name| service.id_in("town", "proposal", name)).into(),
                _ => vec![service.id_in("town", "proposal", "library")],
            };
            assert_eq!(found, expected, "{:?}: only those of the town", service.engine);
        }
    }
}

#[tokio::test]
async fn texts_are_found_in_every_translation_and_without_their_markup() {
    for service in services().await {
        let ada = person(&service, "ada").await;
        for (key, term, expected) in [
            ("title_cont", "ALPHA", &["translated"] as &[&str]),
            ("title_cont", "betise", &["translated"]),
            ("body_cont", "delta", &["translated"]),
            ("search_text_cont", "Gàmma", &["translated"]),
            ("search_text_cont", "bêtise", &["translated"]),
            ("title_cont", "alphabetbetise", &[]),
            ("title_cont", "gamma", &[]),
            ("search_text_cont", "alphabetgamma", &[]),
            ("body_cont", "bold", &["html"]),
            ("body_cont", "emboldened", &["html"]),
            ("body_cont", "a bold plan, embold", &["html"]),
            ("search_text_cont", "next paragraph & more", &["html"]),
            ("body_cont", "strong", &[]),
            ("body_cont", "</p>", &[]),
            ("body_cont", "emboldened.next", &[]),
            ("search_text_cont", "hidden.example", &[]),
            ("search_text_cont", "comment", &[]),
            ("search_text_cont", "nbsp", &[]),
        ] {
            finds_proposals(&service, &ada, key, term, expected).await;
        }
    }
}

#[tokio::test]
async fn the_other_predicates_of_a_search_compare_words_and_those_of_a_title_do_not() {
    for service in services().await {
        let ada = person(&service, "ada").await;
        for (key, term, expected) in [
            ("search_text_start", "VELO P", &["velo"] as &[&str]),
            ("search_text_start", "elo", &[]),
            ("search_text_start", "betise", &["translated"]),
            ("search_text", "NORTH-south line", &["dash"]),
            ("search_text_eq", "strasse am FLUSS", &["street"]),
            ("search_text_eq", "strasse", &[]),
            ("search_text_in", "βορρας", &["north"]),
            ("search_text_matches", "%strasse", &["capitals"]),
            ("search_text_matches", "%straß%", &["street", "capitals"]),
            ("search_text_matches", "100_ RENEW%", &["percent"]),
            ("search_text_matches", r"100\% renew%", &["percent"]),
            ("search_text_blank", "true", &[]),
            ("title", "Straße am Fluss", &["street"]),
            ("title", "Strasse am Fluss", &[]),
            ("title", "STRASSE AM FLUSS", &[]),
            ("title_start", "velo", &[]),
            ("title_start", "VÉLO C", &["decomposed"]),
            ("title_matches", "%STRASSE", &["capitals"]),
        ] {
            finds_proposals(&service, &ada, key, term, expected).await;
        }
        let all = ids(&ada, "/proposals?per_page=100").await;
        let path = format!("/proposals?per_page=100&{}", filter("search_text_not_eq", "VELO POUR TOUS"));
        let expected: Vec<i64> =
            all.iter().copied().filter(|found| *found != id(&service, "proposal", "velo")).collect();
        assert_eq!(ids(&ada, &path).await, expected, "{:?}", service.engine);
    }
}

#[tokio::test]
async fn terms_without_characters_filter_nothing_and_long_ones_are_terms() {
    for service in services().await {
        let ada = person(&service, "ada").await;
        let all = ids(&ada, "/proposals?per_page=100").await;
        assert_eq!(all.len(), TITLES.len() + 3);
        for term in ["", "\u{301}", "\u{301}\u{302}\u{5b0}", "\u{1f}", "\u{345}"] {
            for key in ["title_cont", "search_text_i_cont"] {
                let found = ids(&ada, &format!("/proposals?per_page=100&{}", filter(key, term))).await;
                assert_eq!(found, all, "{:?}: {term:?}", service.engine);
            }
        }
        // 5 bytes each; the searchable form has 4.
        let [most, more] = [1020, 1025].map(|length| "Ünd ".repeat(length / 5));
        finds_proposals(&service, &ada, "body_cont", &format!("{most}Und "), &["long"]).await;
        finds_proposals(&service, &ada, "body_cont", &"z".repeat(1024), &[]).await;
        finds_proposals(&service, &ada, "title_cont", &"図".repeat(341), &[]).await;
        let refused = ada.get(&format!("/proposals?{}", filter("body_cont", &more))).await;
        refused.refuses(400, "Invalid value for filter body_cont");
        ada.get(&format!("/proposals?{}", filter("title_cont", "a\0b"))).await.is(400);
    }
}

#[tokio::test]
async fn a_draft_is_found_by_its_author_and_by_all_when_it_is_published() {
    for service in services().await {
        let (ada, bob) = (person(&service, "ada").await, person(&service, "bob").await);
        let body = json!({"data": {"component_id": id(&service, "component", "ideas")}});
        let created = ada.post("/draft_proposals/sync", &body).await.is(200);
        let draft: i64 = created.data()["id"].as_str().unwrap().parse().unwrap();
        let path = format!("/draft_proposals/{draft}");
        let found = async |client: &Client, term: &str| {
            ids(client, &format!("/proposals?{}", filter("search_text_cont", term))).await
        };
        let texts = json!({"data": {"title": "Unfinished lighthouse", "body": "A lamp that all ships see"}});
        ada.put(&format!("{path}/sync"), &texts).await.is(200);
        assert_eq!((found(&ada, "LIGHTHOUSE").await, found(&bob, "lighthouse").await), (vec![draft], vec![]));
        let texts = json!({"data": {"title": "A finished beacon for ships"}});
        ada.put(&format!("{path}/sync"), &texts).await.is(200);
        assert_eq!((found(&ada, "lighthouse").await, found(&ada, "beacon").await), (vec![], vec![draft]));
        assert_eq!(found(&ada, "lamp").await, [draft]);
        ada.post(&format!("{path}/publish/sync"), &json!({})).await.is(200);
        assert_eq!(found(&bob, "beacon").await, [draft]);
    }
}

#[tokio::test]
async fn a_changed_text_is_found_by_its_new_words_and_a_hidden_one_is_not_found() {
    for service in services().await {
        let ada = person(&service, "ada").await;
        let metro = OrganizationId(id(&service, "organization", "metro"));
        let street = ProposalId(id(&service, "proposal", "street"));
        let edit = async |change: fn(Proposal) -> Proposal| {
            let done = commit(&*service.store, async |tx| {
                let before = tx.proposals().find(metro, street).await?.expect("the proposal");
                replace(tx.proposals(), metro, street, &change(before)).await
            });
            done.await.unwrap();
        };
        edit(|proposal| Proposal { title: text("Große Brücke"), ..proposal }).await;
        for (term, expected) in
            [("grosse brucke", &["street"] as &[&str]), ("straße", &["capitals"]), ("üc", &["street"])]
        {
            finds_proposals(&service, &ada, "title_cont", term, expected).await;
        }
        edit(|proposal| Proposal { hidden_at: Some(proposal.updated_at), ..proposal }).await;
        finds_proposals(&service, &ada, "title_cont", "grosse brucke", &[]).await;
        edit(|proposal| Proposal { hidden_at: None, ..proposal }).await;
        finds_proposals(&service, &ada, "search_text_cont", "grosse brucke", &["street"]).await;
        edit(|proposal| Proposal { deleted_at: Some(proposal.updated_at), ..proposal }).await;
        finds_proposals(&service, &ada, "title_cont", "ßE BR", &[]).await;
    }
}
