use super::surveys::{answer, panels, poll, shown, times};
use civitas_tests::Service;
use civitas_tests::panel::{Form, PanelClient};
use serde_json::Value;

fn question(service: &Service, name: &str) -> String {
    format!("{}/questions/{}", poll(service), service.id("question", name))
}

/// The form of a question of the poll.
async fn open(service: &Service, panel: &PanelClient, name: &str) -> Form {
    let page = format!("{}?question={}", poll(service), service.id("question", name));
    panel.get(&page).await.is(200).form(&question(service, name))
}

#[tokio::test]
async fn a_question_is_changed_with_its_options_and_conditions() {
    for (service, panel) in panels().await {
        let (l1, l3) = (service.id("answer_option", "l1"), service.id("answer_option", "l3"));
        let form = open(&service, &panel, "many").await;
        assert_eq!(form.values("conditions[0][option]"), [service.id("answer_option", "bus").to_string()]);
        let form = form
            .set("question[body][en]", "Which lines?")
            .set("question[description][en]", "Two at most")
            .tick("question[mandatory]", "1", true)
            .set(&format!("options[{l1}][en]"), "Line 1")
            .tick(&format!("options[{l3}][_destroy]"), "1", true)
            .set("options[new-1][en]", "Line 4")
            .set("conditions[0][type]", "not_equal");
        let more = form.with("_do", "more_options");
        let id = service.id("question", "many");
        let next = format!("{}?question={id}&options=5#options", poll(&service));
        panel.send(&more).await.leads_to(&next);
        let page = panel.get(next.split('#').next().unwrap()).await.is(200);
        assert!(page.form(&question(&service, "many")).values("options[new-5][en]") == [""]);
        let element = shown(&service, service.id("questionnaire", "poll")).await;
        let element = element["attributes"]["ui"]["elements"][3].clone();
        let choices = element["options"]["choices"].as_array().unwrap();
        let texts: Vec<&str> =
            choices.iter().map(|one| one["translations"]["en"].as_str().unwrap()).collect();
        assert_eq!(
            (element["label"].as_str(), texts),
            (Some("Which lines?"), vec!["Line 1", "L2", "Line 4"])
        );
        assert!(element["rule"]["condition"]["schema"]["not"].is_object());
        // A condition without a question is removed.
        let form = open(&service, &panel, "many").await.set("conditions[0][question]", "");
        panel.send(&form).await.is(302);
        let element = shown(&service, service.id("questionnaire", "poll")).await;
        assert!(element["attributes"]["ui"]["elements"][3]["rule"].is_null());
        assert_eq!(times(&service, "survey.updated").await, 2);
    }
}

#[tokio::test]
async fn rows_of_a_matrix_are_added_removed_and_put_in_order() {
    for (service, panel) in panels().await {
        let form = open(&service, &panel, "grid").await;
        let fields = form.typed_fields();
        let first = fields.iter().find(|name| name.starts_with("rows[") && name.ends_with("][en]")).unwrap();
        let first = first.trim_end_matches("[en]").to_owned();
        let form = form
            .set(&format!("{first}[position]"), "9")
            .set("rows[new-1][en]", "Cheap")
            .set("rows[new-1][position]", "1");
        panel.send(&form).await.is(302);
        let rows = async || {
            let own = shown(&service, service.id("questionnaire", "poll")).await;
            let rows = own["attributes"]["ui"]["elements"][5]["options"]["matrix"]["rows"].clone();
            let rows = rows.as_array().unwrap().clone();
            rows.iter().map(|row| row["translations"]["en"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(rows().await, ["Cheap", "Clean", "Safe"]);
        let form = open(&service, &panel, "grid").await.tick(&format!("{first}[_destroy]"), "1", true);
        panel.send(&form).await.is(302);
        assert_eq!(rows().await, ["Cheap", "Clean"]);
        let wrong = open(&service, &panel, "grid")
            .await
            .set("rows[new-1][en]", "x")
            .set("rows[new-1][position]", "0");
        let refused = panel.send(&wrong).await.is(422);
        assert_eq!(refused.form(&question(&service, "grid")).values("rows[new-1][en]"), ["x"]);
    }
}

#[tokio::test]
async fn a_refused_question_keeps_what_was_typed_beside_its_problem() {
    for (service, panel) in panels().await {
        let bus = service.id("answer_option", "bus");
        let form = open(&service, &panel, "many").await;
        let form = form.set("options[new-1][en]", "Kept").set("question[description][en]", "Also kept");
        for (field, value) in [
            ("question[body][en]", ""),
            ("question[max_choices]", "0"),
            ("question[max_choices]", "many"),
            ("question[question_type]", "essay"),
            ("conditions[0][option]", ""),
            ("conditions[0][type]", "like"),
            ("conditions[0][type]", "match"),
            ("conditions[0][question]", "99999999"),
        ] {
            let refused = panel.send(&form.clone().replace(field, value)).await;
            assert_eq!(refused.status, 422, "{field} = {value:?}");
            let again = refused.form(&question(&service, "many"));
            assert_eq!(again.values("options[new-1][en]"), ["Kept"], "{field}");
            assert_eq!(again.values("question[description][en]"), ["Also kept"], "{field}");
        }
        // The option of another question is not changed.
        let foreign = form.with(&format!("options[{bus}][en]"), "Stolen");
        panel.send(&foreign).await.is(302);
        let own = shown(&service, service.id("questionnaire", "poll")).await.to_string();
        assert!(own.contains("BUS") && !own.contains("Stolen"));
    }
}

#[tokio::test]
async fn the_type_is_locked_once_there_are_answers() {
    for (service, panel) in panels().await {
        let id = answer(&service, "By tram").await;
        let form = open(&service, &panel, "tail").await.set("question[question_type]", "separator");
        panel.send(&form).await.is(302);
        let form = open(&service, &panel, "text").await;
        let before = form.clone().with("question[question_type]", "files");
        assert!(form.values("question[question_type]").is_empty());
        let refused = panel.send(&before).await.is(422);
        refused.shows("The type cannot change: the question has answers.");
        panel.send(&form.set("question[body][en]", "How now?")).await.is(302);
        panel
            .get(&format!("{}/responses/{id}", poll(&service)))
            .await
            .is(200)
            .shows("How now?")
            .shows("By tram");
    }
}

#[tokio::test]
async fn a_question_that_goes_says_what_goes_with_it() {
    for (service, panel) in panels().await {
        answer(&service, "By tram").await;
        let id = service.id("question", "one");
        let page = panel.get(&format!("{}?question={id}", poll(&service))).await.is(200);
        page.shows("The condition of question 4 loses this option and then never holds.");
        let own = question(&service, "one");
        let page = panel.get(&format!("{own}/delete")).await.is(200);
        let page =
            page.shows("2 answers to the question are deleted").shows("1 condition of another question");
        let form = page.shows("2 options are deleted").form(&own);
        shown(&service, service.id("questionnaire", "poll")).await;
        panel.send(&form).await.leads_to(&poll(&service));
        let own = shown(&service, service.id("questionnaire", "poll")).await;
        assert!(own["attributes"]["schema"]["properties"][id.to_string()].is_null());
        assert!(own["attributes"]["ui"]["elements"][2]["rule"].is_null());
        assert_eq!(times(&service, "survey.updated").await, 1);
        panel.send(&form).await.is(403);
        panel.get(&format!("{}/delete", question(&service, "one"))).await.is(404);
    }
}

#[tokio::test]
async fn a_question_moves_by_one_place_but_not_before_its_condition() {
    for (service, panel) in panels().await {
        let labels = async || {
            let own = shown(&service, service.id("questionnaire", "poll")).await;
            let elements = own["attributes"]["ui"]["elements"].as_array().unwrap().clone();
            let label = |one: &Value| one["label"].as_str().or(one["text"].as_str()).unwrap().to_owned();
            elements.iter().take(4).map(label).collect::<Vec<_>>()
        };
        assert_eq!(labels().await, ["About you", "How?", "Which?", "Lines?"]);
        let shift = async |name: &str, direction: &str| {
            let path = format!("{}/move", question(&service, name));
            panel.act("POST", &path, &[("direction", direction)]).await
        };
        shift("text", "up").await.leads_to(&poll(&service));
        assert_eq!(labels().await, ["How?", "About you", "Which?", "Lines?"]);
        shift("one", "down").await.is(422).shows("cannot come before the question that its condition names");
        shift("many", "up").await.is(422);
        shift("text", "aside").await.is(422);
        shift("text", "up").await.is(302);
        assert_eq!(labels().await, ["How?", "About you", "Which?", "Lines?"]);
        assert_eq!(times(&service, "survey.updated").await, 1);
    }
}
