#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::document_reprints_the_same::holds(data));
