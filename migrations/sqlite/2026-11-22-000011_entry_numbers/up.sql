-- Pages, budgets, results and debates: numbers of their own for each kind. Numbers that were given stay.
create table numbered_entries (
    kind text not null,
    id integer not null,
    organization_id integer not null references organizations (id) on delete cascade,
    component_id integer not null references components (id) on delete cascade,
    title text not null,
    hidden_at text,
    deleted_at text,
    created_at text not null,
    updated_at text not null,
    primary key (kind, id)
);
insert into numbered_entries
select case components.manifest
        when 'pages' then 'page' when 'budgets' then 'budget' when 'accountability' then 'result' else 'debate'
    end, entries.id, entries.organization_id, entries.component_id, entries.title, entries.hidden_at,
    entries.deleted_at, entries.created_at, entries.updated_at
from entries inner join components on components.id = entries.component_id;
drop table entries;
alter table numbered_entries rename to entries;
create index entries_of_organization on entries (organization_id, kind, id);
create index entries_of_component on entries (component_id);
create index entries_shown on entries (component_id, id) where hidden_at is null and deleted_at is null;

update archive_refs set record_id = kind || '/' || record_id where kind in ('page', 'budget', 'result', 'debate');
