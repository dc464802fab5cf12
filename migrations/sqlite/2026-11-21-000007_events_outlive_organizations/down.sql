create table outbox_anew (
    id blob primary key,
    organization_id integer not null references organizations (id) on delete cascade,
    name text not null,
    payload text not null,
    occurred_at text not null
);
insert into outbox_anew
    select id, organization_id, name, payload, occurred_at from outbox
    where organization_id in (select id from organizations);
drop table outbox;
alter table outbox_anew rename to outbox;
create index outbox_of_organization on outbox (organization_id, id);
