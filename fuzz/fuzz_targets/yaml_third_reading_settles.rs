#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::yaml_third_reading_settles(data));
