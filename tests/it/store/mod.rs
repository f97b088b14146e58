//! The store's contract, as one suite that runs over every backend.
//!
//! A case is a function that takes a fresh store; a case that is found wanting
//! in one backend is added here, so that it holds for all. What only a database
//! on disk can show is in `sqlite`.

mod backends;
mod forks;
mod items;
mod many;
mod overlays;
mod pins;
mod plans;
mod player;
mod reading;
mod revisions;
mod rows;
mod sequences;
mod sessions;
mod shapes;
mod sqlite;
mod support;
mod views;

macro_rules! run_on {
    ($backend:ident, $($area:ident :: $case:ident),+ $(,)?) => {
        mod $backend {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    let backend = super::backends::$backend().await;
                    super::$area::$case(backend.store.clone()).await;
                    backend.store.close().await;
                }
            )+
        }
    };
}

macro_rules! store_suite {
    ($($case:tt)+) => {
        run_on!(memory, $($case)+);
        run_on!(sqlite_on_disk, $($case)+);
        run_on!(sqlite_that_forgets, $($case)+);
    };
}

store_suite!(
    sessions::a_new_session_has_its_main_view_at_revision_1,
    sessions::an_id_is_taken_once,
    sessions::a_parent_must_be_there,
    sessions::s2_ids_that_differ_only_in_case_are_two_sessions,
    sessions::a_session_of_another_namespace_answers_as_an_absent_one,
    sessions::sessions_are_listed_newest_first_in_pages,
    sessions::names_change_as_far_as_they_are_given,
    sessions::j5_a_repeated_creation_creates_once,
    sessions::a_deleted_session_is_gone_and_its_id_is_free,
    sessions::a_closed_store_refuses,
    rows::i10_seqs_start_at_1_and_have_no_gaps,
    rows::i1_a_row_comes_back_as_it_was_written,
    rows::i1_nothing_changes_a_row,
    rows::l5_bytes_come_back_as_they_are,
    rows::an_append_that_expects_another_seq_writes_nothing,
    rows::j3_only_appends_move_the_next_seq,
    rows::j5_a_repeated_append_writes_once,
    rows::j5_a_known_request_wins_over_every_other_check,
    rows::j5_a_request_id_is_of_one_session,
    rows::request_ids_are_remembered_for_24_hours,
    rows::k1_order_is_the_number_only,
    rows::a9_pairing_goes_on_over_appends,
    rows::an_append_without_rows_changes_nothing,
    reading::rows_are_read_in_pages_from_both_ends,
    reading::a_page_stops_at_its_bytes,
    reading::an_absent_session_has_no_rows_to_read,
    many::two_writers_race_for_one_seq,
    many::q1_many_appenders_and_a_reader,
    many::r3_a_caller_that_goes_away_changes_nothing,
    overlays::h5_an_overlay_comes_back_as_it_was,
    overlays::each_overlay_is_a_revision_of_its_own,
    overlays::a_plan_holds_until_the_view_changes,
    overlays::i2_a_range_that_crosses_another_is_refused,
    overlays::views_have_overlays_of_their_own,
    overlays::a_wider_snip_supersedes,
    overlays::a_rollback_ends_one_overlay,
    overlays::a_rollback_tells_what_still_hides,
    overlays::a_rollback_takes_the_clears_inside_where_asked,
    overlays::h3_rolled_back_overlays_stay_on_record,
    overlays::j5_a_repeated_commit_commits_once,
    overlays::what_is_not_there_is_named,
    overlays::an_overlay_id_is_given_once,
    views::a_view_is_added_and_replaced,
    views::setting_what_is_there_changes_nothing,
    views::a_view_takes_its_first_model_once,
    views::views_are_listed_by_name_after_main,
    views::a_deleted_view_takes_nothing_of_main_with_it,
    views::nothing_of_a_deleted_view_is_in_force,
    views::a_new_view_of_a_deleted_name_starts_without_any,
    views::main_is_never_deleted,
    pins::a_pin_holds_until_it_is_taken_away,
    pins::pins_are_of_a_view,
    pins::a_pin_outdates_what_was_planned_on_the_view,
    pins::j5_a_repeated_pin_pins_once,
    pins::a_pin_id_is_given_once,
    pins::a_rollback_pins_what_it_shows_again,
    plans::a_plan_comes_back_as_it_was_made,
    plans::a_range_is_leased_once,
    plans::plans_of_one_call_share_nothing,
    plans::a_plan_is_made_on_what_is_there,
    plans::j5_a_repeated_preparation_prepares_once,
    plans::a_commit_ends_its_plans,
    plans::j1_what_happens_elsewhere_does_not_outdate_a_plan,
    plans::i11_what_happens_in_its_range_outdates_a_plan,
    plans::i2_a_planned_range_may_not_cross_either,
    plans::i11_an_overlay_is_what_was_planned,
    plans::a_plan_expires_unless_it_is_renewed,
    plans::a_plan_that_was_given_back_has_ended,
    plans::plans_are_remembered_for_24_hours,
    revisions::each_revision_tells_what_it_changed,
    revisions::names_are_told_as_they_were_set,
    revisions::revisions_come_in_pages,
    revisions::i8_an_earlier_state_is_what_was_there_then,
    revisions::a_deleted_view_is_there_at_its_revisions,
    revisions::a_revision_that_is_not_there_is_told,
    items::an_item_is_set_replaced_and_removed,
    items::items_at_a_revision_are_those_of_then,
    items::an_item_is_named_within_its_view,
    items::calibrations_are_of_a_namespace,
    forks::i1_a_fork_has_the_rows_up_to_its_point,
    forks::i8_a_fork_starts_in_the_state_before_the_next_row,
    forks::i8_the_past_of_a_fork_is_that_of_its_origin,
    forks::what_a_deleted_view_held_stays_of_that_view,
    forks::a_fork_within_an_append_starts_with_all_that_it_shares,
    forks::a_fork_is_named_by_its_request_and_its_origin,
    forks::neither_session_shows_what_the_other_does,
    forks::a_fork_reads_in_pages_over_its_border,
    forks::a_round_that_had_not_settled_is_in_flight_again,
    forks::a_round_may_be_in_flight_for_long,
    forks::what_cannot_be_forked_is_told,
    forks::an_empty_session_can_be_forked,
    forks::j5_a_repeated_fork_forks_once,
    forks::a_session_is_kept_while_forks_share_its_rows,
    forks::forks_are_listed_by_their_origin,
);

// The cases whose times, tokens and names a client can choose.
run_on!(
    sqlite_through_grpc,
    rows::l5_bytes_come_back_as_they_are,
    rows::an_append_that_expects_another_seq_writes_nothing,
    rows::j5_a_repeated_append_writes_once,
    rows::j5_a_known_request_wins_over_every_other_check,
    rows::j5_a_request_id_is_of_one_session,
    reading::rows_are_read_in_pages_from_both_ends,
    reading::an_absent_session_has_no_rows_to_read,
    many::two_writers_race_for_one_seq,
    many::q1_many_appenders_and_a_reader,
    many::r3_a_caller_that_goes_away_changes_nothing,
    items::items_at_a_revision_are_those_of_then,
);
