//! The account of the administrator: language and colours, password, second factor, sign-out.

use super::admins::{record, refusal};
use super::confirmation;
use crate::notice::Notice;
use crate::parts::{Act, Choice, Field, Form, Group, Head, Html, Problem, Section, language_name, render};
use crate::reply::Reply;
use crate::request::{SESSION, SIGN_IN_PATH};
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_accounts::Secret;
use civitas_accounts::administrators::{NewPassword, Theme};
use civitas_audit::{Action, Record};
use civitas_kernel::records::Entity;
use civitas_kernel::{Error, Locale, Result};
use qrcode::QrCode;
use qrcode::render::svg;

const PATH: &str = "/system/account";
const NEW: &str = "new_password";
const CODE: &str = "code";
/// The name of the deployment in an app of second factors.
const ISSUER: &str = "Civitas";

pub(crate) async fn show(visit: &mut Visit) -> Result<Reply> {
    page(visit, Vec::new()).await
}

async fn page(visit: &Visit, problems: Vec<Problem>) -> Result<Reply> {
    let body = if visit.signed.session.is_confirmed(visit.now) {
        Html::join([preferences(visit), password(visit, &problems), second_factor(visit)])
    } else {
        let confirm = Act::link(confirmation::address(PATH), visit.say("confirmation-open"));
        Html::join([preferences(visit), Act::row(&[confirm])])
    };
    let head = visit.head("account").lede(visit.signed.administrator.email.clone());
    visit.form_page(head, body, problems).await
}

fn preferences(visit: &Visit) -> Html {
    let own = &visit.signed.administrator;
    let browser = std::iter::once(Choice::new("", visit.say("language-of-browser")));
    let locales = Locale::OF_SERVICE.iter();
    let locales = locales.map(|locale| Choice::new(locale.as_str(), language_name(&visit.words, *locale)));
    let (locales, chosen) = (browser.chain(locales).collect(), own.locale.map(|locale| locale.to_string()));
    let language = Field::select("locale", visit.say("language"), chosen.unwrap_or_default(), locales);
    let name = |theme: &str| visit.say(&format!("theme-{theme}"));
    let themes = Theme::ALL.iter().map(|theme| Choice::new(theme.as_str(), name(theme.as_str())));
    let theme = Group::radios("theme", visit.say("theme"), themes.collect(), own.theme.as_str());
    let section = Section::new("preferences", visit.say("preferences"))
        .field(language.class("medium").html(&visit.words))
        .field(theme.html(&visit.words));
    Form::new(&visit.words, format!("{PATH}/preferences"), visit.token(), "preferences-save")
        .hidden("revision", visit.revision(own.revision()))
        .section(section)
        .html()
}

fn password(visit: &Visit, problems: &[Problem]) -> Html {
    let field = Field::password(NEW, visit.say("password-new"), "new-password");
    let field = field.hint(visit.say("password-hint")).check(problems).html(&visit.words);
    let section = Section::new("password", visit.say("password")).hint(visit.say("password-sessions"));
    let form = Form::new(&visit.words, format!("{PATH}/password"), visit.token(), "password-save");
    form.section(section.field(field)).html()
}

fn second_factor(visit: &Visit) -> Html {
    let (method, save, hint) = match &visit.signed.administrator.second_factor {
        Some(_) => ("delete", "second-factor-end", "second-factor-is-on"),
        None => ("", "second-factor-begin", "second-factor-is-off"),
    };
    let section = Section::new("factor", visit.say("second-factor"))
        .hint(visit.say("second-factor-hint"))
        .field(Html::paragraph("", &visit.say(hint)));
    let form = Form::new(&visit.words, format!("{PATH}/second_factor"), visit.token(), save);
    form.method(method).section(section).html()
}

/// An entry of the audit trail about the own account.
fn own_record(visit: &Visit, action: Action) -> Record {
    record(visit, action, visit.signed.id, &visit.signed.administrator.email)
}

pub(crate) async fn save_preferences(visit: &Visit) -> Result<Reply> {
    let locale =
        Locale::parse(visit.form.text("locale")).filter(|locale| Locale::OF_SERVICE.contains(locale));
    let theme = Theme::parse(visit.form.text("theme")).unwrap_or_default();
    let id = visit.signed.id;
    let saved = visit.change(async |tx| {
        let admin = Visit::administrators(tx);
        admin.find_for_update(id, visit.form_revision()).await?;
        admin.set_preferences(id, locale, theme, visit.now).await
    });
    if let Err(fault) = saved.await {
        return page(visit, refusal(visit, fault, NEW)?).await;
    }
    let words = locale.map_or(visit.words, Words::of);
    visit.redirect(PATH, Notice::good(words.say("preferences-saved"))).await
}

pub(crate) async fn save_password(visit: &Visit) -> Result<Reply> {
    let saved = async {
        let new = Secret::new(visit.form.get(NEW).unwrap_or_default());
        let email = &visit.signed.administrator.email;
        let new = NewPassword::of(&*visit.panel.services.passwords, email, &new).await?;
        let (id, session) = (visit.signed.id, &visit.signed.session.digest);
        visit
            .change_once(async |tx| {
                Visit::administrators(tx).change_own_password(id, new, session, visit.now).await?;
                visit.append(tx, &own_record(visit, Action::AdministratorPasswordChanged)).await
            })
            .await
    };
    match saved.await {
        Ok(()) => visit.done("password-saved", &[], PATH).await,
        Err(fault) => page(visit, refusal(visit, fault, NEW)?).await,
    }
}

#[derive(Template)]
#[template(path = "pages/second_factor.html")]
struct NewFactor<'a> {
    words: &'a Words,
    /// The QR code as SVG.
    image: Html,
    secret: &'a str,
    form: Html,
}

#[derive(Template)]
#[template(source = "{{ svg|safe }}", ext = "html")]
struct Image {
    svg: String,
}

/// A QR code. The `otpauth://` address is short enough for one.
fn qr_code(text: &str) -> Result<Html> {
    let code = QrCode::new(text).map_err(Error::internal)?;
    let svg = code.render::<svg::Color<'_>>().min_dimensions(200, 200).build();
    // The declaration of XML is not allowed inside of HTML.
    let svg = svg.find("<svg").map_or(String::new(), |start| svg[start..].to_owned());
    Ok(render(&Image { svg }))
}

/// The form that asks for the code of a new secret.
fn code_form(visit: &Visit, sealed: String, problems: &[Problem]) -> Html {
    let code = Field::text(CODE, visit.say("sign-in-code"), "")
        .hint(visit.say("second-factor-code-hint"))
        .class("short")
        .autocomplete("one-time-code")
        .check(problems)
        .html(&visit.words);
    let section = Section::new("code-section", visit.say("second-factor-confirm")).field(code);
    let save = "second-factor-turn-on";
    Form::new(&visit.words, format!("{PATH}/second_factor/confirm"), visit.token(), save)
        .hidden("sealed", sealed)
        .section(section)
        .cancel(PATH)
        .html()
}

pub(crate) async fn begin_second_factor(visit: &Visit) -> Result<Reply> {
    let id = visit.signed.id;
    let begun = visit.change(async |tx| visit.second_factors(tx).begin(id, ISSUER, visit.now).await).await;
    let factor = match begun {
        Ok(factor) => factor,
        Err(fault) => return page(visit, refusal(visit, fault, NEW)?).await,
    };
    let form = code_form(visit, factor.sealed, &[]);
    let body = render(&NewFactor {
        words: &visit.words,
        image: qr_code(factor.url.expose())?,
        secret: factor.secret.expose(),
        form,
    });
    let head = Head::new(visit.say("second-factor")).crumb(visit.say("account"), PATH);
    visit.page(head, body).await
}

pub(crate) async fn confirm_second_factor(visit: &Visit) -> Result<Reply> {
    let (id, session) = (visit.signed.id, &visit.signed.session.digest);
    let (sealed, code) = (visit.form.text("sealed"), visit.form.text(CODE));
    let confirmed = visit.change(async |tx| {
        let codes = visit.second_factors(tx).confirm(id, sealed, code, session, visit.now).await?;
        visit.append(tx, &own_record(visit, Action::AdministratorSecondFactorEnabled)).await?;
        Ok(codes)
    });
    match confirmed.await {
        Ok(codes) => {
            let codes: Vec<&str> = codes.iter().map(Secret::expose).collect();
            let notice = Notice::good(visit.say("second-factor-on"))
                .once(visit.say("recovery-codes"), codes.join("  "));
            visit.redirect(PATH, notice).await
        }
        Err(fault) => {
            let problems = refusal(visit, fault, NEW)?;
            if problems.iter().all(|problem| problem.field != CODE) {
                return page(visit, problems).await;
            }
            // The app has the account already: another code is enough.
            let head = Head::new(visit.say("second-factor")).crumb(visit.say("account"), PATH);
            let form = code_form(visit, sealed.to_owned(), &problems);
            visit.form_page(head, form, problems).await
        }
    }
}

pub(crate) async fn end_second_factor(visit: &Visit) -> Result<Reply> {
    let id = visit.signed.id;
    let ended = visit.change(async |tx| {
        Visit::administrators(tx).disable_second_factor(id, visit.now).await?;
        visit.append(tx, &own_record(visit, Action::AdministratorSecondFactorDisabled)).await
    });
    match ended.await {
        Ok(()) => visit.done("second-factor-off", &[], PATH).await,
        Err(fault) => page(visit, refusal(visit, fault, NEW)?).await,
    }
}

pub(crate) async fn sign_out(visit: &Visit) -> Result<Reply> {
    visit
        .change(async |tx| {
            tx.panel_sessions().remove(&visit.signed.session.digest).await?;
            visit.append(tx, &own_record(visit, Action::SignOut)).await
        })
        .await?;
    let secure = if visit.panel.is_secure() { "; Secure" } else { "" };
    let ended = format!("{SESSION}=; Path=/system; HttpOnly; SameSite=Lax{secure}; Max-Age=0");
    Ok(Reply::redirect(SIGN_IN_PATH).with_cookies(vec![ended]))
}
