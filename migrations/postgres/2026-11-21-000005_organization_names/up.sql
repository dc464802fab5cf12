-- Every name of an organization, in lower case: the primary key keeps them apart over the whole deployment.
create table organization_names (
    folded text primary key,
    organization_id bigint not null references organizations (id) on delete cascade
);
create index organization_names_of_organization on organization_names (organization_id);
insert into organization_names (folded, organization_id)
    select lower(translation.value), organizations.id
    from organizations, jsonb_each_text(organizations.name) as translation
    where translation.value <> '' order by organizations.id
    on conflict do nothing;

-- A secondary host may wait to become the primary one: it is `promoted`.
alter table organization_hosts drop constraint organization_hosts_kind_check;
alter table organization_hosts add constraint organization_hosts_kind_check
    check (kind in ('primary', 'secondary', 'unconfirmed', 'promoted'));
drop index organization_hosts_one_of_a_kind;
create unique index organization_hosts_one_primary on organization_hosts (organization_id) where kind = 'primary';
create unique index organization_hosts_one_pending on organization_hosts (organization_id)
    where kind in ('unconfirmed', 'promoted');
