//! Choices that a seed determines.

/// A sequence of choices (SplitMix64).
#[derive(Clone, Debug)]
pub struct Draw {
    state: u64,
}

impl Draw {
    /// Creates the sequence of a seed.
    pub fn new(seed: u64) -> Draw {
        Draw { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) }
    }

    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, or 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end.max(1) as u64) as usize
    }

    /// Returns `true` in `percent` of 100 cases.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns one of the items.
    ///
    /// # Panics
    /// `items` is empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Returns one of the strings.
    ///
    /// # Panics
    /// `texts` is empty.
    pub fn text(&mut self, texts: &[&'static str]) -> &'static str {
        texts[self.below(texts.len())]
    }
}
