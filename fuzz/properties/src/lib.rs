//! The properties that the fuzz targets check. Each is a function of bytes that panics if the bytes violate the
//! property.
//!
//! A fuzz target calls one of them. The tests of this package call all of them, with their seeds and with changed
//! seeds.

mod documents;
mod resources;
mod samples;

// Modules of the command that are compiled here use this path.
use output_names_are_injective_and_stay_inside::args;

use arbitrary::{Arbitrary, Unstructured};

/// A property.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    /// Its name, which is that of the fuzz target.
    pub name: &'static str,
    /// Panics if these bytes violate the property.
    pub holds: fn(&[u8]),
}

macro_rules! properties {
    ($($name:ident)*) => {
        $(pub mod $name;)*

        /// The functions that fuzz targets call, by their names.
        pub mod targets {
            $(pub use super::$name::holds as $name;)*
        }

        /// All properties.
        pub const ALL: &[Property] = &[$(Property { name: stringify!($name), holds: $name::holds }),*];
    };
}

properties! {
    accept_negotiation
    auth_leaves_health_only
    cache_records_and_mappers_are_total
    cel_checked_expressions_keep_their_types
    cel_parse_check_evaluate_within_limits
    cel_words_are_bounded_and_the_same
    conversions_identity_has_no_fault
    crd_accepted_converts_to_every_shape
    crd_fixes_change_no_verdict
    crd_normal_form_stays_structural
    crd_notes_have_places
    crd_same_answers_are_the_same
    crd_to_every_shape_is_json_and_merges
    crd_trimmed_is_the_same_but_for_texts
    crd_verdicts_are_total
    definition_requests_settle
    diff_tells_of_what_is_refused
    discovery_bodies
    document_inlining_ends_within_its_budget
    document_later_and_back_is_the_same
    document_losses_kept_restore_it
    document_of_later_openapi_becomes_openapi_3_0
    document_protobuf_comes_back
    document_reprints_the_same
    document_split_and_aggregated_is_the_same
    document_to_every_shape
    downstream_bodies
    field_set_json
    input_compressed_bytes_keep_the_limit
    input_contents_agree_and_never_panic
    input_derived_definitions_are_in_bounds
    input_skimmed_kinds_are_all_that_reading_finds
    jsonpath_ends_within_its_bounds
    language_edits_equal_opening
    lifecycle_annotated_documents_read_back
    lifecycle_warnings_lead_to_their_fields
    managed_fields
    map_order_changes_no_answer
    object_requests_keep_the_store_whole
    object_stored_again_is_the_same
    output_names_are_injective_and_stay_inside
    ownership_patches_lead_to_their_owners
    path_element
    path_routing
    pattern_checks_are_total_and_compose
    policies_end_and_without_matches_change_nothing
    policy_witnesses_are_denied
    protobuf_objects_are_json_within_bounds
    published_schema_prints_the_same_after_reading
    pulls_ask_below_the_server_and_keep_their_limits
    range_and_conditions
    redirects_stay_within_the_server
    representations_of_any_object
    request_memory_is_bounded
    schemas_become_definitions_that_install
    smd_yaml_reads_back_equal
    store_changes
    strategic_patches_end_and_lead_to_what_they_compare
    suites_run_and_are_updated
    terminal_texts_hold_nothing_hostile
    typed_operations
    upgrade_plans_end_at_the_new_definition
    yaml_fast_equals_full
    yaml_print_reads_back
    yaml_read_never_panics_and_keeps_limits
    yaml_third_reading_settles
}

/// The allocator of programs that measure memory. It counts allocations.
pub use peak_alloc::PeakAlloc as Meter;

/// Builds the input of a property from the fuzzer's bytes, or returns `None` if there are too few.
fn input<'a, T: Arbitrary<'a>>(data: &'a [u8]) -> Option<T> {
    T::arbitrary_take_rest(Unstructured::new(data)).ok()
}
