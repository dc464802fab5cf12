//! A request after the checks of the pipeline, and its bearer token.

use crate::BASE_PATH;
use crate::backend::Backend;
use crate::document::LanguageParameter;
use crate::keyed_write::KeyedWrite;
use crate::query::Query;
use crate::tenancy::RequestOrigin;
use actix_web::http::Method;
use civitas_accounts::AuthContext;
use civitas_application::{Ports, RenderContext, ShareHolder, SharePermit, SharedResource, Store};
use civitas_kernel::filter::RawFilter;
use civitas_kernel::{
    Ability, AnswerLanguages, ClassNames, Ctx, Error, Locale, Locales, PageRequest, Result, SortColumn,
    choose_language,
};
use civitas_organizations::{HostMatch, Tenant};
use serde_json::Value;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use time::OffsetDateTime;

/// A request after the checks of the pipeline: organization found, body read, rights checked.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) backend: Arc<Backend>,
    /// The store to read from.
    pub(crate) store: Arc<dyn Store>,
    /// The store of the primary, if the other one reads at a replica.
    pub(crate) primary: Option<Arc<dyn Store>>,
    /// The most bytes of the answer to a read.
    pub(crate) longest: usize,
    pub(crate) tenant: Tenant,
    /// The caller; `None` on a route without token.
    pub(crate) ctx: Option<Ctx>,
    pub(crate) now: OffsetDateTime,
    /// Scheme and authority as the client sent them.
    pub(crate) origin: RequestOrigin,
    /// The method as sent: `HEAD` is routed as `GET`.
    pub(crate) method: Method,
    /// The path as sent, without query.
    pub(crate) path: String,
    pub(crate) query: Query,
    /// Whether the caller requests the total of a list.
    pub(crate) is_counted: bool,
    /// The body: an object, empty without one.
    pub(crate) body: Value,
    /// The address of the client.
    pub(crate) from: Option<IpAddr>,
    pub(crate) authorization: Option<String>,
    /// The languages of the answer; empty until they are read.
    pub(crate) locales: OnceLock<Option<Locales>>,
    /// The language of texts in one language; empty until it is read.
    pub(crate) language: OnceLock<Locale>,
    pub(crate) accept_language: Option<String>,
    pub(crate) last_event_id: Option<String>,
    /// The write, if it has an idempotency key.
    pub(crate) keyed: Option<Arc<KeyedWrite>>,
    pub(crate) parameters: Vec<(String, String)>,
}

impl Request {
    /// The caller.
    ///
    /// # Errors
    /// `Unauthenticated` on a route without token.
    pub(crate) fn ctx(&self) -> Result<&Ctx> {
        self.ctx.as_ref().ok_or(Error::Unauthenticated)
    }

    /// The ports on the pool.
    pub(crate) fn ports(&self) -> &dyn Ports {
        &*self.store
    }

    /// The store for a list whose records have extended data, which is read only for callers with this ability.
    ///
    /// # Errors
    /// `Unauthenticated` on a route without token.
    pub(crate) fn list_store(&self, data: Ability) -> Result<Arc<dyn Store>> {
        if self.ctx()?.may(data) { Ok(self.store.clone()) } else { self.store.without_extended_data() }
    }

    /// The context of views: caller and languages.
    pub(crate) fn render_context(&self) -> Result<RenderContext<'_>> {
        let site = self.backend.commands.site();
        let (ctx, asked) = (self.ctx()?, self.locales()?);
        Ok(RenderContext { ctx, tenant: &self.tenant, site, asked, language: None })
    }

    /// The context of views with texts in one language.
    pub(crate) fn localized_context(&self) -> Result<RenderContext<'_>> {
        let (ctx, site) = (self.ctx()?, self.backend.commands.site());
        Ok(RenderContext { ctx, tenant: &self.tenant, site, asked: None, language: Some(self.language()?) })
    }

    /// The languages of the answer to a write that reads them from these parameters.
    pub(crate) fn languages(&self, from: LanguageParameter) -> Result<AnswerLanguages> {
        let mut languages = AnswerLanguages::default();
        match from {
            LanguageParameter::None => {}
            LanguageParameter::Locales => languages.locales = self.locales()?.cloned(),
            LanguageParameter::Locale => languages.language = Some(self.language()?),
        }
        Ok(languages)
    }

    /// The language of texts in one language (contract 08 §3): `meta.locale` of the body, the parameter `locale`,
    /// `Accept-Language`, that of the user, or the default one.
    ///
    /// # Errors
    /// `invalid_locale`.
    pub(crate) fn language(&self) -> Result<Locale> {
        if let Some(language) = self.language.get() {
            return Ok(*language);
        }
        let in_body = self.body.pointer("/meta/locale").and_then(Value::as_str);
        let chosen = choose_language(
            in_body.or_else(|| self.query.get("locale")),
            self.accept_language.as_deref(),
            self.ctx()?.caller.user.as_ref().and_then(|user| user.locale),
            &self.tenant.available_locales,
            self.tenant.default_locale,
        )?;
        Ok(*self.language.get_or_init(|| chosen))
    }

    /// The languages the caller requests; `None` without such a parameter.
    ///
    /// # Errors
    /// `Not allowed locales: xx`.
    pub(crate) fn locales(&self) -> Result<Option<&Locales>> {
        if let Some(read) = self.locales.get() {
            return Ok(read.as_ref());
        }
        let read = self.query.locales(self.backend.locales())?;
        Ok(self.locales.get_or_init(|| read).as_ref())
    }

    pub(crate) fn class_names(&self) -> &ClassNames {
        &self.backend.settings.site.class_names
    }

    /// The filters of a list.
    pub(crate) fn filter(&self) -> Result<RawFilter> {
        self.query.filter(self.class_names(), self.tenant.time_zone)
    }

    /// The page of a list without an order of its own, in the requested order.
    ///
    /// # Errors
    /// `Unknown order <v>`, `Unknown order direction <v>`.
    pub(crate) fn page(&self) -> Result<PageRequest> {
        Ok(PageRequest { sort: self.query.sort(&SortColumn::COMMON)?, ..self.page_in_own_order() })
    }

    /// The page of a list whose order is in its query: [`Query::order`].
    pub(crate) fn page_in_own_order(&self) -> PageRequest {
        PageRequest { is_counted: self.is_counted, ..self.query.page() }
    }

    /// Takes a permit of a share for the client, and for the record in the path.
    pub(crate) async fn take_permit(&self, share: SharedResource) -> Result<SharePermit> {
        let (client, record) = (self.ctx.as_ref().map(|ctx| ctx.caller.client), self.record_in_path());
        let holder = ShareHolder { organization: self.tenant.id, client, record: record.as_deref() };
        let permit = self.backend.services.shares.acquire(share, holder).await?;
        // The move of the organization may have begun while the request was received or waited.
        if share == SharedResource::Writes
            && let Some(HostMatch::Primary(tenant)) =
                self.backend.store().organizations().locate(&self.tenant.host).await?
        {
            tenant.check_writable()?;
        }
        Ok(permit)
    }

    /// Whether the request is a read that may take long: filters, random order, a total, a search, components, or a page
    /// far from the first.
    pub(crate) fn may_search(&self) -> bool {
        let reads = matches!(self.method, Method::GET | Method::HEAD);
        let is_list = ["/search", "/components"].iter().any(|end| self.path.ends_with(end));
        let is_far = self.query.page().offset() > 1_000;
        reads && (is_list || is_far || self.is_counted || self.query.has_filter())
    }

    /// The record in the path, with the first segment of the path as its kind; `None` in a list.
    fn record_in_path(&self) -> Option<String> {
        match self.path.strip_prefix(BASE_PATH)?.split('/').nth(1)? {
            "me" => Some(format!("users/{}", self.ctx.as_ref()?.participant()?.0)),
            kind => {
                let kind = kind.strip_prefix("draft_").unwrap_or(kind);
                Some(format!("{kind}/{}", self.id().ok()?))
            }
        }
    }

    /// A path parameter, as text.
    pub(crate) fn segment(&self, name: &str) -> &str {
        self.parameters.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    /// The id in the path.
    ///
    /// # Errors
    /// `NotFound` for a text that is not a decimal number as below (contract 01 §2).
    pub(crate) fn id(&self) -> Result<i64> {
        decimal(self.segment("id")).ok_or(Error::NotFound)
    }
}

/// A decimal integer without sign, at most 2^63 - 1.
fn decimal(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// The organization and time for the check of a token.
pub(crate) fn auth_context(tenant: &Tenant, now: OffsetDateTime) -> AuthContext {
    AuthContext { organization: tenant.id, default_locale: tenant.default_locale, now }
}

/// The token of the `Authorization` header: `Bearer <token>`, the scheme in any case, one space or more.
pub(crate) fn bearer<'a>(sent: &[&'a str]) -> Option<&'a str> {
    let [header] = sent else { return None };
    let (scheme, token) = header.split_once(' ')?;
    let token = token.trim_start_matches(' ');
    let sound = !token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic() && b != b',');
    (scheme.eq_ignore_ascii_case("bearer") && sound).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_plain_decimals() {
        assert_eq!(decimal("42"), Some(42));
        for bad in ["", "abc", "12abc", "-1", "+1", "1 ", "999999999999999999999999999999", "٣"] {
            assert_eq!(decimal(bad), None, "{bad}");
        }
    }

    #[test]
    fn there_is_one_way_to_show_a_token() {
        for good in ["Bearer x.y", "bearer x.y", "BEARER   x.y"] {
            assert_eq!(bearer(&[good]), Some("x.y"));
        }
        for bad in ["x.y", "Basic x.y", "Bearer", "Bearer ", "Bearer x y", "Bearer x,y", "Bearer\tx"] {
            assert_eq!(bearer(&[bad]), None, "{bad}");
        }
        assert_eq!(bearer(&["Bearer x", "Bearer y"]), None, "two tokens");
    }
}
