create table files (
    id integer primary key autoincrement,
    -- No foreign key: the row stays until the bytes are deleted.
    organization_id integer not null,
    key text not null unique,
    object text not null unique,
    filename text not null,
    content_type text not null,
    fault text,
    byte_size integer not null,
    sha256 text not null,
    thumbnail_bytes integer,
    state text not null check (state in ('pending', 'stored', 'removed')),
    created_at text not null
);
-- The files to delete, the oldest first.
create index files_to_delete on files (created_at, id) where state <> 'stored';
create index files_of_organization on files (organization_id, id);

create table attachment_collections (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    -- A class name; the columns below it are the same reference with a foreign key.
    attached_to_type text not null,
    attached_to_id integer not null,
    space_manifest text,
    space_id integer,
    proposal_id integer references proposals (id) on delete cascade,
    meeting_id integer references meetings (id) on delete cascade,
    post_id integer references posts (id) on delete cascade,
    name text not null,
    weight integer not null,
    foreign key (space_manifest, space_id) references spaces (manifest, id) on delete cascade
);
create index attachment_collections_of_organization on attachment_collections (organization_id, id);
create index attachment_collections_of_space on attachment_collections (space_manifest, space_id);
create index attachment_collections_of_proposal on attachment_collections (proposal_id);
create index attachment_collections_of_meeting on attachment_collections (meeting_id);
create index attachment_collections_of_post on attachment_collections (post_id);

create table attachments (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    -- A class name; the columns below it are the same reference with a foreign key.
    attached_to_type text not null,
    attached_to_id integer not null,
    space_manifest text,
    space_id integer,
    proposal_id integer references proposals (id) on delete cascade,
    meeting_id integer references meetings (id) on delete cascade,
    post_id integer references posts (id) on delete cascade,
    title text not null,
    description text not null,
    weight integer not null,
    collection_id integer references attachment_collections (id) on delete set null,
    file_type text not null check (file_type in ('image', 'document', 'link')),
    file_id integer unique references files (id),
    link text,
    created_at text not null,
    updated_at text not null,
    check ((file_id is null) <> (link is null)),
    foreign key (space_manifest, space_id) references spaces (manifest, id) on delete cascade
);
-- Lists in their order: all, of one record, of one collection, of one type.
create index attachments_listed on attachments (organization_id, weight, id);
create index attachments_listed_of_parent on attachments (organization_id, attached_to_type, attached_to_id, weight, id);
create index attachments_listed_of_parent_id on attachments (organization_id, attached_to_id, weight, id);
create index attachments_listed_of_collection on attachments (collection_id, weight, id);
create index attachments_listed_of_type on attachments (organization_id, file_type, weight, id);
-- Export in the order of ids, and the deletion of a record.
create index attachments_of_organization on attachments (organization_id, id);
create index attachments_of_space on attachments (space_manifest, space_id);
create index attachments_of_proposal on attachments (proposal_id);
create index attachments_of_meeting on attachments (meeting_id);
create index attachments_of_post on attachments (post_id);

create table uploads (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    api_client_id integer not null references api_clients (id) on delete cascade,
    -- SHA-256 of the secret part of the signed id.
    digest text not null,
    filename text not null,
    content_type text not null,
    byte_size integer not null,
    checksum text not null,
    file_id integer unique references files (id),
    created_at text not null
);
create index uploads_of_organization on uploads (organization_id, id);
create index uploads_of_client on uploads (api_client_id);
create index uploads_announced on uploads (created_at);

-- A file to which nothing refers any more is removed, whatever deleted the row that referred to it.
create trigger attachments_leave_files after delete on attachments when old.file_id is not null
begin
    update files set state = 'removed' where id = old.file_id;
end;

create trigger uploads_leave_files after delete on uploads when old.file_id is not null
begin
    update files set state = 'removed' where id = old.file_id
        and not exists (select 1 from attachments where attachments.file_id = old.file_id);
end;
