//! Surveys, questionnaires, questions, options, conditions and responses.

mod conditions;
mod files;
mod form;
mod listing;
mod lookup;
mod options;
mod questionnaires;
mod questions;
mod responses;
mod surveys;
