#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::upgrade_plans_end_at_the_new_definition(data));
