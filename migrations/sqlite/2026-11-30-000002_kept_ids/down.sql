alter table proposal_states drop column updated_at;
drop table id_floors;
