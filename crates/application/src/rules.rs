//! Turns component settings (spaces) into voting rules (proposals).

use civitas_kernel::{FieldError, Locales, StepId};
use civitas_proposals::{ComponentRules, VotingManifest};
use civitas_spaces::{Component, SettingLevel, SettingsSchema, current_step_settings, value_of};
use serde_json::{Map, Value};

/// The settings of a component that are in force now.
#[derive(Debug, Clone, Copy)]
pub struct CurrentSettings<'a> {
    schema: SettingsSchema,
    global: &'a Map<String, Value>,
    step_settings: Option<&'a Map<String, Value>>,
    comments_max_length: i64,
}

impl<'a> CurrentSettings<'a> {
    /// The settings of a component while this step is active. `comments_max_length` is the organization's.
    pub fn new(component: &'a Component, active_step: Option<StepId>, comments_max_length: i64) -> Self {
        Self {
            schema: SettingsSchema::for_manifest(component.kind),
            global: &component.settings,
            step_settings: current_step_settings(
                active_step,
                &component.step_settings,
                &component.default_step_settings,
            ),
            comments_max_length,
        }
    }

    /// The settings in the component's `meta`, without computed flags (contract 05 §3.6).
    pub fn meta_settings(self) -> impl Iterator<Item = (&'static str, Value)> {
        self.schema.iter().filter(|s| s.is_in_meta).map(move |s| (s.key, self.value(s.key)))
    }

    /// The value of one setting; null where components of this kind have no such setting.
    pub fn value(self, key: &str) -> Value {
        let setting = self.schema.get(key);
        setting
            .map_or(Value::Null, |s| value_of(s, self.global, self.step_settings, self.comments_max_length))
    }

    fn flag(self, key: &str) -> bool {
        self.value(key).as_bool().unwrap_or_default()
    }

    fn number(self, key: &str) -> i64 {
        self.value(key).as_i64().unwrap_or_default()
    }

    /// The rules of a proposals component.
    pub fn rules(self) -> ComponentRules {
        let states = self.value("votes_enabled_states");
        ComponentRules {
            votes_enabled: self.flag("votes_enabled"),
            votes_blocked: self.flag("votes_blocked"),
            votes_hidden: self.flag("votes_hidden"),
            votes_enabled_by_status: self.flag("votes_enabled_by_status"),
            votes_enabled_states: serde_json::from_value(states).unwrap_or_default(),
            voting_manifest: match self.value("awesome_voting_manifest").as_str() {
                Some("voting_cards") => VotingManifest::Cards,
                _ => VotingManifest::Simple,
            },
            abstain: self.flag("voting_cards_show_abstain"),
            vote_limit: self.number("vote_limit"),
            minimum_votes_per_user: self.number("minimum_votes_per_user"),
            threshold_per_proposal: self.number("threshold_per_proposal"),
            can_accumulate_beyond_threshold: self.flag("can_accumulate_votes_beyond_threshold"),
            proposal_limit: self.number("proposal_limit"),
            proposal_length: self.number("proposal_length"),
            creation_enabled: self.flag("creation_enabled"),
        }
    }
}

/// The first invalid setting as an error with its path; `None` if all are valid. Texts are in `locales`, those of the
/// deployment. For archives and the panel.
pub fn component_settings_error(component: &Component, locales: &Locales) -> Option<FieldError> {
    let schema = SettingsSchema::for_manifest(component.kind);
    let of_steps = std::iter::once(&component.default_step_settings).chain(component.step_settings.values());
    schema.find_error(SettingLevel::Global, &component.settings, locales).or_else(|| {
        of_steps.into_iter().find_map(|of_step| schema.find_error(SettingLevel::Step, of_step, locales))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::{SpaceKind, SpaceRef, Translated};
    use civitas_spaces::ComponentKind;
    use serde_json::json;

    fn component(kind: ComponentKind) -> Component {
        let space = SpaceRef { kind: SpaceKind::ParticipatoryProcesses, id: 1 };
        Component::new(space, kind, Translated::default(), time::macros::datetime!(2026-01-01 0:00 UTC))
    }

    #[test]
    fn a_new_component_has_the_rules_of_the_defaults() {
        let component = component(ComponentKind::Proposals);
        let rules = CurrentSettings::new(&component, None, 1000).rules();
        assert_eq!(rules, ComponentRules { proposal_length: 500, ..ComponentRules::default() });
    }

    #[test]
    fn the_active_step_changes_the_settings_at_once() {
        let mut component = component(ComponentKind::Proposals);
        let voting = json!({"votes_enabled": true}).as_object().unwrap().clone();
        component.step_settings.insert(StepId(2), voting);
        assert!(!CurrentSettings::new(&component, Some(StepId(1)), 1000).rules().votes_enabled);
        assert!(CurrentSettings::new(&component, Some(StepId(2)), 1000).rules().votes_enabled);
    }

    #[test]
    fn the_meta_of_most_kinds_is_one_setting() {
        let component = component(ComponentKind::Pages);
        let shown: Vec<_> = CurrentSettings::new(&component, None, 1000).meta_settings().collect();
        assert_eq!(shown, [("scopes_enabled", json!(false))]);
    }

    #[test]
    fn the_comment_length_is_the_organizations_until_it_is_set() {
        let component = component(ComponentKind::Meetings);
        assert_eq!(CurrentSettings::new(&component, None, 700).value("comments_max_length"), json!(700));
    }
}
