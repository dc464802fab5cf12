-- That an organization was deleted is told after it is gone.
alter table outbox drop constraint outbox_organization_id_fkey;
