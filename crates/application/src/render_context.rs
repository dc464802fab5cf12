//! The input of views besides the record.

use civitas_kernel::{Ctx, Locales};
use civitas_organizations::Tenant;

/// Settings of the deployment for views: its languages, and scheme and port of absolute links; by default `https` and
/// no port (contract 01 §5, §10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// `https` or `http`.
    pub scheme: String,
    /// The port after the host, if any.
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
    pub site: &'a Site,
    /// The languages the caller requested; `None` for the default.
    pub asked: Option<&'a Locales>,
}

impl RenderContext<'_> {
    /// The languages shown.
    pub fn locales(&self) -> &Locales {
        self.asked.unwrap_or(&self.ctx.locales)
    }
}
