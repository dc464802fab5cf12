//! The settings of components: names, types and defaults (contract 05 §3.5, §3.6, 10 §2).
//!
//! One table; the `meta` of a component, the voting rules and the checks of an archive use it.

use crate::ComponentKind;
use civitas_kernel::{FieldError, Locales, StepId};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The scope of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingLevel {
    /// Stored with the component.
    Global,
    /// Stored for each step, and once for no step.
    Step,
}

/// The type of a setting, with its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingDefault {
    /// A boolean.
    Bool(bool),
    /// A whole number, 0 or more.
    Integer(i64),
    /// The organization's `comments_max_length`.
    OrganizationsCommentLength,
    /// One of these words; the first is the default.
    Word(&'static [&'static str]),
    /// Translated text, `{}`.
    Translated,
    /// A list of texts, `[]`.
    Words,
}

/// One setting of one kind of component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The name, in `meta` and in archives.
    pub key: &'static str,
    /// Its scope.
    pub level: SettingLevel,
    /// Its type and default.
    pub default: SettingDefault,
    /// Whether the component's `meta` shows it.
    pub is_in_meta: bool,
}

const fn meta_setting(key: &'static str, level: SettingLevel, default: SettingDefault) -> Setting {
    Setting { key, level, default, is_in_meta: true }
}

const fn internal_setting(key: &'static str, level: SettingLevel, default: SettingDefault) -> Setting {
    Setting { key, level, default, is_in_meta: false }
}

const SORT_ORDERS: &[&str] = &[
    "default",
    "random",
    "recent",
    "most_voted",
    "most_endorsed",
    "most_commented",
    "most_followed",
    "with_more_authors",
    "automatic",
];

const COMMON: &[Setting] = &[
    meta_setting("scopes_enabled", SettingLevel::Global, SettingDefault::Bool(false)),
    internal_setting("global_announcement", SettingLevel::Global, SettingDefault::Translated),
];

const MEETINGS: &[Setting] = &[
    meta_setting("default_registration_terms", SettingLevel::Global, SettingDefault::Translated),
    meta_setting("comments_enabled", SettingLevel::Global, SettingDefault::Bool(true)),
    meta_setting("comments_max_length", SettingLevel::Global, SettingDefault::OrganizationsCommentLength),
    meta_setting("registration_code_enabled", SettingLevel::Global, SettingDefault::Bool(true)),
    meta_setting("creation_enabled_for_participants", SettingLevel::Global, SettingDefault::Bool(false)),
];

const PROPOSALS: &[Setting] = &[
    meta_setting("amendments_enabled", SettingLevel::Global, SettingDefault::Bool(false)),
    meta_setting("attachments_allowed", SettingLevel::Global, SettingDefault::Bool(false)),
    meta_setting("comments_enabled", SettingLevel::Global, SettingDefault::Bool(true)),
    meta_setting("comments_max_length", SettingLevel::Global, SettingDefault::OrganizationsCommentLength),
    meta_setting("default_sort_order", SettingLevel::Global, SettingDefault::Word(SORT_ORDERS)),
    meta_setting("geocoding_enabled", SettingLevel::Global, SettingDefault::Bool(false)),
    meta_setting("minimum_votes_per_user", SettingLevel::Global, SettingDefault::Integer(0)),
    meta_setting("official_proposals_enabled", SettingLevel::Global, SettingDefault::Bool(true)),
    meta_setting("participatory_texts_enabled", SettingLevel::Global, SettingDefault::Bool(false)),
    meta_setting("proposal_edit_time", SettingLevel::Global, SettingDefault::Word(&["limited", "infinite"])),
    meta_setting("proposal_edit_before_minutes", SettingLevel::Global, SettingDefault::Integer(5)),
    meta_setting("proposal_limit", SettingLevel::Global, SettingDefault::Integer(0)),
    meta_setting("resources_permissions_enabled", SettingLevel::Global, SettingDefault::Bool(true)),
    meta_setting("threshold_per_proposal", SettingLevel::Global, SettingDefault::Integer(0)),
    meta_setting("vote_limit", SettingLevel::Global, SettingDefault::Integer(0)),
    meta_setting(
        "awesome_voting_manifest",
        SettingLevel::Global,
        SettingDefault::Word(&["", "voting_cards"]),
    ),
    meta_setting("voting_cards_show_abstain", SettingLevel::Global, SettingDefault::Bool(false)),
    meta_setting("voting_cards_show_modal_help", SettingLevel::Global, SettingDefault::Bool(false)),
    meta_setting("voting_cards_box_title", SettingLevel::Global, SettingDefault::Translated),
    meta_setting("voting_cards_instructions", SettingLevel::Global, SettingDefault::Translated),
    internal_setting("proposal_length", SettingLevel::Global, SettingDefault::Integer(500)),
    internal_setting(
        "can_accumulate_votes_beyond_threshold",
        SettingLevel::Global,
        SettingDefault::Bool(false),
    ),
    meta_setting("votes_enabled", SettingLevel::Step, SettingDefault::Bool(false)),
    meta_setting("creation_enabled", SettingLevel::Step, SettingDefault::Bool(false)),
    meta_setting("proposal_answering_enabled", SettingLevel::Step, SettingDefault::Bool(true)),
    meta_setting("amendment_creation_enabled", SettingLevel::Step, SettingDefault::Bool(true)),
    meta_setting("amendment_reaction_enabled", SettingLevel::Step, SettingDefault::Bool(true)),
    meta_setting("amendment_promotion_enabled", SettingLevel::Step, SettingDefault::Bool(true)),
    meta_setting("endorsements_enabled", SettingLevel::Step, SettingDefault::Bool(true)),
    internal_setting("votes_blocked", SettingLevel::Step, SettingDefault::Bool(false)),
    internal_setting("votes_hidden", SettingLevel::Step, SettingDefault::Bool(false)),
    internal_setting("votes_enabled_by_status", SettingLevel::Step, SettingDefault::Bool(false)),
    internal_setting("votes_enabled_states", SettingLevel::Step, SettingDefault::Words),
];

/// The settings one kind of component has.
#[derive(Debug, Clone, Copy)]
pub struct SettingsSchema(&'static [Setting]);

impl SettingsSchema {
    /// Those of this kind.
    pub fn for_manifest(kind: ComponentKind) -> Self {
        Self(match kind {
            ComponentKind::Proposals => PROPOSALS,
            ComponentKind::Meetings => MEETINGS,
            _ => &[],
        })
    }

    /// All of them.
    pub fn iter(self) -> impl Iterator<Item = &'static Setting> {
        COMMON.iter().chain(self.0)
    }

    /// The setting with this name.
    pub fn get(self, key: &str) -> Option<&'static Setting> {
        self.iter().find(|s| s.key == key)
    }

    /// The error of settings to store: the first unknown key or value of a wrong type. Texts are in
    /// `locales`, those of the deployment.
    pub fn find_error(
        self,
        level: SettingLevel,
        values: &Map<String, Value>,
        locales: &Locales,
    ) -> Option<FieldError> {
        values.iter().find_map(|(key, value)| match self.get(key).filter(|s| s.level == level) {
            None => Some(FieldError::new(key.clone(), "unknown_setting", format!("unknown setting {key}"))),
            Some(setting) if !setting.default.admits(value, locales) => {
                let text = format!("invalid value for setting {key}");
                Some(FieldError::new(key.clone(), "invalid_setting", text))
            }
            Some(_) => None,
        })
    }
}

impl SettingDefault {
    /// The default of a setting.
    pub fn value(self, comments_max_length: i64) -> Value {
        match self {
            Self::Bool(value) => json!(value),
            Self::Integer(value) => json!(value),
            Self::OrganizationsCommentLength => json!(comments_max_length),
            Self::Word(words) => json!(words[0]),
            Self::Translated => json!({}),
            Self::Words => json!([]),
        }
    }

    fn admits(self, value: &Value, locales: &Locales) -> bool {
        match self {
            Self::Bool(_) => value.is_boolean(),
            Self::Integer(_) | Self::OrganizationsCommentLength => value.as_i64().is_some_and(|n| n >= 0),
            Self::Word(words) => value.as_str().is_some_and(|v| words.contains(&v)),
            Self::Translated => is_translated(value, locales),
            Self::Words => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
        }
    }
}

/// An empty announcement may be stored as an empty text.
fn is_translated(value: &Value, locales: &Locales) -> bool {
    value.as_str() == Some("")
        || value.as_object().is_some_and(|texts| {
            texts.iter().all(|(locale, text)| locales.find(locale).is_some() && text.is_string())
        })
}

/// The step settings in force: those of the active step (defaults if none are stored for it), without an active step
/// the default set (contract 05 §3.5).
pub fn current_step_settings<'a>(
    active_step: Option<StepId>,
    by_step: &'a BTreeMap<StepId, Map<String, Value>>,
    default: &'a Map<String, Value>,
) -> Option<&'a Map<String, Value>> {
    match active_step {
        Some(step) => by_step.get(&step),
        None => Some(default),
    }
}

/// The value of a setting: the stored one, else its default. An empty text stored for a translated setting is read as
/// `{}`.
pub fn value_of(
    setting: &Setting,
    global: &Map<String, Value>,
    step_settings: Option<&Map<String, Value>>,
    comments_max_length: i64,
) -> Value {
    let kept = match setting.level {
        SettingLevel::Global => global.get(setting.key),
        SettingLevel::Step => step_settings.and_then(|s| s.get(setting.key)),
    };
    match kept {
        Some(value) if setting.default != SettingDefault::Translated || value.is_object() => value.clone(),
        _ => setting.default.value(comments_max_length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "it takes a literal")]
    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn unknown_keys_wrong_levels_and_wrong_types_are_named() {
        let settings = SettingsSchema::for_manifest(ComponentKind::Proposals);
        let fault = |level, value| settings.find_error(level, &map(value), &Locales::standard());
        assert_eq!(fault(SettingLevel::Global, json!({"vote_limit": 3, "scopes_enabled": true})), None);
        assert_eq!(
            fault(SettingLevel::Global, json!({"votes_enabled": true})).unwrap().description,
            "unknown setting votes_enabled"
        );
        assert_eq!(
            fault(SettingLevel::Step, json!({"votes_enabled": 1})).unwrap().description,
            "invalid value for setting votes_enabled"
        );
        assert_eq!(
            fault(SettingLevel::Global, json!({"vote_limit": -1})).unwrap().description,
            "invalid value for setting vote_limit"
        );
        assert!(fault(SettingLevel::Global, json!({"voting_cards_box_title": {"de": "x"}})).is_some());
        assert!(
            SettingsSchema::for_manifest(ComponentKind::Pages)
                .find_error(SettingLevel::Global, &map(json!({"vote_limit": 1})), &Locales::standard())
                .is_some()
        );
    }

    #[test]
    fn an_active_step_without_settings_means_the_defaults() {
        let default = map(json!({"votes_enabled": true}));
        let by_step = BTreeMap::from([(StepId(1), map(json!({"creation_enabled": true})))]);
        assert_eq!(current_step_settings(None, &by_step, &default), Some(&default));
        assert_eq!(current_step_settings(Some(StepId(1)), &by_step, &default), by_step.get(&StepId(1)));
        assert_eq!(current_step_settings(Some(StepId(2)), &by_step, &default), None);
    }

    #[test]
    fn an_announcement_kept_as_empty_text_reads_as_no_text() {
        let setting = SettingsSchema::for_manifest(ComponentKind::Pages).get("global_announcement").unwrap();
        assert_eq!(value_of(setting, &map(json!({"global_announcement": ""})), None, 1000), json!({}));
    }
}
