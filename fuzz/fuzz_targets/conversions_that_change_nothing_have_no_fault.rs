#![no_main]
libfuzzer_sys::fuzz_target!(
    |data: &[u8]| kubeshape_properties::targets::conversions_that_change_nothing_have_no_fault(data)
);
