//! The head of a page: where it is, its name, its actions, its tabs.

use super::Html;
use super::html::render;
use crate::translator::Translator;
use askama::Template;

/// A state in one word, with a colour.
#[derive(Debug, Clone)]
pub(crate) struct Badge {
    /// `good`, `warn`, `bad`, `busy` or nothing.
    kind: &'static str,
    text: String,
}

/// Constructors of badges of these kinds.
macro_rules! constructors {
    ($($name:ident: $kind:literal),+) => {$(
        pub(crate) fn $name(text: impl Into<String>) -> Self {
            Self { kind: $kind, text: text.into() }
        }
    )+};
}

impl Badge {
    constructors!(plain: "", good: "good", warn: "warn", bad: "bad", busy: "busy");

    /// Whether something is published.
    pub(crate) fn published(translator: &Translator, is_published: bool) -> Self {
        if is_published {
            Self::good(translator.tr("published"))
        } else {
            Self::warn(translator.tr("not-published"))
        }
    }

    pub(crate) fn html(&self) -> Html {
        let class = format!("badge {}", self.kind);
        Html::element("span", &[("class", class.as_str())], &self.text)
    }
}

/// An action: a button or a link. Actions that cannot be undone are links to a confirmation page.
#[derive(Debug, Clone)]
pub(crate) enum PageAction {
    /// A link with the look of a button.
    Link {
        href: String,
        label: String,
        /// `primary`, `danger`, `little` or nothing.
        class: &'static str,
    },
    /// A form with one button.
    Post {
        action: String,
        label: String,
        class: &'static str,
        /// Hidden fields.
        fields: Vec<(String, String)>,
        /// The token of the form.
        token: String,
    },
}

#[derive(Template)]
#[template(path = "parts/page_action.html")]
struct PageActionView<'a> {
    page_action: &'a PageAction,
}

impl PageAction {
    pub(crate) fn link(href: impl Into<String>, label: impl Into<String>) -> Self {
        Self::Link { href: href.into(), label: label.into(), class: "" }
    }

    pub(crate) fn primary(href: impl Into<String>, label: impl Into<String>) -> Self {
        Self::Link { href: href.into(), label: label.into(), class: "primary" }
    }

    pub(crate) fn danger(href: impl Into<String>, label: impl Into<String>) -> Self {
        Self::Link { href: href.into(), label: label.into(), class: "danger" }
    }

    pub(crate) fn post(action: impl Into<String>, label: impl Into<String>, token: String) -> Self {
        Self::Post { action: action.into(), label: label.into(), class: "", fields: Vec::new(), token }
    }

    pub(crate) fn html(&self) -> Html {
        render(&PageActionView { page_action: self })
    }

    /// Several in a row.
    pub(crate) fn row(actions: &[Self]) -> Html {
        render(&PageActionsView { actions: actions.iter().map(Self::html).collect() })
    }
}

#[derive(Template)]
#[template(
    source = r#"<div class="acts">{% for action in actions %}{{ action }}{% endfor %}</div>"#,
    ext = "html"
)]
struct PageActionsView {
    actions: Vec<Html>,
}

/// A page beside this one, of the same record.
#[derive(Debug, Clone)]
pub(crate) struct Tab {
    pub(crate) href: String,
    pub(crate) label: String,
    pub(crate) is_current: bool,
}

/// The head of a page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head {
    /// The way to the page: label and address of each; the page itself is not in it.
    pub(crate) crumbs: Vec<(String, String)>,
    pub(crate) title: String,
    /// The last crumb, where it is not the title.
    pub(crate) current: Option<String>,
    pub(crate) badges: Vec<Badge>,
    /// One sentence.
    pub(crate) lede: Option<String>,
    /// At most three.
    pub(crate) actions: Vec<PageAction>,
    /// The name of the tabs for screen readers.
    pub(crate) tabs_label: String,
    pub(crate) tabs: Vec<Tab>,
}

impl Head {
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    pub(crate) fn crumb(mut self, label: impl Into<String>, href: impl Into<String>) -> Self {
        self.crumbs.push((label.into(), href.into()));
        self
    }

    pub(crate) fn current(mut self, label: impl Into<String>) -> Self {
        self.current = Some(label.into());
        self
    }

    pub(crate) fn badge(mut self, badge: Badge) -> Self {
        self.badges.push(badge);
        self
    }

    pub(crate) fn badges(mut self, badges: impl IntoIterator<Item = Badge>) -> Self {
        self.badges.extend(badges);
        self
    }

    pub(crate) fn lede(mut self, text: impl Into<String>) -> Self {
        self.lede = Some(text.into());
        self
    }

    pub(crate) fn action(mut self, action: PageAction) -> Self {
        self.actions.push(action);
        self
    }

    pub(crate) fn tabs(mut self, label: impl Into<String>, tabs: Vec<Tab>) -> Self {
        self.tabs_label = label.into();
        self.tabs = tabs;
        self
    }

    /// The tabs of a record with this address: the last part of the address of each, or nothing, with its label.
    pub(crate) fn record_tabs(
        self,
        label: impl Into<String>,
        path: &str,
        tabs: impl IntoIterator<Item = (&'static str, String)>,
        current: &str,
    ) -> Self {
        let tab = |(page, label): (&str, String)| {
            let href = if page.is_empty() { path.to_owned() } else { format!("{path}/{page}") };
            Tab { href, label, is_current: page == current }
        };
        self.tabs(label, tabs.into_iter().map(tab).collect())
    }
}
