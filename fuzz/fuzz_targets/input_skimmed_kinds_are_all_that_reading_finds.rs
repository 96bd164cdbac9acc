#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::input_skimmed_kinds_are_all_that_reading_finds(data));
