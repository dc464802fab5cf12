//! Scheme and port of absolute links, and languages and class names of the deployment.

use crate::config::Config;
use civitas_application::SiteSettings;
use std::num::NonZeroU16;

/// Scheme and port of absolute links, languages, and class names.
pub(crate) fn from_config(config: &Config) -> SiteSettings {
    SiteSettings {
        scheme: config.public_scheme.as_str().to_owned(),
        port: config.public_port.map(NonZeroU16::get),
        locales: config.locales.clone(),
        class_names: config.class_name_prefix.clone(),
    }
}
