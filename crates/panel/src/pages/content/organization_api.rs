//! The switches of the interface of an organization (contract 01 §4, 04 §3).

use super::organization::{self, LIST};
use crate::admin_request::AdminRequest;
use crate::parts::{Checkbox, FormErrors, Html, Section, render};
use crate::reply::Reply;
use crate::translator::Translator;
use askama::Template;
use civitas_kernel::records::Entity;
use civitas_kernel::{OrganizationId, Result};
use civitas_organizations::{Features, Organization};

/// The modules, with their members of the features.
pub(crate) type Module = (&'static str, fn(&mut Features) -> &mut bool);
pub(crate) const MODULES: [Module; 9] = [
    ("proposals_enabled", |f| &mut f.proposals_enabled),
    ("blogs_enabled", |f| &mut f.blogs_enabled),
    ("meetings_enabled", |f| &mut f.meetings_enabled),
    ("surveys_enabled", |f| &mut f.surveys_enabled),
    ("forms_enabled", |f| &mut f.forms_enabled),
    ("attachments_enabled", |f| &mut f.attachments_enabled),
    ("debates_enabled", |f| &mut f.debates_enabled),
    ("budgets_enabled", |f| &mut f.budgets_enabled),
    ("accountabilities_enabled", |f| &mut f.accountabilities_enabled),
];

/// The master switch, then the modules.
pub(crate) const SWITCHES: [Module; 10] = {
    let mut all: [Module; 10] = [("enabled", |f| &mut f.enabled); 10];
    let mut index = 0;
    while index < MODULES.len() {
        all[index + 1] = MODULES[index];
        index += 1;
    }
    all
};

fn field(member: &str) -> String {
    format!("organization[features][{member}]")
}

#[derive(Template)]
#[template(
    source = r#"<fieldset class="group governed" id="features"><legend>{{ translator.tr("modules-legend") }}</legend><div class="ticks">{{ ticks }}</div></fieldset><p class="hint">{{ translator.tr("modules-hint") }}</p>"#,
    ext = "html"
)]
struct Modules<'a> {
    translator: &'a Translator,
    ticks: Html,
}

pub(crate) async fn edit_page(
    req: &AdminRequest,
    id: OrganizationId,
    organization: &Organization,
    problems: FormErrors,
) -> Result<Reply> {
    let mut features = organization.features;
    let mut master = Checkbox::new(&field("enabled"), "Rest API enabled", features.enabled)
        .hint(req.tr("api-enabled-hint"));
    "features".clone_into(&mut master.governs);
    let ticks = Html::join(MODULES.iter().map(|(member, value_of)| {
        let module = member.trim_end_matches("_enabled");
        let label = req.tr(&format!("module-{module}"));
        let hint = req.tr(&format!("module-{module}-hint"));
        Checkbox::new(&field(member), label, *value_of(&mut features)).hint(hint).html()
    }));
    let master = Section::new("master", req.tr("organization-tab-api")).field(master.html());
    let modules = Section::new("modules", "Feature modules")
        .hint(req.tr("modules-lede"))
        .field(render(&Modules { translator: &req.translator, ticks }));
    let form = req
        .build_form(format!("{LIST}/{id}"), "settings-save")
        .put(req.revision(organization.revision()))
        .section(master)
        .section(modules)
        .cancel(format!("{LIST}/{id}"));
    let title = organization::name(req, organization);
    req.form_page(organization::settings_tab_head(req, id, &title, "api"), form.html(), problems).await
}

/// Sets the switches that a form sent. While the master switch is off, the modules keep their values (contract 04 §7).
pub(crate) fn read_features(req: &AdminRequest, features: &mut Features) {
    if let Some(is_on) = req.form.checkbox(&field("enabled")) {
        features.enabled = is_on;
    }
    if features.enabled {
        for (member, value_of) in MODULES {
            if let Some(is_on) = req.form.checkbox(&field(member)) {
                *value_of(features) = is_on;
            }
        }
    }
}
