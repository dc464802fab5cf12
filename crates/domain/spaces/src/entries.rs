//! Records that their component only lists and counts: pages, budgets, results, debates (contract 05 §3.4).

use crate::ComponentKind;
use civitas_kernel::records::Entity;
use civitas_kernel::{ComponentId, Translated};
use time::OffsetDateTime;

/// A page, a budget, a result or a debate.
#[derive(Debug, Clone, PartialEq)]
pub struct ComponentEntry {
    /// Its kind: that of its component.
    pub kind: ComponentEntryKind,
    /// The component it belongs to.
    pub component: ComponentId,
    /// The title.
    pub title: Translated,
    /// When moderation hid it; then it is neither listed nor counted.
    pub hidden_at: Option<OffsetDateTime>,
    /// When it was deleted; then it is neither listed nor counted.
    pub deleted_at: Option<OffsetDateTime>,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When it was last changed; this also changes its component.
    pub updated_at: OffsetDateTime,
}

impl ComponentEntry {
    /// A new one.
    pub fn new(
        kind: ComponentEntryKind,
        component: ComponentId,
        title: Translated,
        now: OffsetDateTime,
    ) -> Self {
        Self { kind, component, title, hidden_at: None, deleted_at: None, created_at: now, updated_at: now }
    }

    /// Whether its component lists and counts it.
    pub fn is_shown(&self) -> bool {
        self.hidden_at.is_none() && self.deleted_at.is_none()
    }
}

impl Entity for ComponentEntry {
    type Id = ComponentEntryRef;

    civitas_kernel::time_fields!(updated_at, deleted_at);

    fn lists_changed(&self, before: Option<&Self>) -> Vec<&'static str> {
        let is_lost = before.is_some_and(Self::is_shown) && !self.is_shown();
        if is_lost { vec!["entries"] } else { Vec::new() }
    }
}

/// One entry. Numbers are unique per kind only: a page 1 and a debate 1 are two entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComponentEntryRef {
    /// The kind.
    pub kind: ComponentEntryKind,
    /// The number among the entries of that kind.
    pub id: i64,
}

civitas_kernel::named_enum! {
    /// The kinds of entries.
    pub enum ComponentEntryKind {
        /// A page of text.
        Page = "page",
        /// A budget to decide on.
        Budget = "budget",
        /// A result of a project.
        Result = "result",
        /// A debate.
        Debate = "debate",
    }
}

impl ComponentEntryKind {
    /// The kind of component it belongs to.
    pub fn component_kind(self) -> ComponentKind {
        match self {
            Self::Page => ComponentKind::Pages,
            Self::Budget => ComponentKind::Budgets,
            Self::Result => ComponentKind::Accountability,
            Self::Debate => ComponentKind::Debates,
        }
    }
}
