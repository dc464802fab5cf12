drop index votes_of_user;
create index votes_of_user on votes (user_id, component_id);
