#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::crd_to_every_shape_is_json_and_merges(data));
