#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::crd_normal_form_stays_structural::holds(data));
