#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::cel_parse_check_evaluate_within_limits(data));
