//! Lists of values in filters (contract 01 §6).

use civitas_accounts::User;
use civitas_kernel::records::Records;
use civitas_kernel::{Locale, OrganizationId, SpaceKind, clock};
use civitas_spaces::Space;
use civitas_tests::commit;
use civitas_tests::service::{Client, Service};
use serde_json::{Value, json};

#[tokio::test]
async fn the_values_of_a_list_can_be_written_with_indices_and_without() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let mut filled = 0;
        for (path, field) in [
            ("/proposals", "id"),
            ("/meetings", "id"),
            ("/components/search", "id"),
            ("/spaces/search", "id"),
            ("/users", "id"),
            ("/roles", "user_id"),
        ] {
            let get = async |query: &str| {
                let list = machine.get(&format!("{path}?{query}")).await.is(200).data().clone();
                list.as_array().unwrap().iter().map(|row| row["id"].clone()).collect::<Vec<_>>()
            };
            let rows = machine.get(path).await.is(200).data().as_array().unwrap().clone();
            let value = |row: &serde_json::Value| match field {
                "user_id" => row["attributes"]["user_id"].to_string(),
                _ => row["id"].as_str().unwrap().to_owned(),
            };
            let (Some(first), Some(last)) = (rows.first().map(value), rows.last().map(value)) else {
                continue;
            };
            filled += 1;
            for predicate in ["in", "not_in"] {
                let name = format!("filter[{field}_{predicate}]");
                let expected = get(&format!("{name}[]={first}&{name}[]={last}")).await;
                for query in [
                    format!("{name}={first}&{name}={last}"),
                    format!("{name}[0]={first}&{name}[1]={last}"),
                    format!("{name}[1]={last}&{name}[0]={first}"),
                    format!("{name}%5B0%5D={first}&{name}[]={last}"),
                    format!("{name}={first}&{name}[]={last}"),
                    format!("{name}[][0]={first}&{name}[][1]={last}"),
                    format!("{name}[][]={first}&{name}[][]={last}"),
                ] {
                    assert_eq!(get(&query).await, expected, "{path}?{query}");
                }
                assert!(predicate == "not_in" || !expected.is_empty(), "{path}");
                let one = get(&format!("{name}[]={first}")).await;
                assert_eq!(get(&format!("{name}={first}")).await, one, "{path}");
                assert_eq!(get(&format!("{name}[0]={first}")).await, one, "{path}");
                let unknown = machine.get(&format!("{path}?{name}[x]=1")).await;
                unknown.refuses(400, &format!("Unknown filter: {field}_{predicate}[x]"));
            }
            let unknown = machine.get(&format!("{path}?filter[{field}_eq][0]=1")).await;
            unknown.refuses(400, &format!("Unknown filter: {field}_eq[0]"));
        }
        assert!(filled >= 5, "only {filled} lists have rows");
    }
}

#[tokio::test]
async fn a_list_has_at_most_a_hundred_values_however_it_is_written() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        for form in ["filter[id_in]", "filter[id_in][]"] {
            let query = |count: usize| vec![format!("{form}=7"); count].join("&");
            machine.get(&format!("/proposals?{}", query(100))).await.is(200);
            machine
                .get(&format!("/proposals?{}", query(101)))
                .await
                .refuses(400, "Invalid value for filter id_in");
        }
    }
}

/// Adds an assembly with this title and slug.
async fn add_space(service: &Service, title: &str, slug: &str) {
    let (city, now) = (OrganizationId(service.id("organization", "city")), clock::now());
    let mut space = Space::new(SpaceKind::Assemblies, [(Locale::FR, title.to_owned())].into(), now);
    (space.slug, space.published_at) = (Some(slug.to_owned()), Some(now));
    commit(&*service.store, async |tx| Records::add(tx.spaces(), city, &space).await).await.unwrap();
}

/// The French titles that these filters find.
async fn titles(machine: &Client, query: &str) -> Vec<Value> {
    let found = machine.get(&format!("/spaces/search?per_page=100&{query}")).await.is(200).data().clone();
    let title = |row: &Value| row["attributes"]["title"]["fr"].clone();
    found.as_array().unwrap().iter().map(title).filter(|title| !title.is_null()).collect()
}

#[tokio::test]
async fn a_text_is_found_however_its_letters_are_composed() {
    let (composed, decomposed) = ("Vélo à Été", "Ve\u{301}lo a\u{300} E\u{301}te\u{301}");
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        add_space(&service, composed, "vélo").await;
        add_space(&service, decomposed, "e\u{301}te\u{301}").await;
        add_space(&service, "Velo a Ete", "velo").await;
        for needle in [composed, decomposed] {
            for filter in [
                format!("filter[title]={needle}"),
                format!("filter[title_in][]=x&filter[title_in][]={needle}"),
                format!("filter[title_start]={}", needle.trim_end_matches(['é', 'e', '\u{301}'])),
                format!(
                    "filter[title_matches]=%25{}%25",
                    &needle[..needle.find('l').unwrap()].to_uppercase()
                ),
                format!("filter[title_matches]=v_lo à _t{}", needle.rsplit('t').next().unwrap()),
            ] {
                assert_eq!(titles(&machine, &filter).await, [composed, decomposed], "{filter}");
            }
            for filter in [format!("filter[title_not_eq]={needle}"), format!("filter[title_not_in]={needle}")]
            {
                let others = titles(&machine, &filter).await;
                assert!(others.contains(&json!("Velo a Ete")), "{filter}");
                assert!(others.iter().all(|title| *title != composed && *title != decomposed), "{filter}");
            }
        }
        for (filter, title) in [
            ("filter[slug]=ve\u{301}lo", composed),
            ("filter[slug]=été", decomposed),
            ("filter[slug_start]=ÉT", decomposed),
            ("filter[title_start]=velo", "Velo a Ete"),
        ] {
            assert_eq!(titles(&machine, filter).await, [title], "{filter}");
        }
    }
}

#[tokio::test]
async fn both_engines_fold_the_same_cases() {
    for service in Service::on_both_engines().await {
        let machine = service.machine().await;
        let stored = ["ΒΟΡΡΆΣ", "βορράς", "θάλασσα", "İZMİR", "Straße", "ЁЛКА", "Izmir Isparta", "ısparta"];
        for (number, title) in stored.iter().enumerate() {
            add_space(&service, title, &format!("case-{number}")).await;
        }
        for (filter, found) in [
            ("title_start]=βορράσ", &["ΒΟΡΡΆΣ", "βορράς"] as &[_]),
            ("title_start]=ΒΟΡΡΆΣ", &["ΒΟΡΡΆΣ", "βορράς"]),
            ("title_matches]=%25ρρά%25", &["ΒΟΡΡΆΣ", "βορράς"]),
            ("title_start]=ΘΆΛΑΣ", &["θάλασσα"]),
            ("title_start]=θάλας", &["θάλασσα"]),
            ("title_start]=izmir", &["İZMİR", "Izmir Isparta"]),
            ("title_start]=i̇zmi̇r", &["İZMİR", "Izmir Isparta"]),
            ("title_start]=İzm", &["İZMİR", "Izmir Isparta"]),
            ("title_matches]=%25SPARTA", &["Izmir Isparta", "ısparta"]),
            ("title_start]=ISP", &["ısparta"]),
            ("title_matches]=STRAẞE", &["Straße"]),
            ("title_start]=ёл", &["ЁЛКА"]),
            ("title]=βορράς", &["βορράς"]),
        ] {
            assert_eq!(titles(&machine, &format!("filter[{filter}")).await, found, "{filter}");
        }
        let mut user = User::new("izmirli".into(), "i@city.example".into(), "İzmirli".into(), clock::now());
        user.extended_data = json!({"şehir": "İZMİR"}).as_object().unwrap().clone().into();
        let city = OrganizationId(service.id("organization", "city"));
        let id = commit(&*service.store, async |tx| tx.users().add(city, &user).await).await.unwrap().0;
        for part in ["izmir", "ŞEHİR", "\"s\u{327}ehir\":\"İz"] {
            let found = machine.get(&format!("/users?filter[extended_data_cont]={part}")).await.is(200).ids();
            assert_eq!(found, [id], "{part}");
        }
    }
}
