#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::smd_yaml_reads_back_equal::holds(data));
