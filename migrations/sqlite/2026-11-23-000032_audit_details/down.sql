drop index audit_entries_of_user;
alter table audit_entries drop column details_digest;
alter table audit_entries drop column details_salt;
