#![no_main]
#[global_allocator]
static METER: kubeshape_properties::Meter = kubeshape_properties::Meter;
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::request_memory_is_bounded(data));
