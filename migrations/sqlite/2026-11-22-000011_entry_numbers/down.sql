create table all_entries (
    id integer primary key autoincrement,
    organization_id integer not null references organizations (id) on delete cascade,
    component_id integer not null references components (id) on delete cascade,
    title text not null,
    hidden_at text,
    deleted_at text,
    created_at text not null,
    updated_at text not null
);
-- One number for all kinds: the place in the order of kind and number.
create table entry_places as
select kind || '/' || id as record_id, row_number() over (order by kind, id) as place from entries;
insert into all_entries
select entry_places.place, organization_id, component_id, title, hidden_at, deleted_at, created_at, updated_at
from entries inner join entry_places on entry_places.record_id = entries.kind || '/' || entries.id;
update archive_refs
set record_id = (select place from entry_places where entry_places.record_id = archive_refs.record_id)
where kind in ('page', 'budget', 'result', 'debate')
    and record_id in (select record_id from entry_places);
delete from archive_refs where kind in ('page', 'budget', 'result', 'debate') and record_id like '%/%';
drop table entry_places;
drop table entries;
alter table all_entries rename to entries;
create index entries_of_organization on entries (organization_id, id);
create index entries_of_component on entries (component_id);
create index entries_shown on entries (component_id, id) where hidden_at is null and deleted_at is null;
