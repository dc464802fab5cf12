-- The shape of Decidim 0.30, made of that of 0.31.
alter table decidim_forms_responses rename to decidim_forms_answers;
alter table decidim_forms_response_options rename to decidim_forms_answer_options;
alter table decidim_forms_response_choices rename to decidim_forms_answer_choices;
alter table decidim_forms_answer_choices rename decidim_response_id to decidim_answer_id;
alter table decidim_forms_answer_choices rename decidim_response_option_id to decidim_answer_option_id;
alter table decidim_forms_display_conditions rename decidim_response_option_id to decidim_answer_option_id;
update decidim_forms_questions set question_type = replace(question_type, '_response', '_answer');
update decidim_attachments set attached_to_type = 'Decidim::Forms::Answer' where attached_to_type = 'Decidim::Forms::Response';
alter table decidim_surveys_surveys rename allow_responses to allow_answers;
update decidim_components set settings = replace(settings::text, '"likes_enabled"', '"endorsements_enabled"')::jsonb;
-- Who waits for a place has no row of its own kind here.
delete from decidim_meetings_registrations where status = 'waiting_list';
alter table decidim_meetings_registrations drop status;
alter table decidim_likes rename to decidim_endorsements;
