#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::document_split_and_aggregated_is_the_same::holds(data));
