#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::lifecycle_warnings_lead_to_their_fields(data));
