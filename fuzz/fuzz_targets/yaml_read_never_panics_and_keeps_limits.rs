#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::yaml_read_never_panics_and_keeps_limits(data));
