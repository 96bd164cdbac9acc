//! Reads a folder of CustomResourceDefinitions, applies a configuration to a live object, and prints the object, or the
//! errors with their locations.
//!
//! `cargo run -p kubeshape --example apply -- FOLDER LIVE CONFIG MANAGER`
#![allow(clippy::print_stdout)]

use kubeshape::{Api, Error, Location, Object, WriteOptions};
use std::error::Error as StdError;
use std::fs;
use std::process::ExitCode;
use std::time::SystemTime;

fn main() -> Result<ExitCode, Box<dyn StdError>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, live, config, manager] = arguments.as_slice() else {
        return Err("usage: apply FOLDER LIVE CONFIG MANAGER".into());
    };
    let mut api = Api::default();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        for finding in api.set(path.to_string_lossy(), fs::read(&path)?) {
            println!("{finding}");
        }
    }
    let live = Object::read(live.as_str(), fs::read(live)?)?;
    let config = Object::read(config.as_str(), fs::read(config)?)?;
    match api.apply(Some(&live), &config, &WriteOptions::new(manager, SystemTime::now())) {
        Ok(object) => {
            print!("{}", object.to_yaml());
            return Ok(ExitCode::SUCCESS);
        }
        Err(Error::Conflicts(conflicts)) => {
            for conflict in &conflicts.conflicts {
                println!("{}: {conflict}", place(conflict.location.as_ref()));
                println!("{}: the live value is here", place(conflict.live_location.as_ref()));
            }
        }
        Err(Error::Invalid(invalid)) => {
            for error in &invalid.errors {
                println!("{}: {error}", place(error.location.as_ref()));
            }
        }
        Err(error) => println!("{error}"),
    }
    Ok(ExitCode::FAILURE)
}

/// `FILE:LINE:COLUMN`
fn place(location: Option<&Location>) -> String {
    location.map_or_else(|| "nowhere".to_owned(), ToString::to_string)
}
