-- The orders of lists by creation and last change, where no index has them: `answers_in_order`, `users_in_order`,
-- `jobs_of_owner` and those of questionnaires do.
create index users_by_change on users (organization_id, updated_at, id) where deleted_at is null;
create index votes_by_creation on votes (organization_id, created_at, id);
create index attachments_by_creation on attachments (organization_id, created_at, id);
create index attachments_by_change on attachments (organization_id, updated_at, id);
create index attachments_but_answers_by_creation on attachments (organization_id, created_at, id)
    where answer_id is null;
create index attachments_but_answers_by_change on attachments (organization_id, updated_at, id)
    where answer_id is null;
create index jobs_of_owner_by_change on jobs (organization_id, api_client_id, user_id, updated_at, id);
