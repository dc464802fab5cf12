//! Conformance tests of the ports of organizations, accounts, jobs and webhooks, and those of transactions, on both
//! engines.

mod organizations {
    civitas_tests::on_both_engines!(in a transaction civitas_organizations::conformance:
        keeps_every_member,
        finds_organizations_by_their_hosts,
        keeps_hosts_unique_across_kinds,
        lets_hosts_change_their_kind_and_go,
        lets_others_take_hosts_that_were_released,
        a_secondary_host_can_wait_as_well,
        keeps_names_unique,
        lists_organizations,
        searches_organizations,
        pages_of_ids_do_not_overlap,
        lists_the_hosts_that_are_served,
    );
}

mod accounts {
    civitas_tests::records_on_both_engines!(civitas_accounts::conformance: users, roles);
    civitas_tests::on_both_engines!(in a transaction civitas_accounts::conformance:
        isolates_organizations,
        finds_roles_by_their_names,
        nicknames_are_unique_in_any_case,
        a_deleted_user_leaves_name_and_tokens,
        pages_do_not_overlap,
        keeps_every_member_of_clients,
        a_removed_client_takes_its_tokens_along,
        identifies_a_bearer,
        knows_the_first_eligible_administrator,
        revokes_all_tokens_of_a_user,
        keeps_roles,
        removes_roles,
        lists_roles_in_order,
        filters_roles,
        lists_living_accounts,
        searches_accounts,
        lists_clients,
        counts_what_clients_have,
    );
}

mod logins {
    civitas_tests::on_both_engines!(in a transaction civitas_accounts::conformance:
        the_twentieth_failed_login_in_a_row_locks,
        a_success_resets_failed_logins,
        lists_and_lifts_login_locks,
        removes_failed_logins_that_nobody_needs,
        counts_mails_of_an_hour,
    );
}

mod administrators {
    civitas_tests::on_both_engines!(in a transaction civitas_accounts::conformance:
        keeps_administrators,
        lists_administrators,
        keeps_the_last_administrator,
        finds_sessions_until_their_end,
        gives_a_notice_once,
        a_used_form_is_known_by_its_session,
        removes_sessions,
        removes_ended_sessions,
    );
}

mod jobs {
    civitas_tests::on_both_engines!(civitas_jobs::conformance:
        keeps_every_member,
        isolates_organizations,
        keeps_owners_apart,
        pages_do_not_overlap,
        filters_by_key_and_status,
        claims_the_oldest_due_jobs,
        takes_over_what_a_dead_process_left,
        records_the_end_of_a_job_once,
        tells_a_worker_that_its_job_is_gone,
        brings_lost_jobs_back_until_the_third_loss,
        renews_the_leases_of_one_worker,
        takes_back_what_a_worker_releases,
        takes_back_all_jobs_of_a_worker_that_stops,
        a_flood_of_one_organization_delays_others_by_a_few_jobs,
        alternates_between_organizations,
        keeps_the_order_within_an_organization,
        retries_in_turn,
        wakes_who_waits,
        pages_of_the_log_do_not_overlap,
        filters_the_log,
        shows_a_job_to_administrators,
        removes_jobs_that_ended,
        removes_the_jobs_of_a_user,
    );
}

mod webhooks {
    civitas_tests::on_both_engines!(in a transaction civitas_webhooks::conformance:
        pages_do_not_overlap,
        isolates_organizations,
        gives_positions_in_order_each_once,
        reads_relayed_events_by_name,
        keeps_events_with_deliveries,
        removes_the_events_of_an_account,
        keeps_every_member,
        keeps_clients_apart,
        keeps_one_registration_of_an_address,
        updates_address_and_events,
        lists_registrations_in_order,
        finds_receivers,
        removes_a_registration_with_its_deliveries,
        claims_a_registration_for_one_worker,
        claims_some_of_each_client,
        claims_those_served_the_longest_ago_first,
        leaves_out_paused_and_disabled_registrations,
        shows_the_target_to_its_worker,
        reads_due_deliveries_in_order,
        queues_for_existing_registrations_only,
        renews_the_leases_of_one_worker,
        ends_all_leases,
        makes_a_released_registration_due_with_its_next_delivery,
        records_every_verdict,
        a_lost_lease_records_and_releases_nothing,
        skips_deliveries_that_are_gone,
        records_texts_that_are_hard_to_store,
        lists_deliveries_by_registration_status_and_organization,
        replays_each_ended_delivery_once,
        reports_figures,
        filters_the_log_and_turns_its_pages,
        searches_registrations,
        expires_what_waits_too_long,
        removes_ended_deliveries,
    );

    mod on_the_pool {
        civitas_tests::on_both_engines!(civitas_webhooks::conformance:
            refuses_an_update_to_a_taken_address,
            claims_a_registration_for_one_worker,
            replays_each_ended_delivery_once,
            wakes_who_waits,
        );
    }
}

mod audit {
    civitas_tests::on_both_engines!(in a transaction civitas_audit::conformance:
        keeps_every_member,
        erases_the_details_of_a_user,
        isolates_organizations,
        pages_do_not_overlap,
        filters,
        appends_once_since_a_time,
        removes_the_oldest_entries,
    );
}

mod links {
    civitas_tests::on_both_engines!(in a transaction civitas_accounts::conformance:
        knows_the_home_of_an_account,
        keeps_confirmations,
        keeps_one_magic_link_of_a_user,
        keeps_sessions_until_their_end,
        removes_ended_credentials,
        removes_the_links_of_a_user,
    );
}

mod tasks {
    civitas_tests::on_both_engines!(civitas_tasks::conformance:
        keeps_every_member,
        claims_what_is_due,
        takes_over_what_a_dead_process_left,
        leaves_kinds_a_worker_does_not_know,
        brings_lost_tasks_back,
        brings_retried_tasks_forward,
        logs_what_waits,
        postpones,
        keeps_one_task_about_a_subject,
        withdraws,
        wakes_who_waits,
    );
}
