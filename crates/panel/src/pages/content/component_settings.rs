//! The settings of components as the pages name, read and group them. Names, types and defaults are those of the
//! catalogue (`civitas_spaces::SettingsSchema`, contract 05 §3.6).

use crate::admin_request::AdminRequest;
use crate::parts::{FormError, FormErrors};
use civitas_kernel::StepId;
use civitas_spaces::{
    Component, ComponentKind, Setting, SettingDefault, SettingLevel, SettingsSchema, current_step_settings,
    value_of,
};
use serde_json::{Map, Value, json};

/// The sections of global settings, with the names of the settings of each. Others are in the last section.
pub(super) const SECTIONS: [(&str, &str); 3] = [
    (
        "writing",
        "proposal_limit proposal_length proposal_edit_time proposal_edit_before_minutes \
         official_proposals_enabled attachments_allowed geocoding_enabled amendments_enabled \
         participatory_texts_enabled",
    ),
    (
        "voting",
        "awesome_voting_manifest voting_cards_show_abstain voting_cards_show_modal_help \
         voting_cards_box_title voting_cards_instructions vote_limit minimum_votes_per_user \
         threshold_per_proposal can_accumulate_votes_beyond_threshold",
    ),
    (
        "registration",
        "registration_code_enabled creation_enabled_for_participants default_registration_terms",
    ),
];

/// Settings whose field has an explanation.
const EXPLAINED: &str = "comments_max_length creation_enabled_for_participants global_announcement \
                         default_registration_terms minimum_votes_per_user proposal_edit_before_minutes \
                         proposal_length proposal_limit threshold_per_proposal vote_limit votes_blocked \
                         votes_enabled votes_enabled_by_status votes_enabled_states votes_hidden";

/// Whether a list of names has this one.
pub(super) fn has_name(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}

fn setting_key(setting: &Setting) -> String {
    format!("component-setting-{}", setting.key.replace('_', "-"))
}

/// The name of a setting.
pub(super) fn setting_label(req: &AdminRequest, setting: &Setting) -> String {
    req.tr(&setting_key(setting))
}

/// The explanation of a setting; empty where there is none.
pub(super) fn setting_hint(req: &AdminRequest, setting: &Setting) -> String {
    if has_name(EXPLAINED, setting.key) {
        req.tr(&format!("{}-hint", setting_key(setting)))
    } else {
        String::new()
    }
}

fn word_key(setting: &Setting, word: &str) -> String {
    let word = if word.is_empty() { "none".to_owned() } else { word.replace('_', "-") };
    format!("{}-{word}", setting_key(setting))
}

/// The name of one of the words of a setting.
pub(super) fn word_label(req: &AdminRequest, setting: &Setting, word: &str) -> String {
    req.tr(&word_key(setting, word))
}

/// The name of a kind of component.
pub(super) fn component_kind_name(req: &AdminRequest, kind: ComponentKind) -> String {
    req.tr(&format!("component-{}", kind.as_str().replace('_', "-")))
}

/// The settings of one level.
pub(super) fn settings_of_level(kind: ComponentKind, level: SettingLevel) -> Vec<&'static Setting> {
    SettingsSchema::for_manifest(kind).iter().filter(|setting| setting.level == level).collect()
}

/// The name of the field of a global setting.
pub(super) fn global_field(setting: &str) -> String {
    format!("component[settings][{setting}]")
}

/// The name of the field of a setting of a step; `None`: without an active step.
pub(super) fn step_field(step: Option<StepId>, setting: &str) -> String {
    match step {
        Some(step) => format!("component[step_settings][{step}][{setting}]"),
        None => format!("component[default_step_settings][{setting}]"),
    }
}

/// The value in force: the stored one or the default. `comments_max_length`: that of the organization.
pub(super) fn setting_value(
    setting: &Setting,
    stored: &Map<String, Value>,
    comments_max_length: i64,
) -> Value {
    match setting.level {
        SettingLevel::Global => value_of(setting, stored, None, comments_max_length),
        SettingLevel::Step => value_of(setting, &Map::new(), Some(stored), comments_max_length),
    }
}

/// Sets the settings of a level that a form sent. A setting that keeps the value in force stays as it is stored.
/// `name` gives the name of the field of a setting.
pub(super) fn read_settings(
    req: &AdminRequest,
    settings: &[&'static Setting],
    comments_max_length: i64,
    name: impl Fn(&str) -> String,
    stored: &mut Map<String, Value>,
    problems: &mut FormErrors,
) {
    for setting in settings {
        let field = name(setting.key);
        match typed(req, setting, &field) {
            Ok(None) => {}
            // Without a number of its own the component has that of the organization.
            Ok(Some(Value::Null)) => drop(stored.remove(setting.key)),
            Ok(Some(typed)) if typed == setting_value(setting, stored, comments_max_length) => {}
            Ok(Some(typed)) => drop(stored.insert(setting.key.to_owned(), typed)),
            Err(text) => problems.push(FormError::new(field, req.tr(text))),
        }
    }
}

/// What was typed in the field of a setting; `None` when the form did not have it, null when an optional number is
/// empty. The error is the key of the problem.
fn typed(req: &AdminRequest, setting: &Setting, field: &str) -> Result<Option<Value>, &'static str> {
    let form = &req.form;
    let text = form.get(field).map(str::trim);
    Ok(match setting.default {
        SettingDefault::Bool(_) => form.checkbox(field).map(Value::Bool),
        SettingDefault::OrganizationsCommentLength if text == Some("") => Some(Value::Null),
        SettingDefault::Integer(_) | SettingDefault::OrganizationsCommentLength => match text {
            None => None,
            Some(text) => Some(json!(text.parse::<i64>().map_err(|_| "problem-number")?)),
        },
        SettingDefault::Word(_) => text.map(|text| json!(text)),
        SettingDefault::Translated => form.has_prefix(&format!("{field}[")).then(|| {
            let texts = form.texts(field, &req.panel.settings.site.locales);
            let texts = texts.iter().map(|(locale, text)| (locale.to_string(), json!(text)));
            Value::Object(texts.collect())
        }),
        SettingDefault::Words => text.map(|_| json!(form.lines(field))),
    })
}

/// What changes in a component when another step becomes active, one sentence each.
pub(super) fn step_setting_changes(
    req: &AdminRequest,
    component: &Component,
    comments_max_length: i64,
    active: Option<StepId>,
    next: StepId,
) -> Vec<String> {
    let none = Map::new();
    let settings_of = |step| {
        current_step_settings(step, &component.step_settings, &component.default_step_settings)
            .unwrap_or(&none)
    };
    let (before, after) = (settings_of(active), settings_of(Some(next)));
    let changed = settings_of_level(component.kind, SettingLevel::Step).into_iter().filter_map(|setting| {
        let (old, new) = (
            setting_value(setting, before, comments_max_length),
            setting_value(setting, after, comments_max_length),
        );
        (old != new).then(|| {
            let values =
                [("setting", setting_label(req, setting).into()), ("value", value_text(req, &new).into())];
            req.tr_args("setting-becomes", &values)
        })
    });
    changed.collect()
}

/// A value of a setting of a step as a page writes it.
fn value_text(req: &AdminRequest, value: &Value) -> String {
    match value {
        Value::Bool(is_on) => req.tr(if *is_on { "on" } else { "off" }),
        Value::Array(list) if list.is_empty() => req.tr("none"),
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translator::Translator;
    use civitas_kernel::Locale;

    #[test]
    fn every_setting_of_the_catalogue_has_its_texts() {
        let translator = Translator::for_locale(Locale::EN);
        let check = |key: String| assert_ne!(translator.tr(&key), key);
        for kind in ComponentKind::ALL {
            check(format!("component-{}", kind.as_str().replace('_', "-")));
            for setting in SettingsSchema::for_manifest(kind).iter() {
                check(setting_key(setting));
                if has_name(EXPLAINED, setting.key) {
                    check(format!("{}-hint", setting_key(setting)));
                }
                if let SettingDefault::Word(list) = setting.default {
                    for word in list {
                        check(word_key(setting, word));
                    }
                }
            }
        }
        for (section, _) in SECTIONS {
            check(format!("component-section-{section}"));
        }
    }

    #[test]
    fn the_sections_name_global_settings_of_the_catalogue() {
        let known = |key: &str| {
            let of_kind = |kind| SettingsSchema::for_manifest(kind).get(key).copied();
            ComponentKind::ALL.into_iter().find_map(of_kind).map(|setting| setting.level)
        };
        for name in SECTIONS.iter().flat_map(|(_, names)| names.split(' ')) {
            assert_eq!(known(name), Some(SettingLevel::Global), "{name}");
        }
        for name in EXPLAINED.split(' ') {
            assert!(known(name).is_some(), "{name}");
        }
    }

    #[test]
    fn fields_are_named_by_level_and_step() {
        assert_eq!(global_field("vote_limit"), "component[settings][vote_limit]");
        assert_eq!(step_field(None, "votes_enabled"), "component[default_step_settings][votes_enabled]");
        let of_step = step_field(Some(StepId(3)), "votes_enabled");
        assert_eq!(of_step, "component[step_settings][3][votes_enabled]");
    }
}
