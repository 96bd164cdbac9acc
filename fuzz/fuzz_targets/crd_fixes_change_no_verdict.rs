#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::crd_fixes_change_no_verdict::holds(data));
