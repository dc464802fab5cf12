alter table organizations drop column move_state;
