drop index organization_hosts_pending;
create index organization_hosts_pending on organization_hosts (organization_id)
    where kind in ('unconfirmed', 'promoted');
-- Without its state a secondary host answers: those that are not confirmed are removed.
delete from organization_hosts where kind = 'secondary' and state <> 'confirmed';
update organization_hosts set kind = 'unconfirmed' where kind = 'promoted' and state <> 'confirmed';
alter table organization_hosts drop column state;
