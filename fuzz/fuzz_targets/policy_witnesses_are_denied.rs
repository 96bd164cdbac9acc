#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::policy_witnesses_are_denied(data));
