drop table uploads;
drop table attachments;
drop table attachment_collections;
drop table files;
drop function uploads_leave_files();
drop function attachments_leave_files();
