#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::lifecycle_annotated_documents_read_back::holds(data));
