drop index jobs_of_owner_by_change;
drop index attachments_but_answers_by_change;
drop index attachments_but_answers_by_creation;
drop index attachments_by_change;
drop index attachments_by_creation;
drop index votes_by_creation;
drop index users_by_change;
