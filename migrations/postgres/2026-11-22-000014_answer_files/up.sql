-- The files of answers. Their attachments are deleted with the answer.
alter table attachments add column answer_id bigint references answers (id) on delete cascade;
create index attachments_of_answer on attachments (answer_id);
