//! The style sheet and the script, compiled into the binary. Their names have a hash of their content, so that browsers
//! keep them for a year.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use std::sync::LazyLock;

const STYLE: &str = include_str!("../assets/panel.css");
const SCRIPT: &str = include_str!("../assets/panel.js");

static STYLE_PATH: LazyLock<String> = LazyLock::new(|| asset_path(STYLE, "css"));
static SCRIPT_PATH: LazyLock<String> = LazyLock::new(|| asset_path(SCRIPT, "js"));

/// A file of the panel.
pub(crate) struct Asset {
    pub(crate) media_type: &'static str,
    pub(crate) content: &'static str,
}

/// The path of the style sheet.
pub(crate) fn style_path() -> &'static str {
    &STYLE_PATH
}

/// The path of the script.
pub(crate) fn script_path() -> &'static str {
    &SCRIPT_PATH
}

/// The file at this path.
pub(crate) fn find(path: &str) -> Option<Asset> {
    if path == style_path() {
        Some(Asset { media_type: "text/css; charset=utf-8", content: STYLE })
    } else if path == script_path() {
        Some(Asset { media_type: "text/javascript; charset=utf-8", content: SCRIPT })
    } else {
        None
    }
}

fn asset_path(content: &str, extension: &str) -> String {
    let hash = digest(&SHA256, content.as_bytes());
    format!("/system/assets/panel.{}.{extension}", URL_SAFE_NO_PAD.encode(&hash.as_ref()[..9]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_load_nothing_from_elsewhere() {
        for path in [style_path(), script_path()] {
            let content = find(path).unwrap().content;
            for elsewhere in ["http://", "https://", "@import", "eval(", "innerHTML ="] {
                let at = content.find(elsewhere);
                let allowed = elsewhere == "innerHTML =" && content.contains("button.innerHTML = label");
                assert!(at.is_none() || allowed, "{path}: {elsewhere}");
            }
        }
        assert!(find("/system/assets/panel.css").is_none());
    }
}
