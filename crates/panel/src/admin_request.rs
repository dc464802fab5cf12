//! A request of a signed-in administrator.

use crate::form::SubmittedForm;
use crate::format::{self, Zone};
use crate::notice::Notice;
use crate::panel::Panel;
use crate::parts::{Confirmation, Form, FormErrors, Head, Html, Layout, OpenedOrganization};
use crate::query::Query;
use crate::reply::Reply;
use crate::translator::{Translator, Value};
use crate::upload::UploadedFile;
use actix_web::http::StatusCode;
use civitas_accounts::administrators::{
    Administrator, Administrators, PanelSession, PanelTheme, SignInPorts,
};
use civitas_application::{Store, Transaction};
use civitas_audit::{Action, Actor, NewAuditEntry};
use civitas_event_delivery::WebhookChanges;
use civitas_kernel::{AdministratorId, Error, OrganizationId, Result};
use std::cell::Cell;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The administrator and their session.
#[derive(Debug, Clone)]
pub(crate) struct AdminSession {
    pub(crate) id: AdministratorId,
    pub(crate) administrator: Administrator,
    pub(crate) session: PanelSession,
    /// The value of the cookie.
    pub(crate) cookie: String,
}

/// A request of a signed-in administrator.
pub(crate) struct AdminRequest {
    pub(crate) panel: Arc<Panel>,
    pub(crate) translator: Translator,
    pub(crate) path: String,
    /// The last part of the route: `publish`.
    pub(crate) action: &'static str,
    pub(crate) params: HashMap<String, String>,
    pub(crate) query: Query,
    pub(crate) form: SubmittedForm,
    /// The file of the form.
    pub(crate) file: Cell<Option<UploadedFile>>,
    pub(crate) now: OffsetDateTime,
    /// The address of the client.
    pub(crate) client_ip: Option<IpAddr>,
    /// The time zone of the times on the page.
    pub(crate) zone: Cell<Zone>,
    /// The organization in the navigation.
    pub(crate) navigation_organization: Cell<Option<OrganizationId>>,
    pub(crate) signed_in: AdminSession,
}

impl AdminRequest {
    /// The store, outside a transaction.
    pub(crate) fn store(&self) -> &dyn Store {
        self.panel.store()
    }

    /// A text in the language of the administrator.
    pub(crate) fn tr(&self, key: &str) -> String {
        self.translator.tr(key)
    }

    /// A text with one value.
    pub(crate) fn tr_with(&self, key: &str, name: &'static str, value: impl Into<Value>) -> String {
        self.translator.tr_with(key, name, value)
    }

    /// A text with values.
    pub(crate) fn tr_args(&self, key: &str, values: &[(&'static str, Value)]) -> String {
        self.translator.tr_args(key, values)
    }

    /// A text with a number, which decides its plural.
    pub(crate) fn tr_count(&self, key: &str, number: impl Into<Value>) -> String {
        self.translator.tr_count(key, number)
    }

    /// A token for a form on this page.
    pub(crate) fn token(&self) -> String {
        self.panel.tokens.issue(&self.signed_in.cookie)
    }

    /// The revision of the record that the form was made of; empty if it sent none.
    pub(crate) fn form_revision(&self) -> &str {
        self.form.text("revision")
    }

    /// The revision that a form sends: `stored`, that of the record. A refused form keeps the revision it sent, so that
    /// sending it again does not overwrite a change by somebody else.
    pub(crate) fn revision(&self, stored: String) -> String {
        self.form.get("revision").map_or(stored, str::to_owned)
    }

    /// The number of a parameter of the path.
    ///
    /// # Errors
    /// `NotFound` when it is no number.
    pub(crate) fn path_id(&self, name: &str) -> Result<i64> {
        self.params.get(name).and_then(|text| text.parse().ok()).ok_or(Error::NotFound)
    }

    /// The text of a parameter of the path; empty without it.
    pub(crate) fn path_param(&self, name: &str) -> &str {
        self.params.get(name).map_or("", String::as_str)
    }

    /// The time zone of the times on the page.
    pub(crate) fn zone(&self) -> Zone {
        self.zone.get()
    }

    /// A time as the page writes it.
    pub(crate) fn time(&self, at: OffsetDateTime) -> String {
        format::date_time(self.translator.locale, self.zone(), at)
    }

    /// A time of a log: with seconds, in UTC.
    pub(crate) fn log_time(&self, at: OffsetDateTime) -> String {
        format::date_time_seconds(self.translator.locale, Zone::utc(), at)
    }

    /// As [`Translator::count_text`].
    pub(crate) fn count_text(&self, count: i64, limit: i64) -> String {
        self.translator.count_text(count, limit)
    }

    /// A date as the page writes it.
    pub(crate) fn date(&self, at: OffsetDateTime) -> String {
        format::date(self.translator.locale, self.zone(), at)
    }

    /// A number with grouped digits.
    pub(crate) fn number(&self, number: i64) -> String {
        format::number(self.translator.locale, number)
    }

    /// The head of a page below the start page, with this title.
    pub(crate) fn head(&self, title: &str) -> Head {
        Head::new(self.tr(title)).crumb(self.tr("nav-start"), "/system")
    }

    /// Runs a change in one transaction with its events. It is repeated when it conflicts with another writer.
    pub(crate) async fn in_transaction<T>(
        &self,
        work: impl AsyncFn(&dyn Transaction) -> Result<T>,
    ) -> Result<T> {
        self.panel.services.committer.in_transaction(self.panel.store(), self.now, work).await
    }

    /// Runs a use case in one transaction, as [`Self::in_transaction`], and appends an entry about its outcome to the
    /// audit trail; `None`: it changed nothing. The one way to make a change, if its use case appends no entry itself.
    pub(crate) async fn change_with_audit<T>(
        &self,
        use_case: impl AsyncFn(&dyn Transaction) -> Result<T>,
        audit_entry: impl Fn(&T) -> Option<NewAuditEntry>,
    ) -> Result<T> {
        self.in_transaction(async |tx| {
            let outcome = use_case(tx).await?;
            if let Some(entry) = audit_entry(&outcome) {
                self.append_audit_entry(tx, &entry).await?;
            }
            Ok(outcome)
        })
        .await
    }

    /// As [`Self::in_transaction`], for work that cannot be repeated: it appends its own entries to the audit trail.
    pub(crate) async fn in_transaction_once<T>(
        &self,
        work: impl AsyncFnOnce(&dyn Transaction) -> Result<T>,
    ) -> Result<T> {
        let tx = self.store().begin().await?;
        let outcome = work(&*tx).await;
        self.panel.services.committer.commit_with_events(tx, self.now, outcome).await
    }

    /// The use cases of administrators, in a transaction.
    pub(crate) fn administrators(tx: &dyn Transaction) -> Administrators<'_> {
        Administrators { administrators: tx.administrators(), sessions: tx.panel_sessions() }
    }

    /// The use cases of second factors, in a transaction.
    pub(crate) fn second_factors<'a>(&'a self, tx: &'a dyn Transaction) -> SignInPorts<'a> {
        let services = &self.panel.services;
        SignInPorts {
            administrators: tx.administrators(),
            sessions: tx.panel_sessions(),
            cipher: &*services.cipher,
            codes: &*services.codes,
        }
    }

    /// The administrator, as the audit trail names them.
    pub(crate) fn actor(&self) -> Actor {
        Actor::Administrator { id: self.signed_in.id.0, email: self.signed_in.administrator.email.clone() }
    }

    /// Changes of registrations and deliveries, in a transaction.
    pub(crate) fn webhooks<'a>(&self, tx: &'a dyn Transaction) -> WebhookChanges<'a> {
        let from = self.client_ip.map(|address| address.to_string());
        WebhookChanges { tx, organization: None, actor: self.actor(), from, now: self.now }
    }

    /// An entry of the audit trail, of this administrator.
    pub(crate) fn audit_entry(&self, action: Action) -> NewAuditEntry {
        let from = self.client_ip.map(|address| address.to_string());
        NewAuditEntry::new(self.actor(), action).with_address(from.as_deref())
    }

    /// Adds an entry to the audit trail.
    pub(crate) async fn append_audit_entry(&self, tx: &dyn Transaction, entry: &NewAuditEntry) -> Result<()> {
        tx.audit().append(entry, self.now).await.map(drop)
    }

    /// A page.
    pub(crate) async fn page(&self, head: Head, body: Html) -> Result<Reply> {
        self.page_with_status(StatusCode::OK, head, body, Vec::new()).await
    }

    /// The confirmation page of `action`, with the label of its button and the address to return to.
    pub(crate) fn confirmation(
        &self,
        action: impl Into<String>,
        button: String,
        cancel: impl Into<String>,
    ) -> Confirmation<'_> {
        Confirmation::new(&self.translator, action.into(), self.token(), button, cancel.into())
    }

    /// A form that is sent to `action`, with the key of the label of its button.
    pub(crate) fn build_form(&self, action: impl Into<String>, submit_key: &str) -> Form<'_> {
        Form::new(&self.translator, action, self.token(), submit_key)
    }

    /// A page with a form; with status 422 and the problems of a refused one.
    pub(crate) async fn form_page(&self, head: Head, body: Html, problems: FormErrors) -> Result<Reply> {
        let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
        self.page_with_status(status, head, body, problems).await
    }

    /// A page with this status.
    pub(crate) async fn page_with_status(
        &self,
        status: StatusCode,
        head: Head,
        body: Html,
        problems: FormErrors,
    ) -> Result<Reply> {
        let notice = self.take_notice().await?;
        let layout = Layout {
            translator: &self.translator,
            theme: match self.signed_in.administrator.theme {
                PanelTheme::Device => "",
                PanelTheme::Light => "light",
                PanelTheme::Dark => "dark",
            },
            now: self.now.format(&Rfc3339).unwrap_or_default(),
            path: &self.path,
            email: &self.signed_in.administrator.email,
            organization: self.opened_organization().await?,
            read_only: self.panel.settings.read_only,
            docs: self.panel.settings.docs_path.to_owned(),
            sign_out_token: self.token(),
            notice,
            problems,
            head,
            body,
            zone: self.zone().label(self.now),
        };
        Ok(Reply::page(status, layout.html()))
    }

    /// Redirects to a page, which shows this notice once.
    pub(crate) async fn redirect(&self, to: impl Into<String>, notice: Notice) -> Result<Reply> {
        let text = serde_json::to_string(&notice).map_err(Error::internal)?;
        let sealed = self.panel.services.cipher.seal(&text)?;
        let sessions = self.store().panel_sessions();
        sessions.set_notice(&self.signed_in.session.digest, Some(&sealed)).await?;
        Ok(Reply::redirect(to))
    }

    /// Redirects to a page, which shows this text once as a success.
    pub(crate) async fn redirect_done(
        &self,
        key: &str,
        values: &[(&'static str, Value)],
        to: impl Into<String>,
    ) -> Result<Reply> {
        self.redirect(to, Notice::success(self.tr_args(key, values))).await
    }

    async fn take_notice(&self) -> Result<Option<Notice>> {
        if self.signed_in.session.notice.is_none() {
            return Ok(None);
        }
        let sessions = self.store().panel_sessions();
        let Some(sealed) = sessions.take_notice(&self.signed_in.session.digest).await? else {
            return Ok(None);
        };
        let text = self.panel.services.cipher.open(&sealed)?;
        Ok(serde_json::from_str(&text).ok())
    }

    /// The organization in the navigation: the one that was opened last.
    async fn opened_organization(&self) -> Result<Option<OpenedOrganization>> {
        let Some(id) = self.navigation_organization.get() else { return Ok(None) };
        let found = self.store().organizations().tenant(id).await?;
        Ok(found.map(|tenant| OpenedOrganization {
            id: id.0,
            name: tenant.name.title(self.translator.locale).unwrap_or(&tenant.host).to_owned(),
        }))
    }

    /// Shows this organization in the navigation of this page and the next ones; in a read-only deployment of this page
    /// only.
    pub(crate) async fn set_navigation_organization(&self, id: OrganizationId) -> Result<()> {
        if self.navigation_organization.get() == Some(id) {
            return Ok(());
        }
        if !self.panel.settings.read_only {
            let administrator = self.signed_in.id;
            self.in_transaction(async |tx| {
                Self::administrators(tx).set_last_organization(administrator, Some(id)).await
            })
            .await?;
        }
        self.navigation_organization.set(Some(id));
        Ok(())
    }
}
