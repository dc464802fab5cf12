drop index proposals_of_client;
create index proposals_of_client on proposals (api_client_id);
alter table proposals add foreign key (organization_id) references organizations (id) on delete cascade;
alter table votes
    add foreign key (component_id) references components (id) on delete cascade,
    add foreign key (organization_id) references organizations (id) on delete cascade;
