drop table sessions;
drop table magic_links;
drop table confirmations;
drop table tasks;
