-- Attachments of answers have no other parent.
delete from attachments where answer_id is not null;
drop index attachments_listed_but_answers;
drop index attachments_of_answer;
alter table attachments drop column answer_id;
