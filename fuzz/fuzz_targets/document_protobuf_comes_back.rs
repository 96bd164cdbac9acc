#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::document_protobuf_comes_back::holds(data));
