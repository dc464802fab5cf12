-- The audit trail: a chain of entries for each organization, and one for the deployment (0). Entries outlive their
-- organization.
create table audit_entries (
    id integer primary key autoincrement,
    organization_id integer not null,
    -- From 1 in each organization, without gaps.
    number integer not null,
    at text not null,
    actor_kind text not null,
    actor_id text,
    actor_name text,
    user_id integer,
    user_name text,
    address text,
    action text not null,
    object_kind text,
    object_id text,
    object_label text,
    -- JSON: [[field, before, after], ...]
    changes text not null,
    -- SHA-256 in hexadecimal.
    hash text not null
);
create unique index audit_entries_of_chain on audit_entries (organization_id, number);
create index audit_entries_of_organization on audit_entries (organization_id, at, id);
create index audit_entries_of_organization_and_action on audit_entries (organization_id, action, at, id);
create index audit_entries_of_organization_and_actor on audit_entries (organization_id, actor_kind, at, id);
create index audit_entries_by_time on audit_entries (at, id);
create index audit_entries_of_action on audit_entries (action, at, id);
create index audit_entries_of_actor on audit_entries (actor_kind, at, id);
create index audit_entries_of_object on audit_entries (object_kind, object_id, at, id);

-- The ends of the chains. The lock of a row makes one writer of a chain at a time.
create table audit_heads (
    organization_id integer primary key,
    number integer not null,
    hash text not null,
    -- The last entry that was removed because of its age.
    removed_number integer not null,
    removed_hash text not null
);
