#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::pulls_ask_below_the_server_and_keep_their_limits(data));
