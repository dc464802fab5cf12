//! Questionnaires.

mod opened_question;
mod opened_survey;
mod question;
mod question_conditions;
mod question_form;
mod question_parts;
mod questions;
mod survey_answers;
mod survey_export;
mod survey_form;
mod survey_preview;
mod survey_responses;
mod surveys;

use super::Route;

/// The questionnaires of an organization, with questions and responses.
pub(super) fn routes() -> Vec<Route> {
    routes![
        "/system/organizations/{id}":
        "/surveys" => GET surveys::list, POST surveys::create;
        "/surveys/new" => GET surveys::new;
        "/surveys/{vid}" => GET questions::show, PUT survey_form::update;
        "/surveys/{vid}/edit" => GET survey_form::edit;
        "/surveys/{vid}/preview" => GET survey_preview::show;
        "/surveys/{vid}/questions" => POST question::create;
        "/surveys/{vid}/questions/{qid}" => PUT question::update, DELETE questions::delete;
        "/surveys/{vid}/questions/{qid}/move" => POST questions::reorder;
        "/surveys/{vid}/questions/{qid}/delete" => GET questions::confirm_delete;
        "/surveys/{vid}/responses" => GET survey_responses::list;
        "/surveys/{vid}/responses/{rid}" => GET survey_responses::show, DELETE survey_responses::delete;
        "/surveys/{vid}/responses/{rid}/delete" => GET survey_responses::confirm_delete;
        "/surveys/{vid}/responses/export/{format}" => POST survey_export::export;
    ]
}
