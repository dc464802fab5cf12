//! Conformance tests of spaces, components, proposals, votes and extended data, on both engines.

mod spaces {
    civitas_tests::records_on_both_engines!(civitas_spaces::conformance: spaces, steps, components, entries);
    civitas_tests::on_both_engines!(in a transaction civitas_spaces::conformance:
        isolates_organizations,
        numbers_spaces_by_kind,
        refuses_a_slug_that_is_taken,
        at_most_one_step_is_active,
        finds_spaces_for_administrators,
        lists_and_deletes_steps,
        lists_and_counts_components_of_a_space,
        space_visibility_matches_the_contract,
        shows_components_by_the_rules,
        counts_components_beyond_those_it_names,
        lists_in_order_without_overlap,
        tells_when_something_changed,
        filters_spaces,
        filters_components,
        negations_look_at_every_translation,
        pages_of_entries_are_of_a_kind,
    );
}

mod meetings {
    civitas_tests::records_on_both_engines!(civitas_meetings::conformance: meetings);
    civitas_tests::on_both_engines!(civitas_meetings::conformance:
        isolates_organizations,
        registers_nobody_without_an_account,
        shows_what_is_visible,
        tells_all_of_a_meeting,
        reads_what_is_not_visible,
        lists_in_order_without_overlap,
        filters_by_number_and_extended_data,
        stays_inside,
        finds_meetings_to_remind_of,
        claims_a_reminder_once_for_each_time,
        marks_what_an_import_need_not_send,
        searches_for_administrators,
        pages_registered_users,
    );
}

mod proposals {
    civitas_tests::records_on_both_engines!(civitas_proposals::conformance: proposals, states, votes);
    civitas_tests::on_both_engines!(in a transaction civitas_proposals::conformance:
        isolates_organizations,
        keeps_one_draft_of_a_user,
        a_published_proposal_becomes_no_second_draft,
        refuses_a_token_that_is_taken,
        knows_the_author_by_position,
        a_state_that_is_renamed_is_filtered_by_its_new_name,
        shows_what_is_visible,
        finds_drafts_of_their_client,
        tells_all_of_a_proposal,
        shows_a_context_to_its_readers,
        filters_by_state_and_number,
        filters_by_votes_and_leaves_drafts_out,
        lists_in_order_without_overlap,
        neighbours_are_those_of_the_list,
        neighbours_stay_inside_and_satisfy_the_filters,
        keeps_one_vote_of_a_user,
        counts_final_votes_of_proposals,
        counts_votes,
        shows_votes_on_what_is_visible,
        filters_votes,
        tells_how_a_user_stands,
        lists_the_votes_on_a_proposal,
        lists_hidden_proposals,
    );
}

mod blogs {
    civitas_tests::records_on_both_engines!(civitas_blogs::conformance: posts);
    civitas_tests::on_both_engines!(civitas_blogs::conformance:
        isolates_organizations,
        shows_what_is_visible,
        lists_in_order_with_neighbours,
        stays_inside,
        knows_blogs_and_administrators,
        searches_for_administrators,
    );
}

mod attachments {
    civitas_tests::records_on_both_engines!(civitas_attachments::conformance:
        attachments, collections, files, uploads
    );
    civitas_tests::on_both_engines!(in a transaction civitas_attachments::conformance:
        marks_files_that_nothing_refers_to,
        finds_files_to_delete,
        adopts_pending_files,
        serves_attached_files,
        lists_and_filters,
        isolates_organizations,
        finds_attachments_for_administrators,
        names_the_records_of_attachments,
        lists_collections_of_a_record,
    );
}

mod surveys {
    civitas_tests::records_on_both_engines!(civitas_surveys::conformance:
        surveys, questionnaires, questions, options, conditions, responses
    );
    civitas_tests::on_both_engines!(in a transaction civitas_surveys::conformance:
        lists_what_is_visible,
        keeps_the_rows_of_a_question,
        lists_questions_and_options_in_order,
        stores_one_response_of_a_respondent,
        finds_responses_by_their_answers,
        removes_answers_with_their_question,
        keeps_conditions_consistent,
        knows_respondents,
        lists_all_for_administrators,
        pages_responses,
        counts_and_removes_parts,
        finds_components_for_surveys,
    );
}

mod extended_data {
    civitas_tests::on_both_engines!(in a transaction civitas_extended_data::conformance:
        keeps_the_data_of_each_record,
        isolates_organizations,
        hides_what_is_not_visible,
        finds_the_data_of_any_record,
    );
}
