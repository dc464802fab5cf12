//! The account of the administrator: language and colours, password, second factor, sign-out.

use super::admins::{audit_entry, form_errors};
use super::password_confirmation;
use crate::admin_request::AdminRequest;
use crate::notice::Notice;
use crate::parts::{
    Choice, ChoiceGroup, Field, FormError, FormErrors, Head, Html, PageAction, Section, language_name, render,
};
use crate::reply::Reply;
use crate::request::{SESSION_COOKIE, SIGN_IN_PATH};
use crate::translator::Translator;
use askama::Template;
use civitas_accounts::Secret;
use civitas_accounts::administrators::{NewPassword, PanelTheme};
use civitas_audit::{Action, NewAuditEntry};
use civitas_kernel::records::Entity;
use civitas_kernel::{Error, Locale, Result};
use qrcode::QrCode;
use qrcode::render::svg;

const PATH: &str = "/system/account";
const NEW_PASSWORD_FIELD: &str = "new_password";
const CODE_FIELD: &str = "code";
/// The name of the deployment in an app of second factors.
const ISSUER: &str = "Civitas";

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    show_page(req, Vec::new()).await
}

async fn show_page(req: &AdminRequest, problems: FormErrors) -> Result<Reply> {
    let body = if req.signed_in.session.is_confirmed(req.now) {
        Html::join([preferences(req), password(req, &problems), second_factor(req)])
    } else {
        let confirm =
            PageAction::link(password_confirmation::page_address(PATH), req.tr("confirmation-open"));
        Html::join([preferences(req), PageAction::row(&[confirm])])
    };
    let head = req.head("account").lede(req.signed_in.administrator.email.clone());
    req.form_page(head, body, problems).await
}

fn preferences(req: &AdminRequest) -> Html {
    let administrator = &req.signed_in.administrator;
    let browser = std::iter::once(Choice::new("", req.tr("language-of-browser")));
    let locales = Locale::TRANSLATED_LOCALES.iter();
    let locales = locales.map(|locale| Choice::new(locale.as_str(), language_name(&req.translator, *locale)));
    let (locales, chosen) =
        (browser.chain(locales).collect(), administrator.locale.map(|locale| locale.to_string()));
    let language = Field::select("locale", req.tr("language"), chosen.unwrap_or_default(), locales);
    let name = |theme: &str| req.tr(&format!("theme-{theme}"));
    let themes = PanelTheme::ALL.iter().map(|theme| Choice::new(theme.as_str(), name(theme.as_str())));
    let theme = ChoiceGroup::radios("theme", req.tr("theme"), themes.collect(), administrator.theme.as_str());
    let section = Section::new("preferences", req.tr("preferences"))
        .field(language.class("medium").html(&req.translator))
        .field(theme.html(&req.translator));
    req.build_form(format!("{PATH}/preferences"), "preferences-save")
        .hidden("revision", req.revision(administrator.revision()))
        .section(section)
        .html()
}

fn password(req: &AdminRequest, problems: &[FormError]) -> Html {
    let field = Field::password(NEW_PASSWORD_FIELD, req.tr("password-new"), "new-password");
    let field = field.hint(req.tr("password-hint")).check(problems).html(&req.translator);
    let section = Section::new("password", req.tr("password")).hint(req.tr("password-sessions"));
    let form = req.build_form(format!("{PATH}/password"), "password-save");
    form.section(section.field(field)).html()
}

fn second_factor(req: &AdminRequest) -> Html {
    let (method, submit_key, hint) = match &req.signed_in.administrator.second_factor {
        Some(_) => ("delete", "second-factor-end", "second-factor-is-on"),
        None => ("", "second-factor-begin", "second-factor-is-off"),
    };
    let section = Section::new("factor", req.tr("second-factor"))
        .hint(req.tr("second-factor-hint"))
        .field(Html::paragraph("", &req.tr(hint)));
    let form = req.build_form(format!("{PATH}/second_factor"), submit_key);
    form.method(method).section(section).html()
}

/// An entry of the audit trail about the own account.
fn own_audit_entry(req: &AdminRequest, action: Action) -> NewAuditEntry {
    audit_entry(req, action, req.signed_in.id, &req.signed_in.administrator.email)
}

pub(crate) async fn update_preferences(req: &AdminRequest) -> Result<Reply> {
    let locale =
        Locale::parse(req.form.text("locale")).filter(|locale| Locale::TRANSLATED_LOCALES.contains(locale));
    let theme = PanelTheme::parse(req.form.text("theme")).unwrap_or_default();
    let id = req.signed_in.id;
    let saved = req.in_transaction(async |tx| {
        let admin = AdminRequest::administrators(tx);
        admin.find_revision_for_update(id, req.form_revision()).await?;
        admin.set_preferences(id, locale, theme, req.now).await
    });
    if let Err(error) = saved.await {
        return show_page(req, form_errors(req, error, NEW_PASSWORD_FIELD)?).await;
    }
    let translator = locale.map_or(req.translator, Translator::for_locale);
    req.redirect(PATH, Notice::success(translator.tr("preferences-saved"))).await
}

pub(crate) async fn update_password(req: &AdminRequest) -> Result<Reply> {
    let saved = async {
        let new = Secret::new(req.form.get(NEW_PASSWORD_FIELD).unwrap_or_default());
        let email = &req.signed_in.administrator.email;
        let new = NewPassword::new(&*req.panel.services.passwords, email, &new).await?;
        let (id, session) = (req.signed_in.id, &req.signed_in.session.digest);
        req.in_transaction_once(async |tx| {
            AdminRequest::administrators(tx).change_own_password(id, new, session, req.now).await?;
            req.append_audit_entry(tx, &own_audit_entry(req, Action::AdministratorPasswordChanged)).await
        })
        .await
    };
    match saved.await {
        Ok(()) => req.redirect_done("password-saved", &[], PATH).await,
        Err(error) => show_page(req, form_errors(req, error, NEW_PASSWORD_FIELD)?).await,
    }
}

#[derive(Template)]
#[template(path = "pages/second_factor.html")]
struct NewFactor<'a> {
    translator: &'a Translator,
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
fn code_form(req: &AdminRequest, sealed: String, problems: &[FormError]) -> Html {
    let code = Field::text(CODE_FIELD, req.tr("sign-in-code"), "")
        .hint(req.tr("second-factor-code-hint"))
        .class("short")
        .autocomplete("one-time-code")
        .check(problems)
        .html(&req.translator);
    let section = Section::new("code-section", req.tr("second-factor-confirm")).field(code);
    let submit_key = "second-factor-turn-on";
    req.build_form(format!("{PATH}/second_factor/confirm"), submit_key)
        .hidden("sealed", sealed)
        .section(section)
        .cancel(PATH)
        .html()
}

pub(crate) async fn begin_second_factor(req: &AdminRequest) -> Result<Reply> {
    let id = req.signed_in.id;
    let begun = req
        .in_transaction(async |tx| req.second_factors(tx).begin_second_factor(id, ISSUER, req.now).await)
        .await;
    let factor = match begun {
        Ok(factor) => factor,
        Err(error) => return show_page(req, form_errors(req, error, NEW_PASSWORD_FIELD)?).await,
    };
    let form = code_form(req, factor.sealed, &[]);
    let body = render(&NewFactor {
        translator: &req.translator,
        image: qr_code(factor.url.expose())?,
        secret: factor.secret.expose(),
        form,
    });
    let head = Head::new(req.tr("second-factor")).crumb(req.tr("account"), PATH);
    req.page(head, body).await
}

pub(crate) async fn confirm_second_factor(req: &AdminRequest) -> Result<Reply> {
    let (id, session) = (req.signed_in.id, &req.signed_in.session.digest);
    let (sealed, code) = (req.form.text("sealed"), req.form.text(CODE_FIELD));
    let confirmed = req.change_with_audit(
        async |tx| req.second_factors(tx).enable_second_factor(id, sealed, code, session, req.now).await,
        |_| Some(own_audit_entry(req, Action::AdministratorSecondFactorEnabled)),
    );
    match confirmed.await {
        Ok(codes) => {
            let codes: Vec<&str> = codes.iter().map(Secret::expose).collect();
            let notice = Notice::success(req.tr("second-factor-on"))
                .shown_once(req.tr("recovery-codes"), codes.join("  "));
            req.redirect(PATH, notice).await
        }
        Err(error) => {
            let problems = form_errors(req, error, NEW_PASSWORD_FIELD)?;
            if problems.iter().all(|problem| problem.field != CODE_FIELD) {
                return show_page(req, problems).await;
            }
            // The app has the account already: another code is enough.
            let head = Head::new(req.tr("second-factor")).crumb(req.tr("account"), PATH);
            let form = code_form(req, sealed.to_owned(), &problems);
            req.form_page(head, form, problems).await
        }
    }
}

pub(crate) async fn end_second_factor(req: &AdminRequest) -> Result<Reply> {
    let id = req.signed_in.id;
    let ended = req.change_with_audit(
        async |tx| AdminRequest::administrators(tx).disable_second_factor(id, req.now).await,
        |()| Some(own_audit_entry(req, Action::AdministratorSecondFactorDisabled)),
    );
    match ended.await {
        Ok(()) => req.redirect_done("second-factor-off", &[], PATH).await,
        Err(error) => show_page(req, form_errors(req, error, NEW_PASSWORD_FIELD)?).await,
    }
}

pub(crate) async fn sign_out(req: &AdminRequest) -> Result<Reply> {
    req.change_with_audit(
        async |tx| tx.panel_sessions().remove(&req.signed_in.session.digest).await,
        |()| Some(own_audit_entry(req, Action::SignOut)),
    )
    .await?;
    let secure = if req.panel.is_secure() { "; Secure" } else { "" };
    let ended = format!("{SESSION_COOKIE}=; Path=/system; HttpOnly; SameSite=Lax{secure}; Max-Age=0");
    Ok(Reply::redirect(SIGN_IN_PATH).with_cookies(vec![ended]))
}
