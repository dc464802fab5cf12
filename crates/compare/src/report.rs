//! Counts what was found, and reports it: as JSON, or as text for people (sheet 13 §9).

use crate::difference::{DifferenceCode, ItemKey, is_derived};
use crate::source::{hex, sha256};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::{self, Display, Formatter};

/// The differences that a group of the report shows.
const MAX_SAMPLES: usize = 20;

/// What was compared, and what differs.
#[derive(Debug, Serialize)]
pub struct ComparisonReport {
    /// The address of the old server, or the directory of its recorded answers.
    pub(crate) old: String,
    pub(crate) new: String,
    pub(crate) actors: Vec<ActorReport>,
    /// What was not compared, and why.
    pub(crate) skipped: BTreeSet<String>,
    pub(crate) seconds: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct ActorReport {
    pub(crate) actor: String,
    pub(crate) groups: BTreeMap<&'static str, GroupReport>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct GroupReport {
    /// The number of items of both servers together.
    items: usize,
    equal: usize,
    /// The number of items with an expected difference, by code.
    expected: BTreeMap<DifferenceCode, usize>,
    /// The number of items of both servers, and of lists, with a difference that is not expected.
    different: usize,
    /// The keys of items that only the old server has.
    only_old: Vec<String>,
    only_new: Vec<String>,
    /// The first differences that are not expected.
    samples: Vec<Sample>,
    /// SHA-256 over the digests of all answers of the old server in normal form.
    digest_old: String,
    digest_new: String,
}

/// A member that differs. Values are digests unless values are shown, and null when the member is absent.
#[derive(Debug, Serialize)]
pub(crate) struct Sample {
    /// The path of the list or document.
    pub(crate) path: String,
    /// The key of the item, or the path of the list.
    pub(crate) key: String,
    /// The path of the member in the item.
    pub(crate) member: String,
    pub(crate) old: Option<String>,
    pub(crate) new: Option<String>,
}

impl ComparisonReport {
    /// The number of differences that are not expected.
    pub fn differences(&self) -> usize {
        let groups = self.actors.iter().flat_map(|actor| actor.groups.values());
        groups.map(|group| group.different + group.only_old.len() + group.only_new.len()).sum()
    }
}

impl Display for ComparisonReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(out, "old: {}\nnew: {}", self.old, self.new)?;
        for ActorReport { actor, groups } in &self.actors {
            writeln!(out, "{actor}")?;
            for (name, group) in groups {
                let GroupReport { items, equal, different, .. } = group;
                write!(out, "  {name}: {items} items, {equal} equal, {different} different")?;
                for (code, count) in &group.expected {
                    write!(out, ", {code} {count}")?;
                }
                writeln!(out)?;
                for (side, keys) in [("old", &group.only_old), ("new", &group.only_new)] {
                    if !keys.is_empty() {
                        writeln!(out, "    only {side}: {}", keys.join(" "))?;
                    }
                }
                for Sample { path, key, member, old, new } in &group.samples {
                    let [old, new] = [old, new].map(|value| value.as_deref().unwrap_or("absent"));
                    let item = if key == path { "" } else { key };
                    writeln!(out, "    {path} {item} {member}: {old} -> {new}")?;
                }
            }
        }
        for skipped in &self.skipped {
            writeln!(out, "not compared: {skipped}")?;
        }
        write!(out, "{} differences in {} s", self.differences(), self.seconds)
    }
}

/// An item that only one server has.
struct OneSided {
    is_old: bool,
    code: Option<DifferenceCode>,
}

/// What differs in an item of both servers, or in a list.
#[derive(Default)]
struct ItemDifferences {
    codes: BTreeSet<DifferenceCode>,
    is_different: bool,
    /// Differences without a code that an item of one server only may explain.
    derived: Vec<Sample>,
}

/// What was found in a group.
#[derive(Default)]
struct GroupTally {
    /// Complete at the end only.
    report: GroupReport,
    /// The keys of all items of both servers.
    keys: BTreeSet<String>,
    /// By the key of the item, or the path of the list.
    found: BTreeMap<String, ItemDifferences>,
    one_sided: BTreeMap<String, OneSided>,
}

/// What was found as an actor. An item that only one server has changes what the items it belongs to count and list: that
/// is no difference of its own.
#[derive(Default)]
pub(crate) struct Findings {
    /// By group.
    tallies: BTreeMap<&'static str, GroupTally>,
    /// The items that items of one server only belong to, and the code of those when each has one.
    causes: HashMap<ItemKey, Option<DifferenceCode>>,
}

impl Findings {
    /// Counts an item of one or both servers, given by the digests of its normal form.
    pub(crate) fn count_item(&mut self, group: &'static str, key: &str, digests: [Option<[u8; 32]>; 2]) {
        let tally = self.tallies.entry(group).or_default();
        tally.keys.insert(key.to_owned());
        let totals = [&mut tally.report.digest_old, &mut tally.report.digest_new];
        for (total, digest) in totals.into_iter().zip(digests) {
            if let Some(digest) = digest {
                *total = hex(&sha256(&[total.as_bytes(), digest.as_slice()].concat()));
            }
        }
    }

    /// Counts an item that only one server has. Without a code it has that of an item it belongs to, which is compared
    /// before.
    pub(crate) fn count_one_sided(
        &mut self,
        (group, key): ItemKey,
        is_old: bool,
        code: Option<DifferenceCode>,
        owners: Vec<ItemKey>,
    ) {
        let code_of = |(group, key): &ItemKey| self.tallies.get(group)?.one_sided.get(key)?.code;
        let code = code.or_else(|| owners.iter().find_map(code_of));
        for owner in owners {
            let cause = self.causes.entry(owner).or_insert(code);
            *cause = cause.and(code);
        }
        self.tallies.entry(group).or_default().one_sided.insert(key, OneSided { is_old, code });
    }

    /// Counts a member that differs. The same member of the same item, in a list and in a document, counts once.
    pub(crate) fn count_difference(
        &mut self,
        group: &'static str,
        code: Option<DifferenceCode>,
        sample: Sample,
    ) {
        let tally = self.tallies.entry(group).or_default();
        let found = tally.found.entry(sample.key.clone()).or_default();
        let samples = &mut tally.report.samples;
        let is_new = |known: &Sample| known.key != sample.key || known.member != sample.member;
        if let Some(code) = code {
            found.codes.insert(code);
        } else if is_derived(&sample.member) {
            if found.derived.iter().all(is_new) {
                found.derived.push(sample);
            }
        } else {
            found.is_different = true;
            if samples.len() < MAX_SAMPLES && samples.iter().all(is_new) {
                samples.push(sample);
            }
        }
    }

    pub(crate) fn reports(self) -> BTreeMap<&'static str, GroupReport> {
        let Self { tallies, causes } = self;
        tallies.into_iter().map(|(group, tally)| (group, tally.report(group, &causes))).collect()
    }
}

impl GroupTally {
    fn report(self, group: &'static str, causes: &HashMap<ItemKey, Option<DifferenceCode>>) -> GroupReport {
        let Self { mut report, keys, found, one_sided } = self;
        report.items = keys.len();
        let mut unequal = one_sided.len();
        for (key, one_sided) in one_sided {
            match one_sided.code {
                Some(code) => *report.expected.entry(code).or_default() += 1,
                None if one_sided.is_old => report.only_old.push(key),
                None => report.only_new.push(key),
            }
        }
        for (key, ItemDifferences { mut codes, mut is_different, derived }) in found {
            let is_item = keys.contains(&key);
            if !derived.is_empty() {
                if let Some(cause) = causes.get(&(group, key)) {
                    codes.extend(*cause);
                } else {
                    is_different = true;
                    report.samples.extend(derived);
                }
            }
            report.different += usize::from(is_different);
            unequal += usize::from(is_item && (is_different || !codes.is_empty()));
            for code in codes {
                *report.expected.entry(code).or_default() += 1;
            }
        }
        report.samples.truncate(MAX_SAMPLES);
        report.equal = report.items.saturating_sub(unequal);
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Option<[u8; 32]>; 2] = [Some([1; 32]), Some([2; 32])];

    fn differ(
        findings: &mut Findings,
        group: &'static str,
        key: &str,
        member: &str,
        code: Option<DifferenceCode>,
    ) {
        let [path, key, member] = ["/path", key, member].map(str::to_owned);
        findings.count_item(group, &key, BOTH);
        findings.count_difference(group, code, Sample { path, key, member, old: None, new: None });
    }

    fn missing_vote(findings: &mut Findings, code: Option<DifferenceCode>) {
        findings.count_item("votes", "4", [Some([1; 32]), None]);
        findings.count_one_sided(("votes", "4".to_owned()), true, code, vec![("proposals", "9".to_owned())]);
    }

    fn is_equal(group: &GroupReport) -> bool {
        group.different + group.only_old.len() + group.only_new.len() == 0
    }

    #[test]
    fn what_a_missing_vote_changes_in_its_proposal_is_no_second_difference() {
        let mut findings = Findings::default();
        differ(&mut findings, "proposals", "9", "meta.votes_count", None);
        missing_vote(&mut findings, None);
        let reports = findings.reports();
        assert_eq!(reports["votes"].only_old, ["4"]);
        assert_eq!((reports["proposals"].different, reports["proposals"].equal), (0, 1));
    }

    #[test]
    fn other_differences_of_the_proposal_and_of_others_are_some() {
        let mut findings = Findings::default();
        differ(&mut findings, "proposals", "9", "meta.votes_count", None);
        differ(&mut findings, "proposals", "9", "attributes.title.en", None);
        differ(&mut findings, "proposals", "10", "meta.votes_count", None);
        missing_vote(&mut findings, None);
        let reports = findings.reports();
        assert_eq!((reports["proposals"].different, reports["proposals"].samples.len()), (2, 2));
    }

    #[test]
    fn a_vote_on_a_hidden_proposal_is_hidden_too() {
        let mut findings = Findings::default();
        findings.count_item("proposals", "9", [Some([1; 32]), None]);
        findings.count_one_sided(("proposals", "9".to_owned()), true, Some("E-HIDDEN"), Vec::new());
        missing_vote(&mut findings, None);
        let reports = findings.reports();
        assert!(reports.values().all(|report| report.expected["E-HIDDEN"] == 1 && is_equal(report)));
    }

    #[test]
    fn what_an_expected_vote_changes_is_expected() {
        let mut findings = Findings::default();
        differ(&mut findings, "proposals", "9", "meta.votes_count", None);
        missing_vote(&mut findings, Some("E-HIDDEN"));
        let reports = findings.reports();
        assert!(reports.values().all(|report| report.expected["E-HIDDEN"] == 1 && is_equal(report)));
    }

    #[test]
    fn an_item_with_expected_and_other_differences_counts_as_both() {
        let mut findings = Findings::default();
        differ(&mut findings, "users", "1", "attributes.email", Some("E-USERS"));
        differ(&mut findings, "users", "1", "attributes.about", None);
        differ(&mut findings, "users", "1", "attributes.about", None);
        let report = &findings.reports()["users"];
        assert_eq!((report.items, report.different, report.samples.len()), (1, 1, 1));
        assert_eq!(report.expected["E-USERS"], 1);
    }

    #[test]
    fn many_differences_are_counted_and_a_few_are_kept() {
        let mut findings = Findings::default();
        for id in 0..1000 {
            differ(&mut findings, "users", &id.to_string(), "attributes.about", None);
        }
        assert_eq!(findings.tallies["users"].report.samples.len(), MAX_SAMPLES);
        assert_eq!(findings.reports()["users"].different, 1000);
    }
}
