//! The switches of the interface of an organization (contract 01 §4, 04 §3).

use super::organization::{self, LIST};
use crate::parts::{Checkbox, Form, Html, Problem, Section, render};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_kernel::records::Entity;
use civitas_kernel::{OrganizationId, Result};
use civitas_organizations::{Features, Organization};

/// The modules, with their places.
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
    let mut place = 0;
    while place < MODULES.len() {
        all[place + 1] = MODULES[place];
        place += 1;
    }
    all
};

fn field(member: &str) -> String {
    format!("organization[features][{member}]")
}

#[derive(Template)]
#[template(
    source = r#"<fieldset class="group governed" id="features"><legend>{{ words.say("modules-legend") }}</legend><div class="ticks">{{ ticks }}</div></fieldset><p class="hint">{{ words.say("modules-hint") }}</p>"#,
    ext = "html"
)]
struct Modules<'a> {
    words: &'a Words,
    ticks: Html,
}

pub(crate) async fn show(
    visit: &Visit,
    id: OrganizationId,
    organization: &Organization,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let mut features = organization.features;
    let mut master = Checkbox::new(&field("enabled"), "Rest API enabled", features.enabled)
        .hint(visit.say("api-enabled-hint"));
    "features".clone_into(&mut master.governs);
    let ticks = Html::join(MODULES.iter().map(|(member, place)| {
        let module = member.trim_end_matches("_enabled");
        let label = visit.say(&format!("module-{module}"));
        let hint = visit.say(&format!("module-{module}-hint"));
        Checkbox::new(&field(member), label, *place(&mut features)).hint(hint).html()
    }));
    let master = Section::new("master", visit.say("organization-tab-api")).field(master.html());
    let modules = Section::new("modules", "Feature modules")
        .hint(visit.say("modules-lede"))
        .field(render(&Modules { words: &visit.words, ticks }));
    let form = Form::new(&visit.words, format!("{LIST}/{id}"), visit.token(), "settings-save")
        .method("put")
        .hidden("revision", visit.revision(organization.revision()))
        .section(master)
        .section(modules)
        .cancel(format!("{LIST}/{id}"));
    let title = organization::name(visit, organization);
    visit.form_page(organization::settings_head(visit, id, &title, "api"), form.html(), problems).await
}

/// Sets the switches that a form sent. While the master switch is off, the modules keep their values (contract 04 §7).
pub(crate) fn apply(visit: &Visit, features: &mut Features) {
    if let Some(is_on) = visit.form.switch(&field("enabled")) {
        features.enabled = is_on;
    }
    if features.enabled {
        for (member, place) in MODULES {
            if let Some(is_on) = visit.form.switch(&field(member)) {
                *place(features) = is_on;
            }
        }
    }
}
