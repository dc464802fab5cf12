update organization_hosts set kind = 'secondary' where kind = 'promoted';
drop index organization_hosts_one_primary;
drop index organization_hosts_one_pending;
alter table organization_hosts drop constraint organization_hosts_kind_check;
alter table organization_hosts add constraint organization_hosts_kind_check
    check (kind in ('primary', 'secondary', 'unconfirmed'));
create unique index organization_hosts_one_of_a_kind on organization_hosts (organization_id, kind)
    where kind in ('primary', 'unconfirmed');
drop table organization_names;
