-- The bytes of payload and result of a job, and of a kept answer. Rows of before have none: after a day they do not count.
alter table jobs add column bytes bigint not null default 0;
alter table idempotency_keys add column bytes bigint not null default 0;

-- What an organization and its clients store is summed up from an index alone. No index is added: columns are, to those
-- whose rows change with every job anyway.
drop index jobs_of_organization;
create index jobs_of_organization on jobs (organization_id, created_at, id, api_client_id, bytes);
drop index jobs_in_turn_of_organization;
create index jobs_in_turn_of_organization on jobs (organization_id, turn, created_at, api_client_id, bytes, status)
where status || '' = 'pending';
drop index idempotency_keys_of_organization;
create index idempotency_keys_of_organization on idempotency_keys (organization_id, api_client_id, bytes);
drop index uploads_of_organization;
create index uploads_of_organization on uploads (organization_id, id, api_client_id, byte_size, file_id, created_at);
