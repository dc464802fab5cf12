-- The digest of the details of an entry is in its chain, so that the details can be erased. Both are null in entries
-- from before; only the salt is null in entries whose details were erased.
alter table audit_entries add column details_salt text;
alter table audit_entries add column details_digest text;
-- The erasure of an account finds what was done for it.
create index audit_entries_of_user on audit_entries (organization_id, user_id) where user_id is not null;
