create table surveys (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    component_id integer not null references components (id) on delete cascade,
    starts_at text,
    ends_at text,
    deleted_at text,
    created_at text not null,
    updated_at text not null
);
create index surveys_of_organization on surveys (organization_id, id);
-- What a component names and counts of its surveys (contract 05 s. 3.4).
create index surveys_of_component on surveys (component_id, id) where deleted_at is null;
create index surveys_by_component on surveys (component_id);

create table questionnaires (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    -- The component of the survey or meeting.
    component_id integer not null references components (id) on delete cascade,
    survey_id integer references surveys (id) on delete cascade,
    meeting_id integer references meetings (id) on delete cascade,
    title text not null,
    description text not null,
    tos text not null,
    -- The key of the digests of respondents.
    salt text not null,
    created_at text not null,
    updated_at text not null,
    check ((survey_id is null) <> (meeting_id is null))
);
create index questionnaires_in_order on questionnaires (organization_id, updated_at, id, component_id);
create index questionnaires_of_component on questionnaires (component_id, updated_at, id);
create index questionnaires_of_organization on questionnaires (organization_id, id);
create index questionnaires_of_survey on questionnaires (survey_id);
create index questionnaires_of_meeting on questionnaires (meeting_id);

create table questions (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    questionnaire_id integer not null references questionnaires (id) on delete cascade,
    position integer not null,
    question_type text not null,
    body text not null,
    description text,
    mandatory boolean not null,
    max_choices integer,
    max_characters integer not null
);
-- With the organization in it, because every query names it: no planner prefers the index of the organization.
create index questions_in_order on questions (questionnaire_id, organization_id, position, id);
create index questions_of_organization on questions (organization_id, id);

create table matrix_rows (
    id integer primary key autoincrement,
    question_id integer not null references questions (id) on delete cascade,
    -- Its name in archives.
    reference text not null,
    position integer not null,
    body text not null,
    unique (question_id, reference)
);

create table answer_options (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    question_id integer not null references questions (id) on delete cascade,
    body text not null
);
create index answer_options_of_question on answer_options (question_id, organization_id, id);
create index answer_options_of_organization on answer_options (organization_id, id);

create table display_conditions (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    question_id integer not null references questions (id) on delete cascade,
    condition_question_id integer not null references questions (id) on delete cascade,
    condition_type text not null,
    -- Null after the deletion of the option: the condition never holds.
    answer_option_id integer references answer_options (id) on delete set null,
    value text,
    mandatory boolean not null
);
create index display_conditions_of_question on display_conditions (question_id, organization_id, id);
create index display_conditions_by_question on display_conditions (condition_question_id);
create index display_conditions_by_option on display_conditions (answer_option_id);
create index display_conditions_of_organization on display_conditions (organization_id, id);

-- One submission. Clients know it by the lowest id of its answers.
create table responses (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    questionnaire_id integer not null references questionnaires (id) on delete cascade,
    user_id integer references users (id) on delete set null,
    -- The digest of the respondent, or a random text: one response of each respondent.
    session_token text not null,
    client_ip text,
    created_at text not null,
    unique (questionnaire_id, session_token)
);
create index responses_of_organization on responses (organization_id, id);
create index responses_of_user on responses (user_id);

create table answers (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    questionnaire_id integer not null references questionnaires (id) on delete cascade,
    response_id integer not null references responses (id) on delete cascade,
    question_id integer not null references questions (id) on delete cascade,
    -- The respondent, as in the response.
    user_id integer references users (id) on delete set null,
    body text,
    value text,
    created_at text not null,
    unique (response_id, question_id)
);
create index answers_in_order on answers (questionnaire_id, organization_id, created_at, id);
create index answers_of_user on answers (user_id, questionnaire_id, created_at, id);
create index answers_of_question on answers (question_id, organization_id);
create index answers_of_response on answers (organization_id, response_id, id);
