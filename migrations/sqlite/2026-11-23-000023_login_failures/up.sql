-- Failed logins of a name through an API client since the last success. The name is a digest: it may be of no account.
create table login_failures (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    api_client_id integer not null references api_clients (id) on delete cascade,
    -- SHA-256 of the name in lower case, in hexadecimal.
    name_digest text not null,
    failures integer not null,
    -- Until when the login is closed; null when it never was.
    locked_until text,
    failed_at text not null,
    unique (organization_id, name_digest, api_client_id)
);
create index login_failures_of_client on login_failures (api_client_id);
create index login_failures_by_time on login_failures (failed_at);
create index login_failures_by_number on login_failures (failures, failed_at);

alter table users drop column failed_logins;
