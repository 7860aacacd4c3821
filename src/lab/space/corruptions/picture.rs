//! What is corrupted: pictures in 8 bits, as the reference has them.

/// Red, green and blue of each pixel, row by row.
#[derive(Clone)]
pub(super) struct Picture {
    pub height: usize,
    pub width: usize,
    pub bytes: Vec<u8>,
}

impl Picture {
    /// Every value by itself, from [0, 1] to what is cut off to [0, 1].
    pub fn each(&self, mut change: impl FnMut(f64) -> f64) -> Self {
        self.with(self.bytes.iter().map(|&byte| cut(change(unit(byte)))).collect())
    }

    /// Every pixel by itself.
    pub fn each_pixel(&self, mut change: impl FnMut([f64; 3]) -> [f64; 3]) -> Self {
        self.with(self.bytes.as_chunks::<3>().0.iter().flat_map(|pixel| change(pixel.map(unit)).map(cut)).collect())
    }

    /// A picture of the same size.
    pub fn with(&self, bytes: Vec<u8>) -> Self {
        Self { bytes, ..*self }
    }
}

/// A byte as a number from 0 to 1.
pub(super) fn unit(byte: u8) -> f64 {
    f64::from(byte) / 255.0
}

/// The byte of a number that is cut off to [0, 1]: not the nearest one but the one below, as numpy's uint8 does it.
pub(super) fn cut(x: f64) -> u8 {
    (x.clamp(0.0, 1.0) * 255.0) as u8
}
