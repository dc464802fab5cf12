-- The titles and bodies of records in the form in which words are searched (contract 01 s. 6.2), each translation
-- between two characters U+001F. Written in the transaction of the record. `scope`: the kind and the organization of the
-- record in three characters that no searchable text has: one trigram, with which both texts begin. So an index of trigrams
-- finds words within a scope.
create table record_texts (
    id integer primary key,
    organization_id integer not null references organizations (id) on delete cascade,
    scope text not null,
    record_id integer not null,
    title text not null,
    body text not null,
    -- Whether the text is in the index below, which background work fills: it costs more than the write of a record.
    is_indexed boolean not null default false
);
create unique index record_texts_of_record on record_texts (organization_id, scope, record_id);

-- The trigrams of these texts. Names of users (scopes that begin with U+AC04) are not in it: nothing of a name that is
-- erased stays in the index.
create virtual table record_words using fts5(
    title, body, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
);
-- The texts that are still to be indexed, which searches compare.
create index record_texts_to_index on record_texts (organization_id, scope)
    where not is_indexed and unicode(scope) <> 44036;
create trigger record_texts_are_indexed_again after update of title, body on record_texts when old.is_indexed
begin
    delete from record_words where rowid = old.id;
    update record_texts set is_indexed = false where id = old.id;
end;
create trigger record_texts_are_no_longer_indexed after delete on record_texts when old.is_indexed
begin
    delete from record_words where rowid = old.id;
end;

-- Texts are deleted with their record.
create trigger proposals_lose_their_texts after delete on proposals
begin
    delete from record_texts where organization_id = old.organization_id and record_id = old.id
        and scope = char(44032, 44032 + old.organization_id / 11000 % 11000, 44032 + old.organization_id % 11000);
end;
create trigger meetings_lose_their_texts after delete on meetings
begin
    delete from record_texts where organization_id = old.organization_id and record_id = old.id
        and scope = char(44033, 44032 + old.organization_id / 11000 % 11000, 44032 + old.organization_id % 11000);
end;
create trigger posts_lose_their_texts after delete on posts
begin
    delete from record_texts where organization_id = old.organization_id and record_id = old.id
        and scope = char(44034, 44032 + old.organization_id / 11000 % 11000, 44032 + old.organization_id % 11000);
end;
create trigger components_lose_their_texts after delete on components
begin
    delete from record_texts where organization_id = old.organization_id and record_id = old.id
        and scope = char(44035, 44032 + old.organization_id / 11000 % 11000, 44032 + old.organization_id % 11000);
end;
create trigger users_lose_their_texts after delete on users
begin
    delete from record_texts where organization_id = old.organization_id and record_id = old.id
        and scope = char(44036, 44032 + old.organization_id / 11000 % 11000, 44032 + old.organization_id % 11000);
end;
create trigger attachments_lose_their_texts after delete on attachments
begin
    delete from record_texts where organization_id = old.organization_id and record_id = old.id
        and scope = char(44037, 44032 + old.organization_id / 11000 % 11000, 44032 + old.organization_id % 11000);
end;
create trigger spaces_lose_their_texts after delete on spaces
begin
    delete from record_texts where organization_id = old.organization_id and record_id = old.id and scope = char(
        case old.manifest
            when 'participatory_processes' then 44038
            when 'assemblies' then 44039
            when 'conferences' then 44040
            when 'initiatives' then 44041
        end,
        44032 + old.organization_id / 11000 % 11000, 44032 + old.organization_id % 11000
    );
end;
