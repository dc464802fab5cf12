create table organization_hosts_anew (
    host text primary key,
    organization_id integer not null references organizations (id) on delete cascade,
    kind text not null check (kind in ('primary', 'secondary', 'unconfirmed')),
    position integer not null default 0
);
insert into organization_hosts_anew
    select host, organization_id, case kind when 'promoted' then 'secondary' else kind end, position
    from organization_hosts;
drop table organization_hosts;
alter table organization_hosts_anew rename to organization_hosts;
create unique index organization_hosts_one_of_a_kind on organization_hosts (organization_id, kind)
    where kind in ('primary', 'unconfirmed');
create index organization_hosts_of_organization on organization_hosts (organization_id);
drop table organization_names;
