alter table system_admins rename to administrators;
alter table administrators add column failed_attempts integer not null default 0;
alter table administrators add column locked_until timestamptz;
alter table administrators add column locale text;
alter table administrators add column theme text not null default 'device';
-- The sealed secret, the digests of the recovery codes, and the last step.
alter table administrators add column second_factor jsonb;
-- The one that was opened last.
alter table administrators add column organization_id bigint references organizations (id) on delete set null;
alter table administrators add column last_sign_in_at timestamptz;
create index administrators_of_organization on administrators (organization_id) where organization_id is not null;

-- Sessions of the panel.
create table panel_sessions (
    digest text primary key,
    administrator_id bigint not null references administrators (id) on delete cascade,
    -- Sealed; shown on the next page.
    notice text,
    created_at timestamptz not null,
    last_seen_at timestamptz not null,
    expires_at timestamptz not null
);
create index panel_sessions_of_administrator on panel_sessions (administrator_id);
create index panel_sessions_by_end on panel_sessions (expires_at);

-- Forms that were submitted: each once.
create table panel_used_forms (
    session_digest text not null references panel_sessions (digest) on delete cascade,
    nonce text not null,
    used_at timestamptz not null,
    primary key (session_digest, nonce)
);

-- Lists of API clients, and what each has.
create index api_clients_listed on api_clients (created_at, id);
create index api_clients_listed_of_organization on api_clients (organization_id, created_at, id);
create index access_tokens_newest_of_client on access_tokens (api_client_id, issued_at);
create index access_tokens_valid_of_client on access_tokens (api_client_id, expires_at) where revoked_at is null;
-- `access_tokens_newest_of_client` serves the same.
drop index access_tokens_of_client;
