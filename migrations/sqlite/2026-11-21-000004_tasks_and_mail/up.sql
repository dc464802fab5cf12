-- What the platform does on its own, after the change that asked for it. A claimed task is due again when its lease ends.
create table tasks (
    id blob primary key,
    organization_id integer not null references organizations (id) on delete cascade,
    kind text not null,
    subject text,
    payload text not null,
    attempts integer not null,
    due_at text not null
);
create unique index tasks_by_subject on tasks (organization_id, kind, subject);
create index tasks_due on tasks (due_at);

-- Links that confirm an e-mail address. Digests are SHA-256 in hexadecimal; what they are of is kept nowhere.
create table confirmations (
    digest text primary key,
    organization_id integer not null references organizations (id) on delete cascade,
    user_id integer not null references users (id) on delete cascade,
    expires_at text not null
);
create index confirmations_of_user on confirmations (user_id);
create index confirmations_of_organization on confirmations (organization_id);

-- Links that sign a user in: one a user.
create table magic_links (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    user_id integer not null unique references users (id) on delete cascade,
    digest text not null unique,
    redirect_url text,
    created_at text not null,
    expires_at text not null
);
create index magic_links_of_organization on magic_links (organization_id);

-- Participants who signed in with such a link.
create table sessions (
    digest text primary key,
    organization_id integer not null references organizations (id) on delete cascade,
    user_id integer not null references users (id) on delete cascade,
    created_at text not null,
    expires_at text not null
);
create index sessions_of_user on sessions (user_id);
create index sessions_of_organization on sessions (organization_id);
