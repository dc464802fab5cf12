drop index posts_newest_in_component;
drop index posts_newest;
drop index meetings_newest_in_component;
drop index meetings_newest;
drop index proposals_newest_in_component;
drop index proposals_newest;
