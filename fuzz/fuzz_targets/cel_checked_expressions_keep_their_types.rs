#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::cel_checked_expressions_keep_their_types::holds(data));
