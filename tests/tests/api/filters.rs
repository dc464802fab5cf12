//! Lists of values in filters (contract 01 §6).

use civitas_tests::service::Service;

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
