#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::auth_leaves_health_only::holds(data));
