#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::jsonpath_ends_within_its_bounds::holds(data));
