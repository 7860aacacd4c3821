//! The points of a finite group as settings of named factors, so that searches that learn from losses can choose among them.

use super::{Domain, Element, Factor};
use crate::core::{Error, Result, Value};

/// Factors with finitely many values each, and the element at every setting.
pub struct Coordinates {
    factors: Vec<Factor>,
    /// The last factor changes fastest.
    elements: Vec<Element>,
}

impl Coordinates {
    /// One factor with a choice for each element, called as the values say.
    pub fn of_list(name: &str, elements: Vec<(Value, Element)>) -> Self {
        let (values, elements) = elements.into_iter().map(|(value, element)| (word(value), element)).unzip();
        Self { factors: vec![Factor::new(name, Domain::Choices(values))], elements }
    }

    /// Whole numbers and choices whose combinations are `elements`, the last factor changing fastest.
    pub fn of_factors(factors: Vec<(&str, Domain)>, elements: Vec<Element>) -> Self {
        let factors = factors.into_iter().map(|(name, domain)| Factor::new(name, domain)).collect();
        Self { factors, elements }
    }

    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    pub fn element(&self, setting: &[f64]) -> Result<Element> {
        let mut at = 0;
        for (factor, &x) in self.factors.iter().zip(setting) {
            let (from, many) = match &factor.domain {
                Domain::Whole { min, max } => (f64::from(*min), (max - min) as usize + 1),
                Domain::Choices(choices) => (0.0, choices.len()),
                _ => (0.0, 0),
            };
            at = at * many + (x - from) as usize;
        }
        self.elements.get(at).copied().ok_or_else(|| Error::internal("a setting that no element has"))
    }
}

/// What a factor's choice can be: lists and maps are written out.
fn word(value: Value) -> Value {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) => value,
        other => Value::Str(other.summary()),
    }
}
