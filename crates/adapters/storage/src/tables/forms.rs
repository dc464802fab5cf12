//! Surveys, questionnaires, questions, options, conditions and responses.

mod conditions;
mod files;
mod form;
mod lookup;
mod options;
mod questionnaires;
mod questions;
mod responses;
mod search;
mod surveys;
