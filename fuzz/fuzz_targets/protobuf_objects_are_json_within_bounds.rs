#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::protobuf_objects_are_json_within_bounds(data));
