-- Answers to writes that carried an idempotency key, for 24 hours.
create table idempotency_keys (
    -- SHA-256 of organization, client, user and key, in hexadecimal.
    digest text primary key,
    organization_id integer not null references organizations (id) on delete cascade,
    api_client_id integer not null references api_clients (id) on delete cascade,
    -- Null for a service token.
    user_id integer references users (id) on delete cascade,
    -- SHA-256 of method, path, query and body, in hexadecimal.
    request_digest text not null,
    status integer not null,
    -- Encrypted: headers and body, as JSON.
    sealed_answer text not null,
    created_at text not null
);
create index idempotency_keys_of_organization on idempotency_keys (organization_id);
create index idempotency_keys_of_client on idempotency_keys (api_client_id);
create index idempotency_keys_of_user on idempotency_keys (user_id) where user_id is not null;
create index idempotency_keys_by_time on idempotency_keys (created_at);
