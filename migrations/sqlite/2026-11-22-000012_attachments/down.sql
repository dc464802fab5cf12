drop table uploads;
drop table attachments;
drop table attachment_collections;
drop table files;
