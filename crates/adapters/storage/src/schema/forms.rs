//! Surveys, questionnaires and responses.

table! {
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

table! {
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

table! {
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

table! {
    matrix_rows (id) {
        id -> BigInt,
        question_id -> BigInt,
        reference -> Text,
        position -> BigInt,
        body -> Json,
    }
}

table! {
    answer_options (id) {
        id -> BigInt,
        organization_id -> BigInt,
        question_id -> BigInt,
        body -> Json,
    }
}

table! {
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

table! {
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

table! {
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
