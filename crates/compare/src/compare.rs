//! The comparison of two sources.

use crate::difference::{Difference, DifferenceCode, differences, expected_code, expected_one_sided, owners};
use crate::lists::{Item, ListContent, ListRequest};
use crate::report::{ActorReport, ComparisonReport, Findings, GroupReport, Sample};
use crate::source::{Server, Source, hex, make_directory, sha256};
use crate::table::{LISTS, ListDefinition};
use crate::{Actor, CompareOptions, Error, OldServer, Result};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;
use tokio::{join, try_join};

/// The length of a digest in the report, in hexadecimal digits.
const SHOWN_DIGITS: usize = 12;

/// Compares two servers.
///
/// # Errors
/// When a server does not answer, fails or refuses the client, a list cannot be read to its end, or nothing may be read.
pub async fn compare(options: CompareOptions) -> Result<ComparisonReport> {
    let begun = Instant::now();
    let permits = Arc::new(Semaphore::new(options.parallel.max(1)));
    let old = match &options.old {
        OldServer::Server(url, record) => {
            if let Some(directory) = record {
                make_directory(directory)?;
            }
            Source::Live(Box::new(Server::new(url, &options, permits.clone())?), record.clone())
        }
        OldServer::Recorded(directory) => Source::Recorded(directory.clone()),
    };
    let new = Source::Live(Box::new(Server::new(&options.new, &options, permits)?), None);
    let offered = offered_locales(&new).await?;
    let dropped = named_ids(&options.import_report, DROPPING);
    let renamed = named_ids(&options.import_report, "W-NICKNAME");
    let comparison = Comparison { old, new, offered, dropped, renamed, options };
    let mut actors = comparison.options.actors.clone();
    if actors.is_empty() {
        actors = comparison.default_actors().await?;
    }
    let mut skipped = BTreeSet::new();
    let mut reports = Vec::new();
    for actor in &actors {
        let groups = comparison.compare_as(actor, &mut skipped).await?;
        // The client may have no right to impersonate the accounts that are chosen for it.
        if groups.is_empty() && !matches!(actor, Actor::Account(..)) {
            return Err(Error::Nothing(actor.clone()));
        }
        reports.push(ActorReport { actor: actor.to_string(), groups });
    }
    Ok(ComparisonReport {
        old: comparison.old.name(),
        new: comparison.new.name(),
        actors: reports,
        skipped,
        seconds: begun.elapsed().as_secs(),
    })
}

/// The locales of the organizations; empty when the client may not read them.
async fn offered_locales(new: &Source) -> Result<BTreeSet<String>> {
    let answer = new.get(&Actor::Service, "system", "/organizations?per_page=100", 1).await?;
    let organizations = answer.body["data"].as_array().into_iter().flatten();
    let locales = organizations
        .filter_map(|organization| organization["attributes"]["available_locales"].as_array())
        .flatten();
    Ok(locales.filter_map(|locale| locale.as_str().map(str::to_owned)).collect())
}

/// The codes of an import that leave rows out (sheet 13 §4).
const DROPPING: &str = "W-DELETEDSPACE W-MANIFEST W-ORPHAN W-TENANT W-FILE W-FILERULE W-PARENT W-FORM W-QUESTION \
    W-RESPONSE W-DRAFT W-NOTIME W-ACCOUNT W-CLIENT W-WEBHOOK";

/// The tables and ids that the report of an import lists under these codes, as `users 3`.
fn named_ids(report: &Value, codes: &str) -> BTreeSet<(String, String)> {
    let listed = codes.split(' ').filter_map(|code| report["codes"][code]["ids"].as_array()).flatten();
    let named = listed.filter_map(Value::as_str).filter_map(|row| row.split_once(' '));
    named.map(|(table, id)| (table.to_owned(), id.to_owned())).collect()
}

/// An id as text: servers may send numbers.
fn id_text(id: &Value) -> Option<String> {
    id.as_str().map(str::to_owned).or_else(|| id.as_i64().map(|id| id.to_string()))
}

/// The author of a vote, or the user of a role that the path asks for: a server may ignore the filter.
fn user_of(row: &Value, path: &str) -> Option<String> {
    match row["attributes"]["type"].as_str() {
        None => id_text(&row["relationships"]["author"]["data"]["id"]),
        Some(role) if path.contains(role) => id_text(&row["attributes"]["user_id"]),
        Some(_) => None,
    }
}

/// Whether the item is among these. Tables are named as in Decidim, `proposals_proposals`.
fn is_named(ids: &BTreeSet<(String, String)>, Subject { group, key, .. }: Subject) -> bool {
    let (kind, id) = key.rsplit_once('/').unwrap_or((group, key));
    let suffix = if group == "blogs" { "posts" } else { kind };
    ids.iter().any(|(table, named)| named == id && table.ends_with(suffix))
}

struct Comparison {
    old: Source,
    new: Source,
    offered: BTreeSet<String>,
    /// The tables and ids of rows that the import dropped.
    dropped: BTreeSet<(String, String)>,
    /// Those of accounts that it gave a new nickname.
    renamed: BTreeSet<(String, String)>,
    options: CompareOptions,
}

/// What is known of an actor so far.
struct ActorRun<'a> {
    actor: &'a Actor,
    findings: Findings,
    /// The keys of items that have lists, by group, and whether both servers have them.
    parents: HashMap<&'static str, BTreeMap<String, bool>>,
    skipped: &'a mut BTreeSet<String>,
}

/// What is compared.
#[derive(Clone, Copy)]
struct Subject<'a> {
    group: &'static str,
    /// The key of the item, or the path of the list.
    key: &'a str,
    /// The path of the list or document.
    path: &'a str,
}

/// An item whose documents can be read.
struct Candidate {
    /// The lowest are chosen.
    rank: [u8; 32],
    key: String,
    old_id: String,
    new_id: Option<String>,
    /// Whether the old list has `meta`.
    has_meta: bool,
}

impl Comparison {
    /// The client itself, and accounts of the old server that see much.
    async fn default_actors(&self) -> Result<Vec<Actor>> {
        let mut actors = vec![Actor::Service];
        let mut known = BTreeSet::new();
        for (role, scope, path) in [
            ("administrator", "roles", "/roles?filter%5Btype_eq%5D=general_admin&per_page=100"),
            ("member", "roles", "/roles?filter%5Btype_eq%5D=space_private_member&per_page=100"),
            ("voter", "proposals", "/vote_proposals?per_page=100"),
        ] {
            let answer = match self.old.get(&Actor::Service, scope, path, 1).await {
                Err(Error::NotRecorded(_)) => continue,
                answer => answer?,
            };
            let mut rows = answer.body["data"].as_array().into_iter().flatten();
            let user = rows.find_map(|row| user_of(row, path).filter(|id| !known.contains(id)));
            if let Some(id) = user {
                known.insert(id.clone());
                actors.push(Actor::Account(id, role));
            }
        }
        Ok(actors)
    }

    async fn compare_as(
        &self,
        actor: &Actor,
        skipped: &mut BTreeSet<String>,
    ) -> Result<BTreeMap<&'static str, GroupReport>> {
        let mut run = ActorRun { actor, findings: Findings::default(), parents: HashMap::new(), skipped };
        for collection in LISTS.iter().filter(|one| one.is_needed(&|group: &str| self.is_wanted(group))) {
            let mut lists = vec![(collection.path.to_owned(), true)];
            if let Some(parent) = collection.parent() {
                let path = |id: &str| collection.path.replace(&format!("{{{parent}}}"), id);
                let parents = run.parents.get(parent).into_iter().flatten();
                lists = parents.map(|(id, is_common)| (path(id), *is_common)).collect();
            }
            let mut candidates: Vec<Candidate> = Vec::new();
            for (path, is_common) in lists {
                candidates.extend(self.compare_lists(&mut run, collection, &path, is_common).await?);
                candidates.sort_unstable_by_key(|candidate| candidate.rank);
                candidates.truncate(self.options.sample);
            }
            for template in collection.documents {
                if self.is_wanted(collection.group_of(template)) {
                    self.compare_documents(&mut run, collection, template, &candidates).await?;
                }
            }
        }
        Ok(run.findings.reports())
    }

    fn is_wanted(&self, group: &str) -> bool {
        self.options.only.is_empty() || self.options.only.iter().any(|only| only == group)
    }

    /// Compares a list. With `is_common` false, it belongs to an item that only the old server has, and is read for the
    /// recording only: the new server may have the item when the answers are replayed.
    async fn compare_lists(
        &self,
        run: &mut ActorRun<'_>,
        collection: &ListDefinition,
        path: &str,
        is_common: bool,
    ) -> Result<Vec<Candidate>> {
        let request = ListRequest { actor: run.actor, collection, path, strict: self.options.strict };
        let (mut old, mut new) = (ListContent::default(), ListContent::default());
        new.is_done = !is_common;
        while !(old.is_done && new.is_done) {
            let keys = try_join!(old.read_page(&self.old, &request), new.read_page(&self.new, &request))?;
            for key in keys.0.iter().chain(&keys.1) {
                if let (Some(old), Some(new)) = (old.items.get_mut(key), new.items.get_mut(key))
                    && old.digest == new.digest
                {
                    (old.text, new.text) = (String::new(), String::new());
                }
            }
        }
        if is_common && old.status == new.status && old.status != 200 {
            run.skipped.insert(format!("{}: {path} (both answer {})", run.actor, old.status));
        } else if is_common && self.is_wanted(collection.group) {
            self.compare_answers(run, Subject { group: collection.group, key: path, path }, &old, &new);
        }
        let keeps_all = !matches!(self.old, Source::Live(_, None));
        let has_lists = collection.children().next().is_some();
        let mut candidates = Vec::new();
        for (key, item) in old.items {
            let new_id = new.items.remove(&key).map(|item| item.id);
            if has_lists && (keeps_all || new_id.is_some()) {
                run.parents.entry(collection.group).or_default().insert(key.clone(), new_id.is_some());
            }
            let rank = sha256(format!("{}\n{key}", collection.path).as_bytes());
            if keeps_all || new_id.is_some() {
                candidates.push(Candidate { rank, key, old_id: item.id, new_id, has_meta: old.has_meta });
            }
        }
        Ok(candidates)
    }

    /// Compares what was read of two lists, or of two documents.
    fn compare_answers(
        &self,
        run: &mut ActorRun<'_>,
        subject: Subject,
        old: &ListContent,
        new: &ListContent,
    ) {
        let is_module = !old.has_meta && !self.options.strict;
        let is_same = old.status == new.status;
        let head = |list: &ListContent| {
            let all =
                json!({"content_type": list.content_type, "meta": list.has_meta, "repeated": list.repeated});
            if is_same { all } else { json!({"status": list.status}) }
        };
        self.compare_members(run, subject, &head(old), &head(new), |difference| {
            match difference.member.as_str() {
                "meta" if is_module => Some("E-ADDED"),
                "repeated" if is_module && new.repeated == 0 => Some("E-REPEATED"),
                _ => None,
            }
        });
        if !is_same {
            return;
        }
        let read = |item: &Item| -> Value { serde_json::from_str(&item.text).unwrap_or_default() };
        let keys: BTreeSet<&String> = old.items.keys().chain(new.items.keys()).collect();
        for key in keys {
            let subject = Subject { key, ..subject };
            let is_named = |ids| !self.options.strict && is_named(ids, subject);
            let (old_item, new_item) = (old.items.get(key), new.items.get(key));
            let digests = [old_item, new_item].map(|item| Some(item?.digest));
            run.findings.count_item(subject.group, key, digests);
            match (old_item, new_item) {
                (Some(old), Some(new)) if old.digest != new.digest => {
                    let (old, new) = (read(old), read(new));
                    self.compare_members(run, subject, &old, &new, |difference| {
                        match expected_code(subject.group, &old, difference, &self.offered) {
                            _ if difference.member == "attributes.nickname" && is_named(&self.renamed) => {
                                Some("E-DROPPED")
                            }
                            code => code.filter(|_| is_module),
                        }
                    });
                }
                (Some(item), None) | (None, Some(item)) => {
                    let (is_old, item) = (old_item.is_some(), read(item));
                    let code = match expected_one_sided(subject.group, &item, is_old) {
                        _ if is_old && is_named(&self.dropped) => Some("E-DROPPED"),
                        code => code.filter(|_| is_module),
                    };
                    run.findings.count_one_sided((subject.group, key.clone()), is_old, code, owners(&item));
                }
                _ => {}
            }
        }
    }

    /// Counts the members that differ.
    fn compare_members(
        &self,
        run: &mut ActorRun<'_>,
        subject: Subject,
        old: &Value,
        new: &Value,
        code: impl Fn(&Difference) -> Option<DifferenceCode>,
    ) {
        for difference in differences(old, new) {
            let code = code(&difference);
            let [old, new] =
                [difference.old, difference.new].map(|value| value.map(|value| self.shown(value)));
            let (path, key) = (subject.path.to_owned(), subject.key.to_owned());
            let sample = Sample { path, key, member: difference.member, old, new };
            run.findings.count_difference(subject.group, code, sample);
        }
    }

    /// A value as the report shows it.
    fn shown(&self, value: &Value) -> String {
        let text = value.to_string();
        if self.options.show_values {
            return text;
        }
        let digits: String = hex(&sha256(text.as_bytes())).chars().take(SHOWN_DIGITS).collect();
        format!("sha256:{digits}")
    }

    /// Compares a document of the items that both servers have.
    async fn compare_documents(
        &self,
        run: &mut ActorRun<'_>,
        collection: &ListDefinition,
        template: &str,
        candidates: &[Candidate],
    ) -> Result<()> {
        let (actor, scope, group) = (run.actor, collection.scope, collection.group_of(template));
        let reads = candidates.iter().map(|candidate| async move {
            let path = |id: &str| template.replace("{id}", id).replace("{key}", &candidate.key);
            let old_path = path(&candidate.old_id);
            let old = self.old.get(actor, scope, &old_path, 1);
            // It is only recorded, as the list of an item that only the old server has.
            let Some(new_id) = &candidate.new_id else {
                return Ok((candidate, old.await, old_path, None));
            };
            let new_path = path(new_id);
            let (old, new) = join!(old, self.new.get(actor, scope, &new_path, 1));
            Ok::<_, Error>((candidate, old, old_path, Some(new?)))
        });
        let mut reads = stream::iter(reads).buffered(self.options.parallel.max(1));
        while let Some(read) = reads.next().await {
            let (candidate, old, path, new) = read?;
            let reason = match (old, new) {
                (Err(Error::NotRecorded(_)), _) => "it is not recorded".to_owned(),
                (Err(Error::Answer(_, _, reason)), _) => format!("the old server answers with {reason}"),
                (Err(error), _) => return Err(error),
                (Ok(_), None) => continue,
                (Ok(old), Some(new)) if old.status == new.status && old.status != 200 => {
                    "both servers refuse it".to_owned()
                }
                (Ok(old), Some(new)) => {
                    let prefix = if group == collection.group { "" } else { collection.group };
                    let key = format!("{prefix}/{}", candidate.key);
                    let subject = Subject { group, key: key.trim_start_matches('/'), path: &path };
                    let [old, new] = [old, new].map(|answer| {
                        ListContent::of_document(
                            answer,
                            subject.key,
                            &path,
                            self.options.strict,
                            candidate.has_meta,
                        )
                    });
                    self.compare_answers(run, subject, &old, &new);
                    continue;
                }
            };
            run.skipped.insert(format!("{actor}: {template}: {reason}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::SecretString;

    type Recorded = (&'static str, u16, Value);

    /// A comparison of recorded answers of the client itself.
    fn recorded(test: &str, old: &[Recorded], new: &[Recorded], only: &[&str], sample: usize) -> Comparison {
        let directory = std::env::temp_dir().join(format!("civitas-compare-{test}-{}", std::process::id()));
        let side = |name: &str, answers: &[Recorded]| {
            Source::from_answers(directory.join(name), &Actor::Service, answers)
        };
        let (old, new) = (side("old", old), side("new", new));
        let options = CompareOptions {
            old: OldServer::Recorded(directory.clone()),
            new: "http://127.0.0.1".parse().unwrap(),
            host: None,
            client_id: String::new(),
            client_secret: SecretString::from(""),
            actors: Vec::new(),
            only: only.iter().map(|only| (*only).to_owned()).collect(),
            sample,
            import_report: Value::Null,
            strict: false,
            show_values: false,
            parallel: 2,
        };
        Comparison {
            old,
            new,
            offered: BTreeSet::new(),
            dropped: BTreeSet::new(),
            renamed: BTreeSet::new(),
            options,
        }
    }

    async fn run(comparison: &Comparison) -> Result<(Value, BTreeSet<String>)> {
        let mut skipped = BTreeSet::new();
        let groups = comparison.compare_as(&Actor::Service, &mut skipped).await;
        if let Source::Recorded(directory) = &comparison.old {
            std::fs::remove_dir_all(directory.parent().unwrap()).unwrap();
        }
        Ok((serde_json::to_value(groups?).unwrap(), skipped))
    }

    fn rows(ids: &[&str]) -> Value {
        let rows: Vec<Value> = ids.iter().map(|id| json!({"id": id, "type": "x"})).collect();
        json!({"data": rows, "meta": {"has_more": false}})
    }

    fn document(id: &str, title: &str) -> Value {
        json!({"data": {"id": id, "type": "x", "attributes": {"title": title}}})
    }

    const QUESTIONNAIRES: &str = "/questionnaires?per_page=100&page=1";
    const FIRST: &str = "/questions?filter%5Bquestionnaire_id%5D=1&per_page=100&page=1";
    const SECOND: &str = "/questions?filter%5Bquestionnaire_id%5D=2&per_page=100&page=1";

    #[tokio::test]
    async fn a_sample_is_of_all_lists_of_a_kind_and_no_new_item_displaces_many() {
        let answers = |title: &str| -> Vec<Recorded> {
            let documents = ["/questions/3", "/questions/4", "/questions/5", "/questions/6"];
            let documents =
                documents.map(|path| (path, 200, document(path.trim_start_matches("/questions/"), title)));
            let lists = [
                (QUESTIONNAIRES, 200, rows(&["1", "2"])),
                (FIRST, 200, rows(&["3", "4"])),
                (SECOND, 200, rows(&["5", "6"])),
            ];
            lists.into_iter().chain(documents).collect()
        };
        for (sample, different) in [(0, 0), (3, 3), (usize::MAX, 4)] {
            let test = format!("sample-{sample}");
            let comparison = recorded(&test, &answers("A"), &answers("B"), &["questions"], sample);
            let (groups, skipped) = run(&comparison).await.unwrap();
            assert_eq!(
                (&groups["questions"]["different"], &groups["questions"]["items"]),
                (&json!(different), &json!(4))
            );
            assert!(skipped.is_empty(), "{skipped:?}");
        }
    }

    #[tokio::test]
    async fn lists_of_an_item_that_the_new_server_lacks_are_read_and_not_compared() {
        let old = vec![
            (QUESTIONNAIRES, 200, rows(&["1", "2"])),
            (FIRST, 200, rows(&["3"])),
            (SECOND, 200, rows(&["5"])),
            ("/questions/3", 200, document("3", "A")),
            ("/questionnaires/1", 200, document("1", "A")),
        ];
        let new = vec![
            (QUESTIONNAIRES, 200, rows(&["1"])),
            (FIRST, 200, rows(&["3"])),
            ("/questions/3", 200, document("3", "A")),
            ("/questionnaires/1", 200, document("1", "A")),
        ];
        let comparison = recorded("lacking", &old, &new, &["questionnaires", "questions"], 9);
        let (groups, _) = run(&comparison).await.unwrap();
        assert_eq!(groups["questionnaires"]["only_old"], json!(["2"]));
        assert_eq!(
            (&groups["questions"]["equal"], &groups["questions"]["only_old"]),
            (&json!(1), &json!([]))
        );
    }

    #[tokio::test]
    async fn a_failure_of_a_server_is_no_difference() {
        let answers = |status: u16| -> Vec<Recorded> {
            vec![
                ("/users?per_page=100&page=1", status, rows(&[])),
                ("/roles?per_page=100&page=1", 200, rows(&["7"])),
                ("/roles/7", status, document("7", "A")),
            ]
        };
        let of = |test: &str, old: u16, new: u16, group: &str| {
            recorded(test, &answers(old), &answers(new), &[group], 9)
        };
        for (old, new) in [(200, 502), (502, 200), (502, 502), (200, 302), (429, 200)] {
            let failed = run(&of("lists", old, new, "users")).await;
            assert!(matches!(failed, Err(Error::Answer(..))), "{old} {new}");
        }
        assert!(matches!(run(&of("new", 200, 500, "roles")).await, Err(Error::Answer(..))));
        let (groups, skipped) = run(&of("old", 500, 200, "roles")).await.unwrap();
        assert_eq!((&groups["roles"]["different"], &groups["roles"]["equal"]), (&json!(0), &json!(1)));
        assert_eq!(
            skipped,
            ["service: /roles/{id}: the old server answers with status 500".to_owned()].into()
        );
        let (groups, _) = run(&of("gone", 200, 404, "roles")).await.unwrap();
        assert_eq!(groups["roles"]["samples"][0]["member"], "status");
    }

    #[tokio::test]
    async fn default_actors_are_three_people() {
        let role = |role: &str, users: [Value; 2]| json!({"data": users.map(|user| json!({"attributes": {"type": role, "user_id": user}}))});
        let author = |id: Value| json!({"relationships": {"author": {"data": {"id": id}}}});
        let old = vec![
            (
                "/roles?filter%5Btype_eq%5D=general_admin&per_page=100",
                200,
                role("general_admin", [json!(1), json!(2)]),
            ),
            (
                "/roles?filter%5Btype_eq%5D=space_private_member&per_page=100",
                200,
                role("space_private_member", [json!("1"), json!("3")]),
            ),
            (
                "/vote_proposals?per_page=100",
                200,
                json!({"data": [author(Value::Null), author(json!("3")), author(json!("4"))]}),
            ),
        ];
        let comparison = recorded("actors", &old, &[], &[], 0);
        let actors = comparison.default_actors().await.unwrap();
        let names: Vec<String> = actors.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["service", "user 1 (administrator)", "user 3 (member)", "user 4 (voter)"]);
        run(&comparison).await.unwrap_err();
    }

    #[test]
    fn the_report_of_an_import_names_what_it_left_out_and_not_what_it_changed() {
        let report = json!({"codes": {
            "W-ORPHAN": {"count": 1, "ids": ["proposals_proposals 7"]},
            "W-EMAIL": {"count": 1, "ids": ["users 4"]},
            "W-NICKNAME": {"count": 1, "ids": ["users 3"]}}});
        let (dropped, renamed) = (named_ids(&report, DROPPING), named_ids(&report, "W-NICKNAME"));
        assert_eq!(dropped, [("proposals_proposals".to_owned(), "7".to_owned())].into());
        assert_eq!(renamed, [("users".to_owned(), "3".to_owned())].into());
        assert!(is_named(&dropped, Subject { group: "proposals", key: "7", path: "" }));
        assert!(!is_named(&dropped, Subject { group: "users", key: "7", path: "" }));
        assert!(named_ids(&Value::Null, DROPPING).is_empty());
    }
}
