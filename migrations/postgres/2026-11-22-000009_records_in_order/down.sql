create index meetings_of_component on meetings (component_id, start_time, id);
create index meetings_in_order on meetings (organization_id, start_time, id);
drop index meetings_by_component;
drop index meetings_listed_in_component;
drop index meetings_listed;

create index proposals_of_component on proposals (component_id, published_at, id);
create index proposals_in_order on proposals (organization_id, published_at, id);
drop index proposals_of_organization;
drop index proposals_listed_in_component;
drop index proposals_listed;
