//! What flows between layers.

use crate::core::{Error, Result};
use crate::model::shift::Window;

/// What flows between layers; sizes are unknown where a network is loaded without saying its input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    Image {
        channels: Option<i64>,
        height: Option<i64>,
        width: Option<i64>,
    },
    /// What a transformer works on: so many vectors of so many numbers.
    Tokens {
        count: Option<i64>,
        width: Option<i64>,
    },
    Flat(Option<i64>),
}

/// Images that layers enlarge are at most so wide and high.
const WIDEST: i64 = 1 << 14;

impl Shape {
    pub fn image([c, h, w]: [i64; 3]) -> Self {
        Self::Image { channels: Some(c), height: Some(h), width: Some(w) }
    }

    pub const UNKNOWN: Self = Self::Image { channels: None, height: None, width: None };

    pub fn describe(self) -> String {
        let show = |n: Option<i64>| n.map_or("?".into(), |n| n.to_string());
        match self {
            Self::Image { channels, height, width } => {
                format!("{} x {} x {}", show(channels), show(height), show(width))
            }
            Self::Tokens { count, width } => format!("{} tokens of {}", show(count), show(width)),
            Self::Flat(n) => show(n),
        }
    }

    /// Channels of a pixel, numbers of a token, or all of them.
    pub fn features(self) -> Option<i64> {
        match self {
            Self::Image { channels, .. } => channels,
            Self::Tokens { width, .. } => width,
            Self::Flat(n) => n,
        }
    }

    /// The same with other features.
    pub fn with_features(self, n: Option<i64>) -> Self {
        match self {
            Self::Image { height, width, .. } => Self::Image { channels: n, height, width },
            Self::Tokens { count, .. } => Self::Tokens { count, width: n },
            Self::Flat(_) => Self::Flat(n),
        }
    }

    /// Height and width, for the layer `at` that does `what` to images.
    pub fn sides(self, what: &str, at: &str) -> Result<[Option<i64>; 2]> {
        match self {
            Self::Image { height, width, .. } => Ok([height, width]),
            Self::Flat(_) => Err(Error::model(format!("layer {at}: {what} wants images, but its input is flat"))
                .hint("put it before net::flatten()")),
            Self::Tokens { .. } => {
                Err(Error::model(format!("layer {at}: {what} wants images, but its input is {}", self.describe()))
                    .hint("put it before net::patches(...)"))
            }
        }
    }

    /// The images with other sides.
    pub fn with_sides(self, [height, width]: [Option<i64>; 2]) -> Self {
        Self::Image { channels: self.features(), height, width }
    }

    /// What a window leaves that slides over images.
    pub fn slid(self, window: &Window, what: &str, at: &str) -> Result<Self> {
        let slide = |n: Option<i64>| match n {
            None => Ok(None),
            Some(n) => window.count(n).map(Some).ok_or_else(|| {
                let size = window.reach();
                Error::model(format!("layer {at}: {what} of size {size} does not fit its input {}", self.describe()))
                    .hint("make it smaller, or pad")
            }),
        };
        let [height, width] = self.sides(what, at)?;
        Ok(self.with_sides([slide(height)?, slide(width)?]))
    }

    /// Number and width of tokens, for the layer `at` that does `what` to them.
    pub fn tokens(self, what: &str, at: &str) -> Result<[Option<i64>; 2]> {
        match self {
            Self::Tokens { count, width } => Ok([count, width]),
            _ => Err(Error::model(format!("layer {at}: {what} wants tokens, got {}", self.describe()))
                .hint("net::patches(...) makes tokens of images")),
        }
    }

    /// Whether two shapes can be the same, as far as they are known.
    pub fn agrees(self, other: Self) -> bool {
        let same = |a: Option<i64>, b: Option<i64>| a.is_none() || b.is_none() || a == b;
        let places = match (self, other) {
            (Self::Image { height: a, width: b, .. }, Self::Image { height: c, width: d, .. }) => {
                same(a, c) && same(b, d)
            }
            (Self::Tokens { count: a, .. }, Self::Tokens { count: b, .. }) => same(a, b),
            (Self::Flat(_), Self::Flat(_)) => true,
            _ => false,
        };
        places && same(self.features(), other.features())
    }
}

/// `n` pixels, if so many are not too wide.
pub fn enlarged(n: i64, at: &str) -> Result<i64> {
    match n > WIDEST {
        true => {
            Err(Error::model(format!("layer {at}: images {n} pixels wide are more than memory holds"))
                .hint("enlarge less"))
        }
        false => Ok(n),
    }
}
