//! The style sheet and the script, compiled into the binary. Their names have a hash of their content, so that browsers
//! keep them for a year.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use std::sync::LazyLock;

const STYLE: &str = include_str!("../assets/panel.css");
const SCRIPT: &str = include_str!("../assets/panel.js");

static STYLE_PATH: LazyLock<String> = LazyLock::new(|| path(STYLE, "css"));
static SCRIPT_PATH: LazyLock<String> = LazyLock::new(|| path(SCRIPT, "js"));

/// A file of the panel.
pub(crate) struct Asset {
    pub(crate) media_type: &'static str,
    pub(crate) content: &'static str,
}

/// The path of the style sheet.
pub(crate) fn style() -> &'static str {
    &STYLE_PATH
}

/// The path of the script.
pub(crate) fn script() -> &'static str {
    &SCRIPT_PATH
}

/// The file at this path.
pub(crate) fn find(path: &str) -> Option<Asset> {
    if path == style() {
        Some(Asset { media_type: "text/css; charset=utf-8", content: STYLE })
    } else if path == script() {
        Some(Asset { media_type: "text/javascript; charset=utf-8", content: SCRIPT })
    } else {
        None
    }
}

fn path(content: &str, extension: &str) -> String {
    let hash = digest(&SHA256, content.as_bytes());
    format!("/system/assets/panel.{}.{extension}", URL_SAFE_NO_PAD.encode(&hash.as_ref()[..9]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_load_nothing_from_elsewhere() {
        for path in [style(), script()] {
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
