-- When an organization or an API client was removed. Nobody finds it any more; its rows are deleted later, in batches.
alter table organizations add column deleted_at timestamptz;
alter table api_clients add column deleted_at timestamptz;
create index organizations_removed on organizations (id) where deleted_at is not null;
create index api_clients_removed on api_clients (id) where deleted_at is not null;

-- The foreign keys of proposals that had no index: each deleted account or state read all proposals.
create index proposals_of_draft_author on proposals (draft_author_id) where draft_author_id is not null;
create index proposals_of_state on proposals (state_id) where state_id is not null;

-- The jobs of an erased account.
create index jobs_of_user on jobs (user_id) where user_id is not null;
