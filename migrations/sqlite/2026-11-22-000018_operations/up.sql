-- The log of jobs: each filter in the order of the log.
create index jobs_in_order on jobs (created_at, id);
create index jobs_of_organization on jobs (organization_id, created_at, id);
create index jobs_of_status on jobs (status, created_at, id);
create index jobs_of_command on jobs (command_key, created_at, id);
create index jobs_of_client on jobs (api_client_id, created_at, id);
-- What is old.
create index jobs_ended on jobs (updated_at) where status in ('completed', 'failed');
create index access_tokens_by_end on access_tokens (expires_at);
create index confirmations_by_end on confirmations (expires_at);
create index magic_links_by_end on magic_links (expires_at);
create index sessions_by_end on sessions (expires_at);

-- The log of deliveries: by event.
create index webhook_deliveries_of_name on webhook_deliveries (name, created_at, id);

-- What needs attention.
create index webhook_registrations_disabled on webhook_registrations (organization_id) where disabled_at is not null;
create index webhook_registrations_paused on webhook_registrations (organization_id) where paused_at is not null;
create index organization_hosts_pending on organization_hosts (organization_id)
    where kind in ('unconfirmed', 'promoted');
create index tasks_retried on tasks (kind, organization_id) where attempts > 0;

-- Search and states of people. The unique indexes serve prefixes.
create index users_in_order on users (organization_id, created_at, id) where deleted_at is null;
create index users_blocked on users (organization_id, created_at, id) where blocked_at is not null and deleted_at is null;
create index users_locked on users (organization_id, created_at, id) where locked_at is not null and deleted_at is null;
create index users_unconfirmed on users (organization_id, created_at, id)
    where confirmed_at is null and deleted_at is null;
create index users_unconfirmed_by_nickname on users (organization_id, nickname_folded, id)
    where confirmed_at is null and deleted_at is null;
