//! The parts that pages are made of. Each renders itself; the class names are those of the style sheet.

/// Methods of a builder that set a text.
macro_rules! text_setters {
    ($part:ty: $($field:ident),+) => {
        impl $part {$(
            pub(crate) fn $field(mut self, text: impl Into<String>) -> Self {
                self.$field = text.into();
                self
            }
        )+}
    };
}

mod card;
mod confirmation;
mod deletion_link;
mod field;
mod form;
mod head;
mod html;
mod layout;
mod matrix;
mod table;
mod texts;

pub(crate) use card::{Card, Json, KeyValues, Timeline, TimelineEvent, TwoColumns};
pub(crate) use confirmation::Confirmation;
pub(crate) use deletion_link::deletion_link;
pub(crate) use field::{Checkbox, Choice, ChoiceGroup, Field};
pub(crate) use form::{Form, FormError, FormErrors, Section};
pub(crate) use head::{Badge, Head, PageAction, Tab};
pub(crate) use html::{Html, render};
pub(crate) use layout::{Layout, OpenedOrganization, StandalonePage};
pub(crate) use matrix::{Matrix, MatrixCell, MatrixColumn, MatrixRow};
pub(crate) use table::{Cell, Column, EmptyState, RowAction, Table};
pub(crate) use texts::{TranslatedFields, language_name};

/// Gives each of these templates a method that renders it.
macro_rules! html_parts {
    ($($part:ty),+) => {$(
        impl $part {
            pub(crate) fn html(&self) -> Html {
                render(self)
            }
        }
    )+};
}

html_parts!(Card, Form<'_>, Json<'_>, KeyValues, Matrix, TwoColumns, Table, Checkbox, Timeline);
