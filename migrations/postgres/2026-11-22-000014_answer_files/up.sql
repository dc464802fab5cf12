-- The files of answers. Their attachments are deleted with the answer.
alter table attachments add column answer_id bigint references answers (id) on delete cascade;
create index attachments_of_answer on attachments (answer_id, organization_id) where answer_id is not null;
-- Lists for readers who may not read answers: the files of answers are not skipped one by one.
create index attachments_listed_but_answers on attachments (organization_id, weight, id) where answer_id is null;
