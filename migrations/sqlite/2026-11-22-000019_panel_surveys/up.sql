-- The responses to a questionnaire, newest first: the list and the export of the panel.
create index responses_in_order on responses (questionnaire_id, organization_id, created_at, id);
-- The list of questionnaires in the panel, newest first.
create index questionnaires_by_creation on questionnaires (organization_id, created_at, id);
