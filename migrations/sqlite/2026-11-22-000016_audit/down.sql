drop table audit_heads;
drop table audit_entries;
