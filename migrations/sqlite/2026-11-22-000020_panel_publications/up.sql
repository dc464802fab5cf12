-- The list of meetings for administrators: of the organization or of some components, and each state. The last columns
-- of the first one are those of its conditions, so that a page of ids is read from the index alone; the list of the
-- interface has a narrower one.
create index meetings_administered on meetings (organization_id, start_time, id, component_id, deleted_at)
    where deleted_at is null;
create index meetings_unpublished on meetings (organization_id, start_time, id)
    where published_at is null and deleted_at is null;
create index meetings_withdrawn on meetings (organization_id, start_time, id)
    where withdrawn_at is not null and deleted_at is null;
create index meetings_hidden on meetings (organization_id, start_time, id)
    where hidden_at is not null and deleted_at is null;

-- The list of posts for administrators: of one component, and drafts. That of the organization is posts_of_organization,
-- that of scheduled posts is posts_listed. The first one also serves the deletion of a component.
drop index posts_by_component;
create index posts_by_component on posts (component_id, id);
create index posts_unpublished on posts (organization_id, id) where published_at is null and deleted_at is null;
