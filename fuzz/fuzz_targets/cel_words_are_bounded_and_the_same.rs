#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::cel_words_are_bounded_and_the_same(data));
