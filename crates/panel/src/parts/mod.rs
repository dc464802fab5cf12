//! The parts that pages are made of. Each renders itself; the class names are those of the style sheet.

mod card;
mod confirm;
mod field;
mod form;
mod head;
mod html;
mod layout;
mod list;
mod matrix;
mod table;
mod texts;

pub(crate) use card::{Card, Event, Json, KeyValues, Split, Timeline};
pub(crate) use confirm::Confirm;
pub(crate) use field::{Choice, Field, Group, Tick};
pub(crate) use form::{Form, Problem, Section};
pub(crate) use head::{Act, Badge, Head, Tab};
pub(crate) use html::{Html, render};
pub(crate) use layout::{Alone, Layout, Organization};
pub(crate) use list::{Chip, Filters, Found, Pages, Results};
pub(crate) use matrix::{Matrix, MatrixCell, MatrixColumn, MatrixRow};
pub(crate) use table::{Cell, Column, Empty, RowAct, Table};
pub(crate) use texts::{Texts, language_name};
