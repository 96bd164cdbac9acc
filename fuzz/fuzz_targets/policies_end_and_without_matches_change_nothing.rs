#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::policies_end_and_without_matches_change_nothing(data));
