-- Every name of an organization, in lower case: the primary key keeps them apart over the whole deployment.
create table organization_names (
    folded text primary key,
    organization_id integer not null references organizations (id) on delete cascade
);
create index organization_names_of_organization on organization_names (organization_id);
insert or ignore into organization_names (folded, organization_id)
    select lower(translation.value), organizations.id
    from organizations, json_each(organizations.name) as translation
    where translation.value <> '' order by organizations.id;

-- A secondary host may wait to become the primary one: it is `promoted`.
create table organization_hosts_anew (
    host text primary key,
    organization_id integer not null references organizations (id) on delete cascade,
    kind text not null check (kind in ('primary', 'secondary', 'unconfirmed', 'promoted')),
    position integer not null default 0
);
insert into organization_hosts_anew select host, organization_id, kind, position from organization_hosts;
drop table organization_hosts;
alter table organization_hosts_anew rename to organization_hosts;
create unique index organization_hosts_one_primary on organization_hosts (organization_id) where kind = 'primary';
create unique index organization_hosts_one_pending on organization_hosts (organization_id)
    where kind in ('unconfirmed', 'promoted');
create index organization_hosts_of_organization on organization_hosts (organization_id);
