drop index posts_updated_in_component;
drop index posts_updated;
drop index posts_created_in_component;
drop index posts_created;
drop index meetings_updated_in_component;
drop index meetings_updated;
drop index meetings_created_in_component;
drop index meetings_created;
drop index proposals_updated;
drop index proposals_created_in_component;
drop index proposals_created;
drop index proposals_changed;
create index proposals_changed on proposals (component_id, updated_at)
    where published_at is not null and hidden_at is null and deleted_at is null;
