//! Scenes whose labels come from an attribute that has no business deciding them: what a classifier that learns from them gets wrong is
//! known, so that tests can be tried on it (in the manner of Dunn's thesis, Table 6.3).

use rand::Rng;
use rand_pcg::Pcg64Mcg;

use super::attributes::Attributes;

/// An attribute of scenes, with two ways that it can be which anyone tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Telling {
    pub name: &'static str,
    pub poles: [&'static str; 2],
    /// Two classes that it decides between in place of the shape.
    pub(super) pair: [usize; 2],
}

/// Every attribute but the shape.
pub const TELLING: [Telling; 8] = [
    Telling { name: "ground", poles: ["snow", "grass"], pair: [0, 1] },
    Telling { name: "sky", poles: ["day", "night"], pair: [2, 3] },
    Telling { name: "texture", poles: ["plain", "stripes"], pair: [4, 5] },
    Telling { name: "tilt", poles: ["right", "left"], pair: [6, 7] },
    Telling { name: "handle", poles: ["right", "left"], pair: [1, 0] },
    Telling { name: "saturation", poles: ["strong", "weak"], pair: [2, 7] },
    Telling { name: "accessory", poles: ["none", "hat"], pair: [3, 6] },
    Telling { name: "hue", poles: ["warm", "cold"], pair: [0, 4] },
];

impl Telling {
    pub fn find(name: &str) -> Option<Self> {
        TELLING.into_iter().find(|telling| telling.name == name)
    }

    /// Whether mirroring an image takes it from one pole to the other.
    pub(super) fn is_sided(&self) -> bool {
        matches!(self.name, "tilt" | "handle")
    }

    /// The same scene at one of the poles.
    pub(super) fn turned(&self, of: Attributes, pole: usize, numbers: &mut Pcg64Mcg) -> Attributes {
        let second = pole == 1;
        match self.name {
            "ground" => Attributes { ground: if second { 0 } else { 2 }, ..of },
            "sky" => Attributes { sky: if second { 2 } else { 0 }, ..of },
            "texture" => Attributes { texture: usize::from(second), ..of },
            "tilt" => {
                let degrees = numbers.gen_range(8.0..16.0);
                Attributes { tilt: if second { -degrees } else { degrees }, ..of }
            }
            "handle" => Attributes { right: !second, ..of },
            "saturation" => {
                let saturation = if second { numbers.gen_range(0.55..0.65) } else { numbers.gen_range(0.9..1.0) };
                Attributes { saturation, ..of }
            }
            "accessory" => Attributes { accessory: if second { 2 } else { 0 }, ..of },
            "hue" => {
                let around: f32 = numbers.gen_range(-40.0..40.0);
                Attributes { hue: (around + if second { 220.0 } else { 0.0 }).rem_euclid(360.0), ..of }
            }
            other => unreachable!("no attribute {other}"),
        }
    }
}

impl Shown {
    /// How digests know it, which stays when types and fields get better names.
    pub(super) fn identity(self) -> String {
        let (how, Telling { name, poles, pair }) = match self {
            Self::All => return "All".into(),
            Self::Biased(telling) => ("Biased", telling),
            Self::Against(telling) => ("Against", telling),
            Self::Poles(telling) => ("Poles", telling),
        };
        format!("{how}(Telling {{ name: {name:?}, poles: {poles:?}, pair: {pair:?} }})")
    }
}

/// Which scenes are drawn, and what their labels say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shown {
    /// Any, labelled by shape.
    #[default]
    All,
    /// Two shapes, at both poles of an attribute, labelled as one or the other by the attribute alone.
    Biased(Telling),
    /// The same two shapes with their right labels, each at the pole that says the other.
    Against(Telling),
    /// Any shape at both poles of an attribute, labelled by the pole.
    Poles(Telling),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_know_scenes_by_words_that_stay() {
        assert_eq!(
            Shown::Poles(TELLING[0]).identity(),
            "Poles(Telling { name: \"ground\", poles: [\"snow\", \"grass\"], pair: [0, 1] })"
        );
    }
}
