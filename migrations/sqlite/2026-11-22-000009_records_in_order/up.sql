-- The published, visible records in the order of their list: of the organization, and of one component. The first index
-- also holds the component, so that a page of ids is read from the index alone. The last two columns are null in each
-- row: SQLite reads the table for a column that is named in a statement and not in the index.
create index proposals_listed on proposals (organization_id, published_at, id, component_id, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index proposals_listed_in_component on proposals (component_id, published_at, id, hidden_at, deleted_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
-- Export in the order of ids, and the deletion of an organization. Components find theirs by proposals_one_draft.
create index proposals_of_organization on proposals (organization_id, id);
drop index proposals_in_order;
drop index proposals_of_component;

create index meetings_listed on meetings (organization_id, start_time, id, component_id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index meetings_listed_in_component on meetings (component_id, start_time, id)
    where published_at is not null and hidden_at is null and deleted_at is null;
-- The deletion of a component.
create index meetings_by_component on meetings (component_id);
drop index meetings_in_order;
drop index meetings_of_component;
