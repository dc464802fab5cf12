delete from outbox where organization_id not in (select id from organizations);
alter table outbox add constraint outbox_organization_id_fkey
    foreign key (organization_id) references organizations (id) on delete cascade;
