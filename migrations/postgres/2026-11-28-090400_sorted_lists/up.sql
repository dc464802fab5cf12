-- Lists in the order of creation, or of the last change; and what was changed after a time.
create index proposals_created on proposals (organization_id, created_at, id, component_id)
    where hidden_at is null and deleted_at is null;
create index proposals_created_in_component on proposals (component_id, created_at, id)
    where hidden_at is null and deleted_at is null;
create index proposals_updated on proposals (organization_id, updated_at, id, component_id)
    where hidden_at is null and deleted_at is null;
-- It also finds the last change of a proposal of a component.
drop index proposals_changed;
create index proposals_changed on proposals (component_id, updated_at, id)
    where hidden_at is null and deleted_at is null;
create index meetings_created on meetings (organization_id, created_at, id, component_id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index meetings_created_in_component on meetings (component_id, created_at, id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index meetings_updated on meetings (organization_id, updated_at, id, component_id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index meetings_updated_in_component on meetings (component_id, updated_at, id)
    where published_at is not null and hidden_at is null and deleted_at is null;
create index posts_created on posts (organization_id, created_at, id, component_id)
    where deleted_at is null;
create index posts_created_in_component on posts (component_id, created_at, id)
    where deleted_at is null;
create index posts_updated on posts (organization_id, updated_at, id, component_id)
    where deleted_at is null;
create index posts_updated_in_component on posts (component_id, updated_at, id)
    where deleted_at is null;
