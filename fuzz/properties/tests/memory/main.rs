//! The memory of one request is at most a multiple of what it reads. All memory of the program is counted, so nothing
//! else runs in it.

use kubeshape_properties::targets;
use std::fs;
use std::path::{Path, PathBuf};

#[global_allocator]
static METER: kubeshape_properties::Meter = kubeshape_properties::Meter;

#[test]
fn requests_take_a_bounded_multiple_of_what_they_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds/request_memory_is_bounded");
    let seeds = fs::read_dir(folder).expect("seeds").map(|seed| seed.expect("a seed").path());
    let mut seeds: Vec<PathBuf> = seeds.collect();
    seeds.sort();
    for seed in seeds {
        targets::request_memory_is_bounded(&fs::read(&seed).expect("a seed"));
    }
}
