//! Printed strings, each stored once.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Printed strings and their numbers. Equal strings have the same number.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    all: Vec<Box<[u8]>>,
    /// Numbers by the hash of the string. It is never iterated over.
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Texts {
    /// Returns the number of a string, which is stored if it is new.
    pub(crate) fn number(&mut self, text: &[u8]) -> u32 {
        let Texts { all, numbers, hasher } = self;
        let hash = hasher.hash_one(text);
        if let Some(number) = numbers.find(hash, |number| *all[*number as usize] == *text) {
            return *number;
        }
        let number = all.len() as u32;
        all.push(text.into());
        numbers.insert_unique(hash, number, |number| hasher.hash_one(&*all[*number as usize]));
        number
    }

    /// Returns the string with that number.
    pub(crate) fn get(&self, number: u32) -> &[u8] {
        self.all.get(number as usize).map_or(&[], |text| text)
    }
}
