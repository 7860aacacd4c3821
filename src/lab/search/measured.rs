//! The columns of a transcript that were asked for.

use super::measure::{MEASURES, Measure};
use super::row::Noted;
use super::rows::Rows;
use crate::core::{Digest, Value};

/// One number per row and measure; nothing where nothing was asked for.
#[derive(Clone, Default)]
pub struct Measured {
    columns: Vec<(&'static Measure, Vec<f32>)>,
}

impl Measured {
    /// No rows yet.
    pub(super) fn new(measures: &[&'static Measure]) -> Self {
        Self { columns: measures.iter().map(|measure| (*measure, vec![])).collect() }
    }

    /// What was measured at one more row.
    pub(super) fn push(&mut self, measured: &[f32]) {
        for (place, (_, numbers)) in self.columns.iter_mut().enumerate() {
            numbers.push(measured.get(place).copied().unwrap_or(f32::NAN));
        }
    }

    /// Rows, and beside them what was measured there.
    pub(super) fn of(measures: &[&'static Measure], noted: Vec<Noted>) -> (Rows, Self) {
        let mut measured = Self::new(measures);
        noted.iter().for_each(|noted| measured.push(&noted.measured));
        (noted.into_iter().map(|noted| noted.row).collect(), measured)
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.columns.iter().map(|(measure, _)| measure.name)
    }

    /// The numbers of a measure, if it was asked for, in the order of the rows.
    pub fn numbers(&self, name: &str) -> Option<&[f32]> {
        self.columns.iter().find(|(measure, _)| measure.name == name).map(|(_, numbers)| &numbers[..])
    }

    pub(super) fn cell(&self, row: usize, name: &str) -> Option<Value> {
        let (measure, numbers) = self.columns.iter().find(|(measure, _)| measure.name == name)?;
        numbers.get(row).map(|number| measure.holds.value(*number))
    }

    /// All numbers of a row, in the order in which they were asked for.
    pub(super) fn row(&self, row: usize) -> Vec<f32> {
        self.columns.iter().map(|(_, numbers)| numbers.get(row).copied().unwrap_or(f32::NAN)).collect()
    }

    /// What to say of a column that is not there, if it is one that could be.
    pub(super) fn advice(name: &str) -> Option<String> {
        let known = MEASURES.iter().find(|measure| measure.name == name)?;
        Some(format!("ask for it: examine(.., #{{ measures: [{:?}] }})", known.name))
    }

    /// Those of chosen rows.
    pub(super) fn select(&self, rows: &[usize]) -> Self {
        let chosen = |numbers: &Vec<f32>| rows.iter().filter_map(|row| numbers.get(*row).copied()).collect();
        Self { columns: self.columns.iter().map(|(measure, numbers)| (*measure, chosen(numbers))).collect() }
    }

    /// Of names and numbers; `None` where nothing was asked for.
    pub(super) fn digest(&self) -> Option<Digest> {
        let column = |digest: Digest, (measure, numbers): &(&Measure, Vec<f32>)| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
            Digest::of_parts(&[&digest.0, measure.name.as_bytes(), &bytes])
        };
        (!self.columns.is_empty()).then(|| self.columns.iter().fold(Digest::of(&[]), column))
    }
}
