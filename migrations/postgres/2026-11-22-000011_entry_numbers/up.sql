-- Pages, budgets, results and debates: numbers of their own for each kind. Numbers that were given stay.
alter table entries add column kind text;
update entries set kind = case components.manifest
        when 'pages' then 'page' when 'budgets' then 'budget' when 'accountability' then 'result' else 'debate'
    end
from components where components.id = entries.component_id;
alter table entries alter column kind set not null;
alter table entries alter column id drop identity;
alter table entries drop constraint entries_pkey;
alter table entries add primary key (kind, id);
drop index entries_of_organization;
create index entries_of_organization on entries (organization_id, kind, id);

update archive_refs set record_id = kind || '/' || record_id where kind in ('page', 'budget', 'result', 'debate');
