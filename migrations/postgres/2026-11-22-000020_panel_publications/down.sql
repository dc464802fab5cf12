drop index posts_unpublished;
drop index posts_by_component;
create index posts_by_component on posts (component_id);
drop index meetings_hidden;
drop index meetings_withdrawn;
drop index meetings_unpublished;
drop index meetings_administered;
