#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::language_edits_equal_opening(data));
