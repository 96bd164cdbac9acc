#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::input_compressed_bytes_keep_the_limit(data));
