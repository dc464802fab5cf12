//! Query parameters: pages, languages, filters, orders (contract 01 §5 to §7).

use crate::class_filters::class_filter;
use civitas_application::form_pairs;
use civitas_kernel::filter::{RawFilter, RawValue};
use civitas_kernel::{
    ClassNames, ComponentId, Direction, Error, Locales, LocationFilter, Order, PageRequest, Result, Sort,
    SortColumn, SpaceKind, TimeZone,
};
use std::collections::BTreeMap;
use url::form_urlencoded;

/// The parameters of a query string, decoded, in the order given.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// # Errors
    /// `Rejected` for bytes that are not UTF-8, and for a NUL, which stored texts cannot have.
    pub(crate) fn read(text: &str) -> Result<Self> {
        let sound = |(key, value): &(String, String)| !key.contains('\0') && !value.contains('\0');
        let pairs: Option<Vec<_>> = form_pairs(text).map(|pair| pair.filter(sound)).collect();
        pairs.map(Self).ok_or_else(|| Error::rejected("Malformed query"))
    }

    /// The last value of a parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The last value, if it is not empty.
    pub(crate) fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// Whether there are filters, or a random order.
    pub(crate) fn has_filter(&self) -> bool {
        self.0.iter().any(|(key, value)| key.starts_with("filter") || key == "order" && value == "rand")
    }

    pub(crate) fn page(&self) -> PageRequest {
        PageRequest::read(self.get("page"), self.get("per_page"))
    }

    /// The values of a list: `name[]=a&name[]=b` or `name=a,b`.
    pub(crate) fn list(&self, name: &str) -> Vec<&str> {
        let values = self.0.iter().flat_map(|(key, value)| match key.strip_prefix(name) {
            Some("") => value.split(',').collect(),
            Some(rest) if rest.starts_with('[') => vec![value.as_str()],
            _ => Vec::new(),
        });
        values.collect()
    }

    /// The requested languages: `locales[]=en&locales[]=fr` or `locales=en,fr`. `None` without such a parameter.
    /// `deployment`: the languages that may be requested.
    pub(crate) fn locales(&self, deployment: &Locales) -> Result<Option<Locales>> {
        deployment.choose(self.list("locales"))
    }

    /// The value of `filter[..]`. The values of a list come as `filter[id_in][]=1`, `filter[id_in][0]=1`,
    /// `filter[id_in][][0]=1`, `filter[id_in][][]=1`, or as `filter[id_in]=1` again and again. `names`: understands the
    /// class names in filters of types. `time_zone`: the zone in which a date begins.
    ///
    /// # Errors
    /// `Rejected` when it is not a map.
    pub(crate) fn filter(&self, names: &ClassNames, time_zone: TimeZone) -> Result<RawFilter> {
        let mut filter = RawFilter { values: Vec::new(), time_zone };
        let mut of_classes = Vec::new();
        for (key, value) in &self.0 {
            let Some(rest) = key.strip_prefix("filter") else { continue };
            if rest.is_empty() {
                return Err(Error::rejected("filter must be a map"));
            }
            let Some(rest) = rest.strip_prefix('[') else { continue };
            let Some((name, tail)) = rest.split_once(']').filter(|(name, _)| !name.is_empty()) else {
                return Err(Error::rejected("filter must be a map"));
            };
            if let Some((name, classes)) = class_filter(name, value, names).filter(|_| tail.is_empty()) {
                of_classes.push((name, classes));
                continue;
            }
            let value = if name.contains("_type") { names.from_wire(value) } else { value.into() };
            let (value, is_list) = (value.into_owned(), name.ends_with("_in"));
            match tail {
                "" if !is_list => filter.values.push((name.to_owned(), RawValue::One(value))),
                "" | "[]" => push(&mut filter, name, value, !tail.is_empty()),
                _ if is_list && is_index(tail) => push(&mut filter, name, value, true),
                _ => return Err(Error::rejected(format!("Unknown filter: {name}{tail}"))),
            }
            // Counted while reading: the search for the list of a name is linear in the number of filters.
            filter.check_count()?;
        }
        // Last: a list of values of the caller with the same name is another filter.
        filter.values.extend(of_classes);
        filter.check_count()?;
        Ok(filter)
    }

    /// `order` and `order_direction`, for a list with a column of its own. `others`: the other columns it can be sorted by.
    ///
    /// # Errors
    /// `Unknown order <v>`, `Unknown order direction <v>`.
    pub(crate) fn order(&self, own: &str, others: &[SortColumn]) -> Result<Order> {
        let direction = self.direction()?;
        match self.get("order") {
            Some("rand") => Ok(Order::Random),
            Some(other) if other != own => Ok(Order::By(sort(other, others, direction)?)),
            _ => Ok(Order::Column(direction)),
        }
    }

    /// The same for a list without such a column. Without `order` the direction has no effect.
    pub(crate) fn sort(&self, columns: &[SortColumn]) -> Result<Option<Sort>> {
        let direction = self.direction()?;
        self.get("order").map(|name| sort(name, columns, direction)).transpose()
    }

    fn direction(&self) -> Result<Direction> {
        match self.get("order_direction") {
            None | Some("asc") => Ok(Direction::Ascending),
            Some("desc") => Ok(Direction::Descending),
            Some(strange) => Err(Error::rejected(format!("Unknown order direction {strange}"))),
        }
    }

    /// `space_manifest`, `space_id` and `component_id` (contract 06 §1.2).
    ///
    /// # Errors
    /// `manifest not supported: <v>`; `Rejected` for an invalid number.
    pub(crate) fn within(&self) -> Result<LocationFilter> {
        Ok(LocationFilter {
            component: self.number("component_id")?.map(ComponentId),
            ..self.within_space()?
        })
    }

    /// `space_manifest` and `space_id` alone.
    pub(crate) fn within_space(&self) -> Result<LocationFilter> {
        let kind = |name| {
            SpaceKind::parse(name).ok_or_else(|| Error::rejected(format!("manifest not supported: {name}")))
        };
        Ok(LocationFilter {
            space_kind: self.filled("space_manifest").map(kind).transpose()?,
            space_id: self.number("space_id")?,
            component: None,
        })
    }

    fn number(&self, name: &str) -> Result<Option<i64>> {
        let read =
            |text: &str| text.parse().map_err(|_| Error::rejected(format!("Invalid value for {name}")));
        self.filled(name).map(read).transpose()
    }

    /// Whether a boolean parameter is `true` or `1`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some("true" | "1"))
    }

    /// The same query for another page: all parameters, keys in alphabetical order.
    pub(crate) fn for_page(&self, page: i64, per_page: i64) -> String {
        let mut merged: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (key, value) in &self.0 {
            merged.entry(key).or_default().push(value.clone());
        }
        merged.insert("page", vec![page.to_string()]);
        merged.insert("per_page", vec![per_page.to_string()]);
        let mut text = form_urlencoded::Serializer::new(String::new());
        for (key, values) in merged {
            for value in values {
                text.append_pair(key, &value);
            }
        }
        text.finish()
    }

    /// All parameters as one text that does not depend on their order.
    pub(crate) fn canonical(&self) -> String {
        sorted(self.0.iter())
    }

    /// The same without languages, for validators.
    pub(crate) fn fingerprint(&self) -> String {
        sorted(self.0.iter().filter(|(key, _)| !key.starts_with("locales")))
    }
}

/// The order by the column of this name, one of these.
fn sort(name: &str, columns: &[SortColumn], direction: Direction) -> Result<Sort> {
    let found = columns.iter().find(|column| column.as_str() == name);
    let column = *found.ok_or_else(|| Error::rejected(format!("Unknown order {name}")))?;
    Ok(Sort { column, direction })
}

fn sorted<'q>(pairs: impl Iterator<Item = &'q (String, String)>) -> String {
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort();
    format!("{pairs:?}")
}

/// Whether this is the index of a list: `[0]`; generated clients in Ruby write `[][0]` or `[][]`.
fn is_index(tail: &str) -> bool {
    let index = tail.strip_prefix("[]").unwrap_or(tail).strip_prefix('[');
    let index = index.and_then(|rest| rest.strip_suffix(']'));
    index.is_some_and(|index| index.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Adds a value of a list: it begins a list if it has brackets, or if a value of this name came before.
fn push(filter: &mut RawFilter, name: &str, value: String, has_brackets: bool) {
    let Some((_, sent)) = filter.values.iter_mut().find(|(key, _)| key == name) else {
        let value = if has_brackets { RawValue::Many(vec![value]) } else { RawValue::One(value) };
        filter.values.push((name.to_owned(), value));
        return;
    };
    match sent {
        RawValue::Many(values) => values.push(value),
        RawValue::One(first) => *sent = RawValue::Many(vec![std::mem::take(first), value]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query::read(text).unwrap()
    }

    #[test]
    fn both_ways_to_name_languages_mean_the_same() {
        let both = query("locales[]=fr&locales[]=en").locales(&Locales::standard()).unwrap();
        assert_eq!(both, query("locales=en,fr").locales(&Locales::standard()).unwrap());
        assert_eq!(query("page=1").locales(&Locales::standard()).unwrap(), None);
        assert_eq!(
            query("locales[]=").locales(&Locales::standard()).unwrap_err().description(),
            "Not allowed locales: "
        );
        assert_eq!(
            query("locales=EN,xx").locales(&Locales::standard()).unwrap_err().description(),
            "Not allowed locales: EN, xx"
        );
    }

    #[test]
    fn filters_are_a_map_of_values_and_lists() {
        let names = ClassNames::default();
        let filter = query("filter%5Bid_in%5D%5B%5D=1&filter[id_in][]=2&filter[slug]=a&other=1")
            .filter(&names, TimeZone::default())
            .unwrap();
        let list = RawValue::Many(vec!["1".to_owned(), "2".to_owned()]);
        let one = RawValue::One("a".to_owned());
        assert_eq!(filter.values, [("id_in".to_owned(), list), ("slug".to_owned(), one)]);
        for bad in ["filter=abc", "filter[]=1", "filter[a"] {
            assert!(query(bad).filter(&names, TimeZone::default()).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_values_of_a_list_have_indices_in_some_languages() {
        let names = ClassNames::default();
        let list = RawValue::Many(vec!["1".to_owned(), "2".to_owned()]);
        for [first, second] in
            [["[]", "[]"], ["[0]", "[1]"], ["[][0]", "[][1]"], ["[][]", "[][]"], ["[]", "[][0]"]]
        {
            let filter = query(&format!("filter[id_in]{first}=1&filter[id_in]{second}=2"))
                .filter(&names, TimeZone::default());
            assert_eq!(filter.unwrap().values, [("id_in".to_owned(), list.clone())], "{first}");
        }
        for bad in [
            "[id_in][x]",
            "[id_in][][x]",
            "[id_in][][][]",
            "[id_in][0][]",
            "[id_in]x",
            "[id_eq][][0]",
            "[id][][",
        ] {
            assert!(query(&format!("filter{bad}=1")).filter(&names, TimeZone::default()).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_address_of_another_page_keeps_every_parameter_in_order() {
        let next = query("per_page=500&filter[id_in][]=1&filter[id_in][]=2&b=x y").for_page(2, 100);
        assert_eq!(next, "b=x+y&filter%5Bid_in%5D%5B%5D=1&filter%5Bid_in%5D%5B%5D=2&page=2&per_page=100");
    }

    #[test]
    fn orders_and_contexts_are_checked_by_name() {
        let order = |text: &str| query(text).order("published_at", &SortColumn::COMMON);
        let says = |text: &str| {
            let refused = order(text).unwrap_err().description().into_owned();
            let unsorted = query(text).sort(&SortColumn::COMMON).unwrap_err();
            assert_eq!(unsorted.description(), refused, "{text}");
            refused
        };
        assert_eq!(says("order=asc"), "Unknown order asc");
        assert_eq!(says("order=votes_count"), "Unknown order votes_count");
        assert_eq!(says("order="), "Unknown order ");
        assert_eq!(says("order_direction="), "Unknown order direction ");
        assert_eq!(says("order=id&order_direction=up"), "Unknown order direction up");
        assert_eq!(order("order=rand").unwrap(), Order::Random);
        assert_eq!(
            order("order=published_at&order_direction=desc").unwrap(),
            Order::Column(Direction::Descending)
        );
        let newest = Sort { column: SortColumn::UpdatedAt, direction: Direction::Descending };
        let asked = "order=updated_at&order_direction=desc";
        assert_eq!(order(asked).unwrap(), Order::By(newest));
        assert_eq!(query(asked).sort(&SortColumn::COMMON).unwrap(), Some(newest));
        assert_eq!(query("order_direction=desc").sort(&SortColumn::COMMON).unwrap(), None);
        let refused = query("space_manifest=towns").within().unwrap_err();
        assert_eq!(refused.description(), "manifest not supported: towns");
        assert!(query("space_id=x").within().is_err());
        for bad in ["a=%00", "%00", "a=caf%E9", "%E9=1", "a=1&b=%C3%28"] {
            assert_eq!(Query::read(bad).unwrap_err().description(), "Malformed query", "{bad}");
        }
        assert_eq!(query("a=%C3%A9%EF%BF%BD&b").get("a"), Some("é\u{fffd}"));
    }
}
