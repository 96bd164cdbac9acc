#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::object_stored_again_is_the_same::holds(data));
