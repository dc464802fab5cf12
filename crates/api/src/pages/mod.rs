//! HTML pages, compiled into the binary.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use civitas_kernel::Locale;
use ring::digest::{SHA256, digest};
use std::sync::LazyLock;

const PAGE: &str = include_str!("docs/page.html");
const CONFIRMED: &str = include_str!("confirmed.html");
const STYLE: &str = include_str!("docs/style.css");
/// The parts of the script; each uses only the parts before it.
const SCRIPTS: [&str; 5] = [
    include_str!("docs/dom.js"),
    include_str!("docs/schema.js"),
    include_str!("docs/client.js"),
    include_str!("docs/operations.js"),
    include_str!("docs/start.js"),
];

static DOCS: LazyLock<String> =
    LazyLock::new(|| PAGE.replace("{{style}}", STYLE).replace("{{script}}", &SCRIPTS.join("\n")));

/// The documentation page: one HTML file that loads the OpenAPI document and can call the interface.
pub(crate) fn docs() -> String {
    DOCS.clone()
}

/// The page after the confirmation of an e-mail address, in English if `locale` is not in [`Locale::TRANSLATED_LOCALES`].
pub(crate) fn confirmed(locale: Locale) -> String {
    let (title, text) = match locale {
        Locale::FR => ("Votre adresse e-mail est confirmée", "Merci. Vous pouvez fermer cette page."),
        Locale::ES => {
            ("Su dirección de correo electrónico está confirmada", "Gracias. Puede cerrar esta página.")
        }
        _ => ("Your e-mail address is confirmed", "Thank you. You can close this page."),
    };
    let page = CONFIRMED.replace("{{language}}", locale.as_str());
    page.replace("{{title}}", title).replace("{{text}}", text)
}

/// The content security policy of a page: allows its one style and script only, and connections to this service only.
pub(crate) fn policy(page: &str) -> String {
    let hash = |element: &str| {
        let (start, end) = (format!("<{element}"), format!("</{element}>"));
        // The start tag may have attributes.
        let rest = page.split_once(&start).and_then(|(_, rest)| rest.split_once('>'));
        let Some((text, _)) = rest.and_then(|(_, rest)| rest.split_once(&end)) else {
            return "'none'".to_owned();
        };
        format!("'sha256-{}'", STANDARD.encode(digest(&SHA256, text.as_bytes())))
    };
    format!(
        "default-src 'none'; style-src {}; script-src {}; connect-src 'self'; form-action 'none'; base-uri 'none'; \
         frame-ancestors 'none'",
        hash("style"),
        hash("script")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_whole_and_loads_nothing_from_elsewhere() {
        let page = docs();
        assert!(!page.contains("{{"), "every placeholder is filled");
        assert_eq!(page.matches("</script>").count(), 1, "nothing ends the script early");
        for elsewhere in ["src=\"http", "href=\"http", "url(", "@import", "innerHTML"] {
            assert!(!page.contains(elsewhere), "{elsewhere}");
        }
    }

    #[test]
    fn the_page_of_a_confirmed_address_speaks_each_language() {
        for locale in Locale::TRANSLATED_LOCALES {
            let page = confirmed(locale);
            assert!(!page.contains("{{"), "every placeholder is filled");
            assert!(page.contains(&format!("<html lang=\"{locale}\">")));
        }
        assert_ne!(confirmed(Locale::FR), confirmed(Locale::ES));
    }
}
