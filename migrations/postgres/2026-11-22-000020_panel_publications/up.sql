-- The list of meetings for administrators: of the organization, of one component, and each state.
create index meetings_administered on meetings (organization_id, start_time, id) where deleted_at is null;
create index meetings_administered_in_component on meetings (component_id, start_time, id) where deleted_at is null;
create index meetings_unpublished on meetings (organization_id, start_time, id)
    where published_at is null and deleted_at is null;
create index meetings_withdrawn on meetings (organization_id, start_time, id)
    where withdrawn_at is not null and deleted_at is null;
create index meetings_hidden on meetings (organization_id, start_time, id)
    where hidden_at is not null and deleted_at is null;
-- Of two indexes that cost the same, SQLite takes the one that was created last: for the interface the one of listed
-- meetings.
drop index meetings_listed;
create index meetings_listed on meetings (organization_id, start_time, id, component_id)
    where published_at is not null and hidden_at is null and deleted_at is null;
drop index meetings_listed_in_component;
create index meetings_listed_in_component on meetings (component_id, start_time, id)
    where published_at is not null and hidden_at is null and deleted_at is null;

-- The list of posts for administrators: of one component, and drafts. That of the organization is posts_of_organization,
-- that of scheduled posts is posts_listed.
create index posts_administered_in_component on posts (component_id, id) where deleted_at is null;
create index posts_unpublished on posts (organization_id, id) where published_at is null and deleted_at is null;
