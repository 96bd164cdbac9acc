#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::pattern_checks_are_total_and_compose::holds(data));
