#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::cel_parse_check_evaluate_within_limits::holds(data));
