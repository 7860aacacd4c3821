//! Named factors, each a range or a list of choices: how spaces without a group structure say where their points are.

use std::collections::{BTreeMap, BTreeSet};

use rand::Rng;

use crate::core::{Cx, Error, Result, Tensor, Value, on_device};
use crate::data::Dataset;

/// One number per factor: the factor's value, or the place of its choice in the list.
pub type Setting = Vec<f64>;

/// What one factor can be.
#[derive(Clone)]
pub enum Domain {
    /// Any number from `min` to `max`.
    Range { min: f64, max: f64 },
    /// Any number from `min`, above 0, to `max`, even in its logarithm.
    Log { min: f64, max: f64 },
    /// Any whole number from `min` to `max`.
    Whole { min: i32, max: i32 },
    /// Which of many independent draws, where the space has chance in it: the same number gives the same draw.
    Chance,
    /// One of these numbers, strings or bools.
    Choices(Vec<Value>),
}

/// A domain without what its choices are called: all that a search needs to know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Axis {
    Range {
        min: f64,
        max: f64,
    },
    Log {
        min: f64,
        max: f64,
    },
    Whole {
        min: i32,
        max: i32,
    },
    Chance,
    /// So many.
    Choices(usize),
}

impl Axis {
    /// A uniform draw.
    pub fn draw(self, rng: &mut impl Rng) -> f64 {
        match self {
            Self::Range { min, max } => rng.gen_range(min..=max),
            Self::Log { .. } => self.at_share(rng.gen_range(0.0..=1.0)),
            Self::Whole { min, max } => rng.gen_range(min..=max).into(),
            Self::Chance => rng.r#gen::<u32>().into(),
            Self::Choices(n) => rng.gen_range(0..n) as f64,
        }
    }

    /// Whether a search has anything to choose.
    pub fn varies(self) -> bool {
        match self {
            Self::Range { min, max } | Self::Log { min, max } => min < max,
            Self::Whole { min, max } => min < max,
            Self::Choices(n) => n > 1,
            Self::Chance => false,
        }
    }

    /// Where in its range a number is, from 0 to 1; half-way where the range is one number. Of choices and chance, 0.
    pub fn share(self, x: f64) -> f64 {
        let share = match self {
            Self::Range { min, max } => (x - min) / (max - min),
            // Of differences, as the quotient of the ends may be too large for a number.
            Self::Log { min, max } => (x.ln() - min.ln()) / (max.ln() - min.ln()),
            Self::Whole { min, max } => (x - f64::from(min)) / (f64::from(max) - f64::from(min)),
            Self::Chance | Self::Choices(_) => return 0.0,
        };
        if share.is_nan() { 0.5 } else { share.clamp(0.0, 1.0) }
    }

    /// The number at this share of its range; of whole numbers the nearest one. Of choices and chance, 0.
    pub fn at_share(self, share: f64) -> f64 {
        match self {
            Self::Range { min, max } => (min + share * (max - min)).clamp(min, max),
            Self::Log { min, max } => (min.ln() + share * (max.ln() - min.ln())).exp().clamp(min, max),
            Self::Whole { min, max } => (f64::from(min) + share * (f64::from(max) - f64::from(min))).round(),
            Self::Chance | Self::Choices(_) => 0.0,
        }
    }
}

/// What a share of whole numbers may fall short by.
const ROUNDING: f64 = 1e-9;

impl Domain {
    /// A share, from 0 to 1, of the way from a number that changes nothing to the ends; choices and chance stay free.
    pub fn scaled(&self, still: f64, share: f64) -> Self {
        let towards = |end: f64| if share == 1.0 { end } else { still + share * (end - still) };
        match *self {
            Self::Range { min, max } => Self::Range { min: towards(min), max: towards(max) },
            Self::Log { min, max } => {
                // Of differences, as the quotient of the ends may be too large for a number.
                let between = |end: f64| {
                    (still.ln() + share * (end.ln() - still.ln())).exp().clamp(still.min(end), still.max(end))
                };
                let towards = |end: f64| if share == 1.0 { end } else { between(end) };
                Self::Log { min: towards(min), max: towards(max) }
            }
            // The way's last whole number that is not beyond.
            Self::Whole { min, max } => Self::Whole {
                min: (towards(min.into()) - ROUNDING).ceil() as i32,
                max: (towards(max.into()) + ROUNDING).floor() as i32,
            },
            Self::Chance | Self::Choices(_) => self.clone(),
        }
    }

    /// How far a number is on the way from one that changes nothing to the end on its side, from 0 to 1; of choices and chance 0.
    pub fn share_from(&self, still: f64, x: f64) -> f64 {
        let (min, max, still, x) = match *self {
            Self::Range { min, max } => (min, max, still, x),
            Self::Log { min, max } => (min.ln(), max.ln(), still.ln(), x.ln()),
            Self::Whole { min, max } => (min.into(), max.into(), still, x),
            Self::Chance | Self::Choices(_) => return 0.0,
        };
        let end = if x < still { min } else { max };
        if x == still { 0.0 } else { (x - still) / (end - still) }
    }

    /// Whether it holds this number.
    pub fn holds(&self, x: f64) -> bool {
        match *self {
            Self::Range { min, max } | Self::Log { min, max } => (min..=max).contains(&x),
            Self::Whole { min, max } => (f64::from(min)..=f64::from(max)).contains(&x) && x.fract() == 0.0,
            Self::Chance | Self::Choices(_) => false,
        }
    }
}

/// A level of spaces whose levels are shares of their limits.
pub fn check_share(space: &str, level: f64) -> Result<()> {
    match (0.0..=1.0).contains(&level) {
        true => Ok(()),
        false => Err(Error::argument(format!(
            "{space}: level {} is no share of its limits, from 0 to 1",
            crate::core::number(level)
        ))),
    }
}

/// An end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Upper,
    Lower,
}

/// A named degree of freedom of a space.
#[derive(Clone)]
pub struct Factor {
    pub name: String,
    pub domain: Domain,
    /// The number that leaves images as they are, where that is known.
    pub still: Option<f64>,
    /// It counts where all of these hold; elsewhere its number is NaN.
    pub when: Vec<When>,
}

/// That an earlier factor of the same space has one of some choices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct When {
    /// Its place.
    pub factor: usize,
    /// Their places.
    pub choices: Vec<usize>,
}

/// What `t.questions(..)` gives beside factors.
const RESERVED: [&str; 3] = ["loss", "predicted", "wrong"];

impl Factor {
    /// One that always counts.
    pub fn new(name: impl Into<String>, domain: Domain) -> Self {
        Self { name: name.into(), domain, still: None, when: vec![] }
    }

    /// A uniform draw.
    pub fn draw(&self, rng: &mut impl Rng) -> f64 {
        self.axis().draw(rng)
    }

    pub fn axis(&self) -> Axis {
        match &self.domain {
            &Domain::Range { min, max } => Axis::Range { min, max },
            &Domain::Log { min, max } => Axis::Log { min, max },
            &Domain::Whole { min, max } => Axis::Whole { min, max },
            Domain::Chance => Axis::Chance,
            Domain::Choices(choices) => Axis::Choices(choices.len()),
        }
    }

    /// One of its ends, or the other where that one leaves images as they are; where it has none, a draw.
    pub fn end(&self, end: End, rng: &mut impl Rng) -> f64 {
        let (min, max) = match self.domain {
            Domain::Range { min, max } | Domain::Log { min, max } => (min, max),
            Domain::Whole { min, max } => (min.into(), max.into()),
            Domain::Chance | Domain::Choices(_) => return self.draw(rng),
        };
        let (wanted, other) = if end == End::Upper { (max, min) } else { (min, max) };
        if self.still == Some(wanted) { other } else { wanted }
    }

    /// A number of a setting as scripts see it; none where an image stays as it stands.
    pub fn value(&self, x: f64) -> Value {
        match &self.domain {
            _ if x.is_nan() => Value::Unit,
            Domain::Range { .. } | Domain::Log { .. } => Value::Float(x),
            Domain::Whole { .. } | Domain::Chance => Value::Int(x as i64),
            Domain::Choices(choices) => choices.get(x as usize).cloned().unwrap_or(Value::Unit),
        }
    }

    /// `#{ name: "angle", min: -30.0, max: 30.0 }`; `factors` are all of its space.
    pub fn describe(&self, factors: &[Self]) -> String {
        let domain = match &self.domain {
            Domain::Range { min, max } => format!("min: {min:?}, max: {max:?}"),
            Domain::Log { min, max } => format!("min: {min:?}, max: {max:?}, log: true"),
            Domain::Whole { min, max } => format!("min: {min}, max: {max}, whole: true"),
            Domain::Chance => "chance: true".into(),
            Domain::Choices(choices) => {
                format!("choices: [{}]", choices.iter().map(word).collect::<Vec<_>>().join(", "))
            }
        };
        let still = self.still.map_or(String::new(), |still| format!(", identity: {still:?}"));
        let condition = |when: &When| {
            let of = &factors[when.factor];
            let choices = when.choices.iter().map(|&choice| word(&of.value(choice as f64)));
            format!("{:?}: [{}]", of.name, choices.collect::<Vec<_>>().join(", "))
        };
        let when = match self.when.is_empty() {
            true => String::new(),
            false => format!(", when: #{{ {} }}", self.when.iter().map(condition).collect::<Vec<_>>().join(", ")),
        };
        format!("#{{ name: {:?}, {domain}{still}{when} }}", self.name)
    }

    fn check(&self) -> Result<()> {
        let name = &self.name;
        let problem = |text: String| Err(Error::argument(format!("factor {name:?}: {text}")));
        match &self.domain {
            _ if name.is_empty() => Err(Error::argument("a factor needs a name")),
            _ if RESERVED.contains(&name.as_str()) => {
                problem(format!("{} are what transcripts call their answers", RESERVED.join(", ")))
            }
            Domain::Range { min, max } if !(min < max && (max - min).is_finite()) => {
                problem(format!("`min` must be below `max` and both finite, got {min:?} and {max:?}"))
            }
            Domain::Log { min, max } if !(0.0 < *min && min < max && max.is_finite()) => problem(format!(
                "with `log`, `min` must be above 0 and below `max`, both finite, got {min:?} and {max:?}"
            )),
            Domain::Range { .. } | Domain::Log { .. } | Domain::Whole { .. } | Domain::Chance => Ok(()),
            Domain::Choices(choices) if choices.is_empty() => problem("`choices` is empty".into()),
            Domain::Choices(choices) => {
                for (i, choice) in choices.iter().enumerate() {
                    match choice {
                        Value::Float(x) if !x.is_finite() => return problem(format!("choice {i} is {x}")),
                        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) => {}
                        other => {
                            return problem(format!(
                                "choice {i} must be a number, a string or a bool, got {}",
                                other.kind()
                            ));
                        }
                    }
                    if choices[..i].iter().any(|earlier| word(earlier) == word(choice)) {
                        return problem(format!("choice {} is there twice", word(choice)));
                    }
                }
                Ok(())
            }
        }
    }
}

/// A choice as a script writes it.
fn word(choice: &Value) -> String {
    match choice {
        Value::Str(text) => format!("{text:?}"),
        Value::Float(x) => format!("{x:?}"),
        other => other.summary(),
    }
}

/// Refuses factors that nothing can be drawn from or whose names can't tell them apart.
pub fn check(factors: &[Factor]) -> Result<()> {
    if factors.is_empty() {
        return Err(Error::argument("a space needs at least one factor"));
    }
    // Of every factor, the choices of others under which it counts.
    let mut under: Vec<BTreeMap<usize, BTreeSet<usize>>> = vec![];
    for (i, factor) in factors.iter().enumerate() {
        factor.check()?;
        if factors[..i].iter().any(|earlier| earlier.name == factor.name) {
            return Err(Error::argument(format!("two factors are called {:?}", factor.name)));
        }
        for when in &factor.when {
            check_when(factor, when, &factors[..i])?;
        }
        under.push(counted_under(factor, factors, &under)?);
    }
    Ok(())
}

/// Refuses conditions on what is not an earlier list of choices, or that always or never hold.
fn check_when(factor: &Factor, when: &When, earlier: &[Factor]) -> Result<()> {
    let problem = |text: String| Err(Error::argument(format!("factor {:?}: `when` {text}", factor.name)));
    let Some(of) = earlier.get(when.factor) else {
        return problem("speaks of a factor that does not come before it".into());
    };
    let Domain::Choices(choices) = &of.domain else {
        return problem(format!("speaks of {:?}, which has no list of choices", of.name));
    };
    match when.choices.len() {
        0 => problem(format!("names no choice of {:?}, so that it never counts", of.name)),
        n if n == choices.len() => problem(format!("names all choices of {:?}: leave it out", of.name)),
        _ => Ok(()),
    }
}

/// The choices of others under which a factor counts, as do those that it speaks of; refuses what can't be together.
fn counted_under(
    factor: &Factor,
    factors: &[Factor],
    earlier: &[BTreeMap<usize, BTreeSet<usize>>],
) -> Result<BTreeMap<usize, BTreeSet<usize>>> {
    let mut under: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let own = factor.when.iter().map(|when| (when.factor, when.choices.iter().copied().collect()));
    let inherited = factor.when.iter().flat_map(|when| earlier[when.factor].clone());
    for (of, choices) in own.chain(inherited) {
        let left: BTreeSet<usize> = match under.get(&of) {
            Some(known) => known.intersection(&choices).copied().collect(),
            None => choices,
        };
        if left.is_empty() {
            return Err(Error::argument(format!(
                "factor {:?}: `when` never holds: no choice of {:?} suits all that it and the factors that it speaks of need",
                factor.name, factors[of].name
            )));
        }
        under.insert(of, left);
    }
    Ok(under)
}

/// When each factor counts; empty where all always do.
pub fn conditions(factors: &[Factor]) -> Vec<Vec<When>> {
    match factors.iter().any(|factor| !factor.when.is_empty()) {
        true => factors.iter().map(|factor| factor.when.clone()).collect(),
        false => vec![],
    }
}

/// Puts the numbers of factors that do not count at this setting to NaN, so that settings that are the same have the same numbers.
pub fn leave_out(conditions: &[Vec<When>], setting: &mut [f64]) {
    for (place, all) in conditions.iter().enumerate() {
        let holds = |when: &When| {
            let x = setting[when.factor];
            !x.is_nan() && when.choices.contains(&(x as usize))
        };
        if !all.iter().all(holds) {
            setting[place] = f64::NAN;
        }
    }
}

/// A uniform setting.
pub fn draw(factors: &[Factor], rng: &mut impl Rng) -> Setting {
    let mut setting: Setting = factors.iter().map(|factor| factor.draw(rng)).collect();
    leave_out(&conditions(factors), &mut setting);
    setting
}

/// A setting as a map from name to value.
pub fn value(factors: &[Factor], setting: &[f64]) -> Value {
    let entries = factors.iter().zip(setting).map(|(factor, &x)| (factor.name.clone(), factor.value(x)));
    Value::Map(entries.collect::<BTreeMap<_, _>>())
}

/// A space whose points are settings of factors and that promises no more than to draw them: what searches need that
/// learn from losses alone.
pub trait Factored {
    fn factors(&self) -> &[Factor];

    /// What the numbers of the factor in this place are in; empty where they have no unit.
    fn unit_of(&self, _factor: usize) -> &'static str {
        ""
    }

    /// The factors where changes are as strong as `level` allows, if the space has levels; refuses a level beyond its limit.
    fn at(&self, _level: f64) -> Result<Option<Vec<Factor>>> {
        Ok(None)
    }

    /// The factors where changes are as strong as this share of the space's limits, from 0 to 1; what parts of a product have in common.
    /// `None` where that is not known.
    fn at_share(&self, _share: f64) -> Option<Vec<Factor>> {
        None
    }

    /// How large a change is as a share of the space's limits; `None` where that is not known.
    fn share(&self, _setting: &[f64]) -> Option<f64> {
        None
    }

    /// How large a change is, in the unit of the levels; `None` where changes have no common one.
    fn magnitude(&self, _setting: &[f64]) -> Option<f64> {
        None
    }

    /// Whether images need not lie in [0, 1], and are not moved into it.
    fn takes_any_range(&self) -> bool {
        false
    }

    /// Whether what it does can't be told from how it is written.
    fn opaque(&self) -> bool {
        false
    }

    /// Image i is `settings[i]` applied to the i-th of the originals; like these it is in [0, 1] unless the space takes any range, and
    /// finite. It depends on that original and setting alone.
    fn draw(&self, cx: &Cx, of: &Originals, settings: &[&[f64]]) -> Result<Tensor>;
}

/// What settings are applied to: images by where they are held, and what data they are of.
pub struct Originals<'a> {
    /// None where images are of no data set.
    pub data: Option<&'a Dataset>,
    /// For every original its row in the data.
    pub ids: &'a [usize],
    /// `N x C x H x W` as models see them.
    pub images: &'a Tensor,
    /// For every original its place in `images`.
    pub rows: &'a [i64],
}

impl<'a> Originals<'a> {
    /// For spaces that draw images anew from what they are of.
    pub fn known_data(&self) -> Result<&'a Dataset> {
        self.data.ok_or_else(|| Error::internal("images of no data set"))
    }

    /// The originals themselves, one after the other.
    pub fn chosen(&self) -> Result<Tensor> {
        let rows = on_device(&Tensor::f_from_slice(self.rows)?, self.images.device())?;
        Ok(self.images.f_index_select(0, &rows)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::random;

    /// Even in the logarithm: of 20,000 draws, the share below any tenth is that tenth up to five standard deviations.
    #[test]
    fn logarithmic_ranges_are_drawn_evenly_in_the_logarithm() {
        let (axis, mut rng) = (Axis::Log { min: 0.01, max: 100.0 }, random(4, 2));
        const N: usize = 20_000;
        let logs: Vec<f64> = (0..N).map(|_| axis.draw(&mut rng).log10()).collect();
        for tenth in 1..10 {
            let share = f64::from(tenth) / 10.0;
            let below = logs.iter().filter(|log| **log < -2.0 + 4.0 * share).count() as f64 / N as f64;
            let deviation = (share * (1.0 - share) / N as f64).sqrt();
            assert!((below - share).abs() < 5.0 * deviation, "{below} below {share}");
        }
    }
}
