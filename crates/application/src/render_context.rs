//! What a view needs besides the record.

use civitas_kernel::{Ctx, Locales};
use civitas_organizations::Tenant;

/// What views know of the deployment: its languages, and how absolute links are written: `https` and no port, unless
/// the settings say otherwise (contract 01 §5, §10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// `https` or `http`.
    pub scheme: String,
    /// Written behind the host, when there is one.
    pub port: Option<u16>,
    /// The languages of the deployment.
    pub locales: Locales,
}

impl Site {
    /// `https://{primary host}`. Never derived from the headers of a request.
    pub fn origin(&self, host: &str) -> String {
        match self.port {
            Some(port) => format!("{}://{host}:{port}", self.scheme),
            None => format!("{}://{host}", self.scheme),
        }
    }

    /// `{base}`: where the interface lives.
    pub fn base(&self, host: &str) -> String {
        format!("{}/api/rest_full/v0.3", self.origin(host))
    }
}

/// For whom a record is shown, where, and in which languages.
#[derive(Debug, Clone, Copy)]
pub struct RenderContext<'a> {
    /// The caller.
    pub ctx: &'a Ctx,
    /// The organization.
    pub tenant: &'a Tenant,
    /// How links are written.
    pub site: &'a Site,
    /// The languages the caller asked for; `None` when they did not say.
    pub asked: Option<&'a Locales>,
}

impl RenderContext<'_> {
    /// The languages shown.
    pub fn locales(&self) -> &Locales {
        self.asked.unwrap_or(&self.ctx.locales)
    }
}
