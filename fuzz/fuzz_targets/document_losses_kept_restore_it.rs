#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::document_losses_kept_restore_it::holds(data));
