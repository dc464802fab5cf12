drop index posts_unpublished;
drop index posts_administered_in_component;
drop index meetings_hidden;
drop index meetings_withdrawn;
drop index meetings_unpublished;
drop index meetings_administered_in_component;
drop index meetings_administered;
