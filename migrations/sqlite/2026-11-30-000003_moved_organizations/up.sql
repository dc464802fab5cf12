-- The state of an organization that is moved to another deployment; null: it is served here.
alter table organizations add column move_state text check (move_state in ('leaving', 'left', 'arriving'));
