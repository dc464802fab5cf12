drop table entries;
drop table meeting_registrations;
drop table meetings;
