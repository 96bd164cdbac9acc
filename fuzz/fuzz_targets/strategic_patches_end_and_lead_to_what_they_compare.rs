#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::strategic_patches_end_and_lead_to_what_they_compare(data));
