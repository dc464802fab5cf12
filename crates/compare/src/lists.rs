//! Reads lists.

use crate::source::{Answer, Source, sha256};
use crate::table::ListDefinition;
use crate::{Actor, Error, Result, normal};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The most items of a page (contract 01 §7). Without `meta`, a shorter page is the last one.
const PER_PAGE: usize = 100;
/// How often a list without order is read at most.
const MAX_ROUNDS: u8 = 3;
/// The longest list: ten million items.
const MAX_PAGES: u32 = 100_000;

/// A list to read.
pub(crate) struct ListRequest<'a> {
    pub(crate) actor: &'a Actor,
    pub(crate) collection: &'a ListDefinition,
    pub(crate) path: &'a str,
    pub(crate) strict: bool,
}

/// What was read of a list so far. One without order that has several pages is read until two readings agree.
#[derive(Default)]
pub(crate) struct ListContent {
    /// The status of the first page.
    pub(crate) status: u16,
    /// That of the first page.
    pub(crate) content_type: String,
    /// Whether it has the `meta` of contract 01 §7. The module of Decidim has none.
    pub(crate) has_meta: bool,
    /// By their keys.
    pub(crate) items: BTreeMap<String, Item>,
    /// How often an item was returned that had been returned before.
    pub(crate) repeated: usize,
    pub(crate) is_done: bool,
    /// The readings before this one.
    rounds: u8,
    /// The pages of this reading.
    pages: u32,
    /// The items of this reading.
    found: usize,
    /// The items of all readings before.
    known: usize,
}

pub(crate) struct Item {
    /// The id as this server has it, for paths.
    pub(crate) id: String,
    /// That of the normal form.
    pub(crate) digest: [u8; 32],
    /// The normal form, as JSON. Empty when the other server has the same.
    pub(crate) text: String,
    /// The last reading that had it.
    round: u8,
}

impl ListContent {
    /// A document, as a list of one item.
    pub(crate) fn of_document(answer: Answer, key: &str, path: &str, strict: bool, has_meta: bool) -> Self {
        let Answer { status, content_type, body } = answer;
        let mut list = Self { status, content_type, has_meta, ..Self::default() };
        list.insert(key.to_owned(), "", &document(&body, path, strict));
        list
    }

    /// Reads the next page, if there is one. Returns the keys of its items.
    pub(crate) async fn read_page(
        &mut self,
        source: &Source,
        request: &ListRequest<'_>,
    ) -> Result<Vec<String>> {
        if self.is_done {
            return Ok(Vec::new());
        }
        if self.pages == MAX_PAGES {
            return Err(Error::Endless(source.name(), request.path.to_owned()));
        }
        let separator = if request.path.contains('?') { '&' } else { '?' };
        let path = format!("{}{separator}per_page={PER_PAGE}&page={}", request.path, self.pages + 1);
        let answer = source.get(request.actor, request.collection.scope, &path, self.rounds + 1).await?;
        if (self.rounds, self.pages) == (0, 0) {
            self.status = answer.status;
            self.content_type = answer.content_type;
            self.has_meta = answer.body["meta"]["has_more"].is_boolean();
        }
        if answer.status == 200 {
            Ok(self.add(&answer.body, request))
        } else if self.status == 200 {
            Err(Error::Answer(source.name(), path, format!("status {}", answer.status)))
        } else {
            self.is_done = true;
            Ok(Vec::new())
        }
    }

    /// Adds a page. Returns the keys of its items.
    fn add(&mut self, body: &Value, request: &ListRequest) -> Vec<String> {
        self.pages += 1;
        let Some(rows) = body["data"].as_array() else {
            self.is_done = true;
            return vec![self.insert("-".to_owned(), "", &document(body, request.path, request.strict))];
        };
        let found = self.found;
        let mut keys = Vec::new();
        for row in rows {
            let item = normal::item(row, request.strict);
            let id = row["id"].as_str().map_or_else(|| row["id"].to_string(), str::to_owned);
            keys.push(self.insert(normal::key(&item), &id, &item));
        }
        let is_last = body["meta"]["has_more"].as_bool().map_or(rows.len() < PER_PAGE, |has_more| !has_more);
        // A server that ignores `page` returns nothing new.
        if is_last || self.found == found {
            self.end_round(self.has_meta || request.collection.is_ordered());
        }
        keys
    }

    fn insert(&mut self, key: String, id: &str, item: &Value) -> String {
        match self.items.get_mut(&key) {
            Some(known) if known.round == self.rounds => {
                self.repeated += 1;
                return key;
            }
            Some(known) => known.round = self.rounds,
            None => {
                let text = item.to_string();
                let (id, digest) = (id.to_owned(), sha256(text.as_bytes()));
                self.items.insert(key.clone(), Item { id, digest, text, round: self.rounds });
            }
        }
        self.found += 1;
        key
    }

    fn end_round(&mut self, is_ordered: bool) {
        let count = self.items.len();
        let is_agreed = self.known == count && self.found == count;
        self.rounds += 1;
        self.is_done =
            is_ordered || is_agreed || self.rounds == MAX_ROUNDS || (self.rounds, self.pages) == (1, 1);
        if !self.is_done {
            (self.pages, self.found, self.known) = (0, 0, count);
        }
        if !is_ordered && (self.rounds, self.pages) != (1, 1) {
            // A change of the order between two pages repeats items too.
            self.repeated = 0;
        }
    }
}

/// What is compared of a document, in normal form.
fn document(body: &Value, path: &str, strict: bool) -> Value {
    let data = &body["data"];
    if path.contains("extended_data") {
        normal::item(&json!({"extended_data": data}), strict)
    } else {
        normal::item(data, strict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::LISTS;
    use std::ops::Range;

    /// Items, repeated ones, readings, pages of the last reading.
    fn read(group: &str, pages: &[Value]) -> (usize, usize, u8, u32) {
        let collection = LISTS.iter().find(|collection| collection.group == group).unwrap();
        let request =
            ListRequest { actor: &Actor::Service, collection, path: collection.path, strict: false };
        let mut list = ListContent::default();
        for page in pages {
            assert!(!list.is_done);
            list.has_meta = page["meta"]["has_more"].is_boolean();
            list.add(page, &request);
        }
        assert!(list.is_done);
        (list.items.len(), list.repeated, list.rounds, list.pages)
    }

    fn rows(ids: Range<usize>) -> Value {
        json!({"data": ids.map(|id| json!({"id": id.to_string()})).collect::<Vec<_>>()})
    }

    #[test]
    fn a_short_page_is_the_last_one() {
        assert_eq!(read("users", &[rows(0..100), rows(100..120)]), (120, 0, 1, 2));
        assert_eq!(read("users", &[rows(0..100), rows(0..0)]), (100, 0, 1, 2));
    }

    #[test]
    fn with_meta_the_last_page_says_so() {
        let page = |ids: Range<usize>, has_more: bool| {
            let mut page = rows(ids);
            page["meta"] = json!({"has_more": has_more});
            page
        };
        assert_eq!(read("users", &[page(0..99, true), page(99..199, false)]), (199, 0, 1, 2));
        assert_eq!(read("votes", &[page(0..100, true), page(100..110, false)]), (110, 0, 1, 2));
        assert_eq!(read("users", &[page(0..9, true), page(0..0, true)]), (9, 0, 1, 2));
    }

    #[test]
    fn a_server_that_ignores_the_page_is_read_to_its_end() {
        assert_eq!(read("users", &[rows(0..100), rows(0..100)]), (100, 100, 1, 2));
    }

    #[test]
    fn lists_without_order_are_read_until_two_readings_agree() {
        assert_eq!(read("votes", &[rows(0..90)]), (90, 0, 1, 1));
        let same = [rows(0..100), rows(100..110), rows(0..100), rows(100..110)];
        assert_eq!(read("votes", &same), (110, 0, 2, 2));
        let other = [rows(0..100), rows(90..100), rows(0..100), rows(100..110), rows(0..100), rows(100..110)];
        assert_eq!(read("votes", &other), (110, 0, 3, 2));
    }
}
