drop index jobs_of_user;
drop index proposals_of_state;
drop index proposals_of_draft_author;
drop index api_clients_removed;
drop index organizations_removed;
alter table api_clients drop column deleted_at;
alter table organizations drop column deleted_at;
