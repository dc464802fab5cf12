//! Settings of components (sheet 13 §5.8).

use crate::row::integer;
use crate::text::{Languages, MappedText};
use crate::version::Version;
use civitas_spaces::{ComponentKind, Setting, SettingDefault as Type, SettingLevel, SettingsSchema};
use serde_json::{Map, Value, json};

/// What the settings of a component become.
#[derive(Debug, Default)]
pub(crate) struct MappedSettings {
    pub(crate) global: Map<String, Value>,
    pub(crate) default_step: Map<String, Value>,
    /// By step of the source, those that have any.
    pub(crate) steps: Map<String, Value>,
    /// Values without a counterpart: key and value.
    pub(crate) refused: Vec<(&'static str, Value)>,
    /// Translated texts, for their losses.
    pub(crate) texts: Vec<MappedText>,
    /// Keys without a counterpart, with their values.
    pub(crate) unused: Map<String, Value>,
}

/// What the mapping of a component's settings depends on.
pub(crate) struct SettingsMapper<'a> {
    pub(crate) kind: ComponentKind,
    pub(crate) version: Version,
    /// Whether the source has the module `decidim_awesome`.
    pub(crate) has_awesome: bool,
    pub(crate) languages: Languages<'a>,
}

impl SettingsMapper<'_> {
    pub(crate) fn map(&self, settings: &Value) -> MappedSettings {
        let mut mapped = MappedSettings::default();
        let part = |name: &str| settings.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        mapped.global = self.part(SettingLevel::Global, &part("global"), &mut mapped);
        mapped.default_step = self.part(SettingLevel::Step, &part("default_step"), &mut mapped);
        for (step, values) in part("steps") {
            let Some(values) = values.as_object() else { continue };
            let values = self.part(SettingLevel::Step, values, &mut mapped);
            if !values.is_empty() {
                mapped.steps.insert(step, values.into());
            }
        }
        mapped
    }

    fn part(
        &self,
        level: SettingLevel,
        values: &Map<String, Value>,
        mapped: &mut MappedSettings,
    ) -> Map<String, Value> {
        let (mut ours, mut used) = (Map::new(), Vec::new());
        for setting in SettingsSchema::for_manifest(self.kind).iter().filter(|setting| setting.level == level)
        {
            let key = self.key(setting.key);
            used.push(key);
            if let Some(value) = self.value(setting, values.get(key).unwrap_or(&Value::Null), mapped) {
                ours.insert(setting.key.to_owned(), value);
            }
        }
        let is_unused = |key: &str| !used.contains(&key) && !is_flattened(key, values);
        let unused = values.iter().filter(|(key, value)| is_unused(key) && !value.is_null());
        mapped.unused.extend(unused.map(|(key, value)| (key.clone(), value.clone())));
        ours
    }

    fn key(&self, ours: &'static str) -> &'static str {
        match ours {
            "global_announcement" => "announcement",
            "votes_enabled_by_status" => "awesome_votes_enabled_by_status",
            "votes_enabled_states" => "awesome_votes_enabled_states",
            "endorsements_enabled" if self.version >= Version::V31 => "likes_enabled",
            "proposal_edit_before_minutes" if self.version >= Version::V30 => "edit_time",
            _ => ours,
        }
    }

    /// The value of our setting; `None`: it has the default.
    fn value(&self, setting: &Setting, value: &Value, mapped: &mut MappedSettings) -> Option<Value> {
        if setting.key == "scopes_enabled" && self.version >= Version::V31 {
            return None;
        }
        if value.is_null() {
            return self.default(setting.key);
        }
        let read = match (setting.key, setting.default) {
            ("proposal_edit_before_minutes", _) if value.is_array() => minutes(value),
            (_, Type::Bool(_)) => boolean(value).map(Value::Bool),
            (_, Type::Integer(_)) => integer(value).filter(|number| *number >= 0).map(Value::from),
            (_, Type::OrganizationsCommentLength) => {
                return integer(value).filter(|n| *n > 0).map(Value::from);
            }
            (key, Type::Word(words)) => value.as_str().and_then(|text| word(key, text, words)),
            (_, Type::Words) => {
                value.as_array().filter(|list| list.iter().all(Value::is_string)).map(|list| json!(list))
            }
            (_, Type::Translated) => {
                let text = self.languages.content(value);
                let value = text.value.clone();
                mapped.texts.push(text);
                return (!value.is_empty()).then(|| value.into());
            }
        };
        let is_blank = value.as_str().is_some_and(|text| text.trim().is_empty());
        if read.is_none() && !is_blank {
            mapped.refused.push((setting.key, value.clone()));
            if integer(value).is_some_and(|number| number < 0) {
                return Some(json!(0));
            }
        }
        read.or_else(|| self.default(setting.key))
    }

    /// Decidim's default where it differs from ours.
    fn default(&self, key: &str) -> Option<Value> {
        match key {
            "default_sort_order" => Some(json!("automatic")),
            "voting_cards_show_modal_help" if self.has_awesome => Some(json!(true)),
            "scopes_enabled" if self.kind == ComponentKind::Accountability => Some(json!(true)),
            _ => None,
        }
    }
}

fn word(key: &str, word: &str, words: &[&str]) -> Option<Value> {
    let word = match (key, word) {
        ("default_sort_order", "most_liked") => "most_endorsed",
        ("awesome_voting_manifest", "default") => "",
        _ => word,
    };
    words.contains(&word).then(|| json!(word))
}

/// A boolean, also as a text.
pub(crate) fn boolean(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::String(text) if ["1", "true"].contains(&text.as_str()) => Some(true),
        Value::String(text) if ["0", "false"].contains(&text.as_str()) => Some(false),
        Value::Number(number) => Some(number.as_i64() != Some(0)),
        _ => None,
    }
}

/// `["2", "hours"]` in minutes.
fn minutes(value: &Value) -> Option<Value> {
    let (number, unit) = (integer(value.get(0)?)?, value.get(1)?.as_str()?);
    let factor = match unit {
        "minutes" => 1,
        "hours" => 60,
        "days" => 1440,
        _ => return None,
    };
    number.checked_mul(factor).filter(|minutes| *minutes >= 0).map(Value::from)
}

/// Whether a key is the translation of another one, `announcement_es__MX`: Decidim writes it beside the other one.
fn is_flattened(key: &str, values: &Map<String, Value>) -> bool {
    key.match_indices('_').any(|(at, _)| {
        let (name, locale) = (&key[..at], key[at + 1..].replace("__", "-"));
        (values.contains_key(name) || name == "announcement")
            && civitas_kernel::Locale::parse(&locale).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::Locales;
    use std::collections::BTreeMap;

    fn mapped(kind: ComponentKind, version: Version, settings: &Value) -> MappedSettings {
        let (locales, map) = (Locales::standard(), BTreeMap::new());
        let languages = Languages { locales: &locales, map: &map, default: "en" };
        SettingsMapper { kind, version, has_awesome: true, languages }.map(settings)
    }

    #[test]
    fn settings_of_proposals_are_renamed_and_converted() {
        let settings = json!({
            "global": {
                "vote_limit": 3, "proposal_limit": "5", "edit_time": ["2", "hours"], "default_sort_order": "most_liked",
                "comments_max_length": 0, "announcement": {"en": "Hi", "machine_translations": {"fr": "Salut"}},
                "announcement_es__MX": "x", "threshold_per_proposal": -1, "awesome_voting_manifest": "default",
                "taxonomy_filters": ["4"], "scopes_enabled": true, "comments_enabled": "maybe",
            },
            "default_step": null,
            "steps": {"1": {"likes_enabled": "false", "endorsements_enabled": true, "votes_enabled": true}},
        });
        let mapped = mapped(ComponentKind::Proposals, Version::V32, &settings);
        let global = json!({
            "vote_limit": 3, "proposal_limit": 5, "proposal_edit_before_minutes": 120,
            "default_sort_order": "most_endorsed", "global_announcement": {"en": "Hi"}, "threshold_per_proposal": 0,
            "awesome_voting_manifest": "", "voting_cards_show_modal_help": true,
        });
        assert_eq!(Value::from(mapped.global), global);
        let step = json!({"endorsements_enabled": false, "votes_enabled": true});
        assert_eq!(mapped.steps["1"], step);
        let refused: Vec<_> = mapped.refused.iter().map(|(key, _)| *key).collect();
        assert_eq!(refused, ["comments_enabled", "threshold_per_proposal"]);
        let unused: Vec<_> = mapped.unused.keys().map(String::as_str).collect();
        assert_eq!(unused, ["endorsements_enabled", "taxonomy_filters"]);
    }

    #[test]
    fn older_versions_have_other_keys() {
        let settings = json!({
            "global": {"proposal_edit_before_minutes": 7, "scopes_enabled": "1"},
            "default_step": {"endorsements_enabled": false},
        });
        let mapped = mapped(ComponentKind::Proposals, Version::V29, &settings);
        assert_eq!(mapped.global["proposal_edit_before_minutes"], 7);
        assert_eq!(mapped.global["scopes_enabled"], true);
        assert_eq!(mapped.default_step["endorsements_enabled"], false);
    }

    #[test]
    fn absent_settings_have_the_defaults_of_decidim() {
        let mapped = |kind| Value::from(mapped(kind, Version::V30, &Value::Null).global);
        assert_eq!(mapped(ComponentKind::Accountability), json!({"scopes_enabled": true}));
        assert_eq!(mapped(ComponentKind::Meetings), json!({}));
    }
}
