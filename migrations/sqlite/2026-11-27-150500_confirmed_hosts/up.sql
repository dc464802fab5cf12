-- Whether a host is proven: `confirmed` (found by its check, or entered by an operator), `pending` (is checked), `failed` (its
-- checks have ended without success; another organization may take it). Secondary hosts of today stay as they are.
alter table organization_hosts add column state text not null default 'confirmed'
    check (state in ('confirmed', 'pending', 'failed'));
update organization_hosts set state = 'failed' where kind = 'unconfirmed';
update organization_hosts set state = 'pending' where kind = 'unconfirmed'
    and organization_id in (select organization_id from tasks where kind = 'host_check');
drop index organization_hosts_pending;
create index organization_hosts_pending on organization_hosts (organization_id)
    where state <> 'confirmed' or kind in ('unconfirmed', 'promoted');
