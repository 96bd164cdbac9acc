#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::document_of_later_openapi_becomes_openapi_3_0(data));
