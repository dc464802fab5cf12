//! Surveys, questionnaires and responses.

diesel::table! {
    use diesel::sql_types::{BigInt, Nullable};
    use crate::engine::sql::Moment;

    surveys (id) {
        id -> BigInt,
        organization_id -> BigInt,
        component_id -> BigInt,
        starts_at -> Nullable<Moment>,
        ends_at -> Nullable<Moment>,
        deleted_at -> Nullable<Moment>,
        created_at -> Moment,
        updated_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::engine::sql::{Json, Moment};

    questionnaires (id) {
        id -> BigInt,
        organization_id -> BigInt,
        component_id -> BigInt,
        survey_id -> Nullable<BigInt>,
        meeting_id -> Nullable<BigInt>,
        title -> Json,
        description -> Json,
        tos -> Json,
        salt -> Text,
        created_at -> Moment,
        updated_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Bool, Nullable, Text};
    use crate::engine::sql::Json;

    questions (id) {
        id -> BigInt,
        organization_id -> BigInt,
        questionnaire_id -> BigInt,
        position -> BigInt,
        question_type -> Text,
        body -> Json,
        description -> Nullable<Json>,
        mandatory -> Bool,
        max_choices -> Nullable<BigInt>,
        max_characters -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Text};
    use crate::engine::sql::Json;

    matrix_rows (id) {
        id -> BigInt,
        question_id -> BigInt,
        reference -> Text,
        position -> BigInt,
        body -> Json,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt};
    use crate::engine::sql::Json;

    answer_options (id) {
        id -> BigInt,
        organization_id -> BigInt,
        question_id -> BigInt,
        body -> Json,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Bool, Nullable, Text};
    use crate::engine::sql::Json;

    display_conditions (id) {
        id -> BigInt,
        organization_id -> BigInt,
        question_id -> BigInt,
        condition_question_id -> BigInt,
        condition_type -> Text,
        answer_option_id -> Nullable<BigInt>,
        value -> Nullable<Json>,
        mandatory -> Bool,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::engine::sql::Moment;

    responses (id) {
        id -> BigInt,
        organization_id -> BigInt,
        questionnaire_id -> BigInt,
        user_id -> Nullable<BigInt>,
        session_token -> Text,
        client_ip -> Nullable<Text>,
        created_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::engine::sql::{Json, Moment};

    answers (id) {
        id -> BigInt,
        organization_id -> BigInt,
        questionnaire_id -> BigInt,
        response_id -> BigInt,
        question_id -> BigInt,
        user_id -> Nullable<BigInt>,
        body -> Nullable<Text>,
        value -> Nullable<Json>,
        created_at -> Moment,
    }
}
