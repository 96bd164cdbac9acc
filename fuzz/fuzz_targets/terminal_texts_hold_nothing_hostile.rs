#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::terminal_texts_hold_nothing_hostile(data));
