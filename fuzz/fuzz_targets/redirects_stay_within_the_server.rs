#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::redirects_stay_within_the_server::holds(data));
