//! The input of views besides the record.

use civitas_kernel::{AnswerLanguages, ClassNames, Ctx, Locale, Locales};
use civitas_organizations::{Tenant, host_in_address};

/// Settings of the deployment for views: its languages and class names, and scheme and port of absolute links; by default
/// `https` and no port (contract 01 §2, §5, §10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteSettings {
    /// `https` or `http`.
    pub scheme: String,
    /// The port after the host, if any.
    pub port: Option<u16>,
    /// The languages of the deployment.
    pub locales: Locales,
    /// The prefix of class names.
    pub class_names: ClassNames,
}

impl Default for SiteSettings {
    fn default() -> Self {
        let (locales, class_names) = (Locales::standard(), ClassNames::default());
        Self { scheme: "https".to_owned(), port: None, locales, class_names }
    }
}

impl SiteSettings {
    /// `https://{primary host}`: the start of every absolute address, and the issuer of tokens. Never derived from the
    /// headers of a request.
    pub fn origin(&self, host: &str) -> String {
        let host = host_in_address(host);
        match self.port {
            Some(port) => format!("{}://{host}:{port}", self.scheme),
            None => format!("{}://{host}", self.scheme),
        }
    }

    /// `{base}`: the address of the interface.
    pub fn base(&self, host: &str) -> String {
        format!("{}/api/rest_full/v0.3", self.origin(host))
    }
}

/// The context of a view: caller, organization, links and languages.
#[derive(Debug, Clone, Copy)]
pub struct RenderContext<'a> {
    /// The caller.
    pub ctx: &'a Ctx,
    /// The organization.
    pub tenant: &'a Tenant,
    /// Scheme and port of links, and languages of the deployment.
    pub site: &'a SiteSettings,
    /// The languages the caller requested; `None` for the default.
    pub asked: Option<&'a Locales>,
    /// The language of texts in one language, for resources that have such texts.
    pub language: Option<Locale>,
}

impl<'a> RenderContext<'a> {
    /// A context with these languages.
    pub fn new(
        ctx: &'a Ctx,
        tenant: &'a Tenant,
        site: &'a SiteSettings,
        languages: &'a AnswerLanguages,
    ) -> Self {
        Self { ctx, tenant, site, asked: languages.locales.as_ref(), language: languages.language }
    }

    /// The language of texts in one language.
    pub fn language(&self) -> Locale {
        self.language.unwrap_or(self.tenant.default_locale)
    }

    /// The languages shown.
    pub fn locales(&self) -> &Locales {
        self.asked.unwrap_or(&self.ctx.locales)
    }
}
