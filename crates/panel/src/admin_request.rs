//! A request of a signed-in administrator.

mod lists;

use crate::form::Submitted;
use crate::format::{self, Zone};
use crate::notice::Notice;
use crate::panel::Panel;
use crate::parts::{Confirm, FormErrors, Head, Html, Layout, OpenedOrganization};
use crate::query::Query;
use crate::reply::Reply;
use crate::translator::{Translator, Value};
use crate::upload::SentFile;
use actix_web::http::StatusCode;
use civitas_accounts::administrators::{Administrator, Administrators, PanelSession, SignInPorts, Theme};
use civitas_application::Transaction;
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
    pub(crate) form: Submitted,
    /// The file of the form.
    pub(crate) file: Cell<Option<SentFile>>,
    pub(crate) now: OffsetDateTime,
    /// The address of the client.
    pub(crate) client_ip: Option<IpAddr>,
    /// The time zone of the times on the page.
    pub(crate) zone: Cell<Zone>,
    /// The organization in the navigation.
    pub(crate) organization: Cell<Option<OrganizationId>>,
    pub(crate) signed_in: AdminSession,
}

impl AdminRequest {
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

    /// A token for a form on this page.
    pub(crate) fn token(&self) -> String {
        self.panel.tokens.issue(&self.signed_in.cookie)
    }

    /// The revision of the record that the form was made of; empty if it sent none.
    pub(crate) fn form_revision(&self) -> &str {
        self.form.text("revision")
    }

    /// The revision that a form sends: `stored`, that of the record; that of the former form when it was refused, so
    /// that sending it again overwrites no change by somebody else.
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

    /// A number that was counted up to `most`, which means "or more".
    pub(crate) fn number_up_to(&self, number: i64, most: i64) -> String {
        let text = self.number(number);
        if number >= most { self.tr_with("more-than", "number", text) } else { text }
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
    pub(crate) async fn change<T>(&self, work: impl AsyncFn(&dyn Transaction) -> Result<T>) -> Result<T> {
        self.panel.services.committer.in_transaction(self.panel.store(), self.now, work).await
    }

    /// As [`Self::change`], for work that cannot be repeated.
    pub(crate) async fn change_once<T>(
        &self,
        work: impl AsyncFnOnce(&dyn Transaction) -> Result<T>,
    ) -> Result<T> {
        let tx = self.panel.store().begin().await?;
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
        NewAuditEntry::new(self.actor(), action).from(from.as_deref())
    }

    /// Adds an entry to the audit trail.
    pub(crate) async fn append_audit_entry(&self, tx: &dyn Transaction, entry: &NewAuditEntry) -> Result<()> {
        tx.audit().append(entry, self.now).await.map(drop)
    }

    /// A page.
    pub(crate) async fn page(&self, head: Head, body: Html) -> Result<Reply> {
        self.render(StatusCode::OK, head, body, Vec::new()).await
    }

    /// The confirmation page of `action`, with the label of its button and the address to return to.
    pub(crate) fn confirm(
        &self,
        action: impl Into<String>,
        button: String,
        cancel: impl Into<String>,
    ) -> Confirm<'_> {
        Confirm::new(&self.translator, action.into(), self.token(), button, cancel.into())
    }

    /// A page with a form; one that was refused has its problems.
    pub(crate) async fn form_page(&self, head: Head, body: Html, problems: FormErrors) -> Result<Reply> {
        let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
        self.render(status, head, body, problems).await
    }

    /// A page with this status.
    pub(crate) async fn render(
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
                Theme::Device => "",
                Theme::Light => "light",
                Theme::Dark => "dark",
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
        let sessions = self.panel.store().panel_sessions();
        sessions.set_notice(&self.signed_in.session.digest, Some(&sealed)).await?;
        Ok(Reply::redirect(to))
    }

    /// Redirects to a page, which shows this text once as a success.
    pub(crate) async fn done(
        &self,
        key: &str,
        values: &[(&'static str, Value)],
        to: impl Into<String>,
    ) -> Result<Reply> {
        self.redirect(to, Notice::good(self.tr_args(key, values))).await
    }

    async fn take_notice(&self) -> Result<Option<Notice>> {
        if self.signed_in.session.notice.is_none() {
            return Ok(None);
        }
        let sessions = self.panel.store().panel_sessions();
        let Some(sealed) = sessions.take_notice(&self.signed_in.session.digest).await? else {
            return Ok(None);
        };
        let text = self.panel.services.cipher.open(&sealed)?;
        Ok(serde_json::from_str(&text).ok())
    }

    /// The organization in the navigation: the one that was opened last.
    async fn opened_organization(&self) -> Result<Option<OpenedOrganization>> {
        let Some(id) = self.organization.get() else { return Ok(None) };
        let found = self.panel.store().organizations().tenant(id).await?;
        Ok(found.map(|tenant| OpenedOrganization {
            id: id.0,
            name: tenant.name.title(self.translator.locale).unwrap_or(&tenant.host).to_owned(),
        }))
    }

    /// Keeps this organization in the navigation; where nothing can be changed, of this page alone.
    pub(crate) async fn open_organization(&self, id: OrganizationId) -> Result<()> {
        if self.organization.get() == Some(id) {
            return Ok(());
        }
        if !self.panel.settings.read_only {
            let administrator = self.signed_in.id;
            self.change(async |tx| {
                Self::administrators(tx).remember_organization(administrator, Some(id)).await
            })
            .await?;
        }
        self.organization.set(Some(id));
        Ok(())
    }
}
