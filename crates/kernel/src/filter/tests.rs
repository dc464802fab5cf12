use super::*;

#[derive(Debug, Clone, Copy, PartialEq)]
enum By {
    Id,
    Kind,
    Title,
    Data,
    At,
    Words,
}
const FIELDS: &[FilterField<By>] = &[
    FilterField::new("id", FieldKind::Integer, By::Id),
    FilterField::new("kind", FieldKind::Enum(&["a", "b"]), By::Kind),
    FilterField::new("title", FieldKind::Text, By::Title),
    FilterField::new("extended_data", FieldKind::ExtendedData, By::Data),
    FilterField::new("start_time", FieldKind::Time, By::At),
    FilterField::new("search_text", FieldKind::SearchText, By::Words),
];

fn one(key: &str, value: &str) -> Result<Vec<FilterCondition>> {
    let raw = RawFilter::new(vec![(key.to_owned(), RawValue::One(value.to_owned()))]);
    Ok(read_filters(FIELDS, &raw)?.into_iter().map(|f| f.condition).collect())
}

fn list(key: &str, values: &[&str]) -> Result<Vec<FilterCondition>> {
    let values = values.iter().map(|v| (*v).to_owned()).collect();
    let raw = RawFilter::new(vec![(key.to_owned(), RawValue::Many(values))]);
    Ok(read_filters(FIELDS, &raw)?.into_iter().map(|f| f.condition).collect())
}

#[test]
fn the_longest_predicate_wins_and_a_bare_field_means_equal() {
    assert_eq!(list("id_not_in", &["3"]).unwrap(), [FilterCondition::Integer(Comparison::NotIn(vec![3]))]);
    assert_eq!(one("id_not_eq", "3").unwrap(), [FilterCondition::Integer(Comparison::NotEq(3))]);
    assert_eq!(one("kind", "a").unwrap(), [FilterCondition::Text(Comparison::Eq("a".into()))]);
    assert_eq!(one("id_in", "3").unwrap(), [FilterCondition::Integer(Comparison::In(vec![3]))]);
}

#[test]
fn present_is_the_opposite_of_blank() {
    assert_eq!(one("title_present", "0").unwrap(), one("title_blank", "true").unwrap());
}

#[test]
fn empty_values_filter_nothing_but_their_key_must_be_known() {
    assert_eq!(one("id_eq", "").unwrap(), []);
    assert_eq!(list("id_in", &["", ""]).unwrap(), []);
    assert_eq!(one("extended_data_cont", "  ").unwrap(), []);
    assert_eq!(one("ghost_eq", "").unwrap_err().description(), "Unknown filter: ghost_eq");
}

#[test]
fn a_request_has_at_most_fifty_filters_and_a_value_at_most_1024_bytes() {
    let filters = |count: usize| {
        RawFilter::new((0..count).map(|n| ("id_gt".to_owned(), RawValue::One(n.to_string()))).collect())
    };
    assert_eq!(read_filters(FIELDS, &filters(50)).unwrap().len(), 50);
    let refused = read_filters(FIELDS, &filters(51)).unwrap_err();
    assert_eq!(refused.description(), "Too many filters (maximum is 50)");
    one("title_matches", &"x".repeat(1024)).unwrap();
    let refused = one("title_matches", &"x".repeat(1025)).unwrap_err();
    assert_eq!(refused.description(), "Invalid value for filter title_matches");
    assert!(list("title_in", &["a", &"x".repeat(1025)]).is_err(), "each value of a list is measured");
}

#[test]
fn predicates_of_another_kind_are_unknown() {
    for key in
        ["title_lt", "id_start", "id_cont", "id_", "extended_data", "extended_data_eq", "id_not", "_eq"]
    {
        assert_eq!(one(key, "1").unwrap_err().description(), format!("Unknown filter: {key}"));
    }
}

#[test]
fn values_of_another_type_are_refused_by_name() {
    let refused = ["id_eq=x", "id_gt=1.5", "id_lt=99999999999999999999", "kind_eq=c", "title_blank=yes"];
    for pair in refused {
        let (key, value) = pair.split_once('=').unwrap();
        assert_eq!(one(key, value).unwrap_err().description(), format!("Invalid value for filter {key}"));
    }
    assert!(list("title_eq", &["a"]).is_err(), "a list where one value is asked");
    assert!(list("id_in", &["1"; 101]).is_err(), "too many values");
    assert_eq!(one("kind_start", "c").unwrap(), [FilterCondition::Start("c".into())], "free text is free");
}

#[test]
fn a_date_alone_is_its_first_moment_in_the_zone() {
    let at = |value: &str| {
        let value = RawValue::One(value.to_owned());
        let raw = RawFilter {
            values: vec![("start_time_gteq".to_owned(), value)],
            time_zone: TimeZone::from_name("Europe/Paris"),
        };
        read_filters(FIELDS, &raw).map(|filters| filters[0].condition.clone())
    };
    let from = |time| FilterCondition::Time(Comparison::AtLeast(time));
    assert_eq!(at("2025-07-01").unwrap(), from(time::macros::datetime!(2025-06-30 22:00 UTC)));
    assert_eq!(at("2025-07-01T00:00:00Z").unwrap(), from(time::macros::datetime!(2025-07-01 00:00 UTC)));
    assert_eq!(
        at("2025-07-01T02:00:00.5+02:00").unwrap(),
        from(time::macros::datetime!(2025-07-01 00:00:00.5 UTC))
    );
    for bad in
        ["2025-07-01T00:00:00", "yesterday", "2025-02-30", "2025-7-1", "0000-01-01", "+12025-01-01", "1"]
    {
        assert_eq!(at(bad).unwrap_err().description(), "Invalid value for filter start_time_gteq", "{bad}");
    }
}

#[test]
fn words_are_read_in_their_searchable_form() {
    for key in ["title_cont", "title_i_cont", "search_text_cont"] {
        assert_eq!(one(key, "Vélo%").unwrap(), [FilterCondition::Words("velo%".into())]);
        assert_eq!(one(key, "\u{301}").unwrap(), [], "nothing is searched");
    }
    assert_eq!(
        one("search_text_eq", "Vélo").unwrap(),
        [FilterCondition::Text(Comparison::Eq("velo".into()))]
    );
    assert_eq!(one("title_eq", "Vélo").unwrap(), [FilterCondition::Text(Comparison::Eq("Vélo".into()))]);
    assert_eq!(one("title_cont", " ").unwrap(), [FilterCondition::Words(" ".into())]);
}
