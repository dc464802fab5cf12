//! `/questionnaires`, `/questions`, `/answer_options`, `/answers`, `/questionnaire_responses` and
//! `/submission_requests` (contract 08).

mod answers;
mod bodies;
mod options;
mod questionnaires;
mod questions;
mod shapes;
mod submissions;

use crate::route::Routes;
use civitas_application::Ports;
use civitas_surveys::Questionnaires;

/// The lists whose removals change `Last-Modified` of a read.
const LISTS: &[&str] = &["surveys", "meetings", "answers", "components", "spaces", "roles"];

pub(crate) fn routes(routes: &mut Routes) {
    questionnaires::routes(routes);
    questions::routes(routes);
    options::routes(routes);
    answers::routes(routes);
    submissions::routes(routes);
}

fn service(ports: &dyn Ports) -> Questionnaires<'_> {
    Questionnaires {
        surveys: ports.surveys(),
        questionnaires: ports.questionnaires(),
        questions: ports.questions(),
        options: ports.answer_options(),
        responses: ports.responses(),
        lookup: ports.survey_lookup(),
        files: ports.answer_files(),
    }
}
