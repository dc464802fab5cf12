drop table answers;
drop table responses;
drop table display_conditions;
drop table answer_options;
drop table matrix_rows;
drop table questions;
drop table questionnaires;
drop table surveys;
