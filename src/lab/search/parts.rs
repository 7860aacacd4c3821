//! A transcript of several searches: what each of them found, and whose outcome every row is.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::cautions::TOLD;
use super::row::{Row, why_stuck};
use crate::core::{Cx, Digest, Error, Result, Tensor, Value};
use crate::space::{Point, Render};

/// What one search found.
pub(super) trait Outcomes {
    fn row(&self, place: usize) -> Option<&Row>;

    /// Its point as scripts and tables show it.
    fn shown(&self, row: &Row) -> Value;

    /// Where the search left these rows, `N x C x H x W`.
    fn images(&self, cx: &Cx, rows: &[usize]) -> Result<Tensor>;

    /// Whether the search has to go its way again to bring a row's image back.
    fn goes_again(&self, row: &Row) -> bool;

    /// The view that its point is, with the space of it, where it is one.
    fn view(&self, row: &Row) -> Option<(&Render, &[f64])>;

    fn digest(&self) -> Digest;
}

/// Where a row comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    pub part: usize,
    /// Its row there.
    pub row: usize,
    /// Which member made it fail, if one did.
    pub by: Option<usize>,
}

/// What a member of an ensemble did, in images or, where there are levels or targets, in rows.
#[derive(Debug, Clone)]
pub struct MemberTally {
    pub name: String,
    pub search: String,
    /// Its own.
    pub objective: Option<String>,
    /// What it was given: right as it stands, and left so by those before it.
    pub tried: usize,
    pub fooled: usize,
    pub left: usize,
    /// Where its gradient was 0, of what all of them left.
    pub vanished: usize,
    /// Where it had gone less than half as far as it might, of what all of them left.
    pub near: usize,
    /// Whether it goes along gradients.
    pub by_gradient: bool,
}

impl MemberTally {
    pub(super) fn value(&self) -> Value {
        let count = |n: usize| Value::Int(n as i64);
        let entries = [
            ("name", Value::Str(self.name.clone())),
            ("search", Value::Str(self.search.clone())),
            ("objective", self.objective.clone().map_or(Value::Unit, Value::Str)),
            ("tried", count(self.tried)),
            ("fooled", count(self.fooled)),
            ("left", count(self.left)),
            ("vanished", count(self.vanished)),
        ];
        Value::Map(entries.into_iter().map(|(name, value)| (name.to_string(), value)).collect::<BTreeMap<_, _>>())
    }
}

/// The outcomes of several searches; the point of a row is its place among `origins`.
pub(super) struct Parts {
    pub parts: Vec<Rc<dyn Outcomes>>,
    pub origins: Vec<Origin>,
    pub members: Vec<MemberTally>,
}

impl Parts {
    pub(super) fn origin(&self, point: Point) -> Option<&Origin> {
        self.origins.get(point.place()?)
    }

    /// The name of the member that made a row fail.
    pub fn by(&self, point: Point) -> Value {
        let member = self.origin(point).and_then(|origin| self.members.get(origin.by?));
        member.map_or(Value::Unit, |member| Value::Str(member.name.clone()))
    }

    /// A point as the search shows it that found it.
    pub fn shown(&self, point: Point) -> Value {
        let found = |origin: &Origin| {
            let part = self.parts.get(origin.part)?;
            Some(part.shown(part.row(origin.row)?))
        };
        self.origin(point).and_then(found).unwrap_or(Value::Unit)
    }

    /// The view that a point is, with the space of it, where it is one.
    pub fn view(&self, point: Point) -> Option<(&Render, &[f64])> {
        let origin = self.origin(point)?;
        let part = self.parts.get(origin.part)?;
        part.view(part.row(origin.row)?)
    }

    /// Whether the search that found a point has to go its way again to bring the image back.
    pub fn goes_again(&self, point: Point) -> bool {
        let found =
            |origin: &Origin| Some(self.parts.get(origin.part)?.goes_again(self.parts[origin.part].row(origin.row)?));
        self.origin(point).and_then(found).unwrap_or(true)
    }

    /// The images of these rows where their searches left them.
    pub fn images(&self, cx: &Cx, rows: &[Row]) -> Result<Tensor> {
        let mut by_part: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (place, row) in rows.iter().enumerate() {
            let origin = self.origin(row.point).ok_or_else(|| Error::internal("a row that no search found"))?;
            by_part.entry(origin.part).or_default().push((place, origin.row));
        }
        let mut found: Vec<Option<Tensor>> = rows.iter().map(|_| None).collect();
        for (part, places) in by_part {
            let own: Vec<usize> = places.iter().map(|(_, row)| *row).collect();
            let images = self.parts[part].images(cx, &own)?;
            for (at, (place, _)) in places.into_iter().enumerate() {
                found[place] = Some(images.f_narrow(0, at as i64, 1)?);
            }
        }
        let found: Option<Vec<Tensor>> = found.into_iter().collect();
        Ok(Tensor::f_cat(&found.ok_or_else(|| Error::internal("a row without an image"))?, 0)?)
    }

    /// What was noticed by the searches, of what all of them left right. `steady`: the model's answers are functions of the image.
    pub fn cautions<'a>(&self, rows: impl Iterator<Item = &'a Row>, steady: bool) -> Vec<String> {
        let still = rows.zip(&self.origins).filter(|(row, origin)| row.may_be_fooled() && origin.by.is_none()).count();
        let stuck = self.members.iter().filter(|member| member.vanished > 0);
        let caution = |member: &MemberTally| {
            format!(
                "{}: {} at {} of the {still} that all searches left right",
                member.name,
                why_stuck(&member.search),
                member.vanished
            )
        };
        let short = self.members.iter().filter(|member| member.near as f64 > TOLD * still as f64);
        let too_short = |member: &MemberTally| {
            format!(
                "{}: {} of the {still} that all searches left right had been moved by less than half of what they might be",
                member.name, member.near
            )
        };
        // Where the same has another answer the next time, whoever asks most finds most.
        let without_gradients = steady.then(|| self.found_without_gradients()).into_iter().flatten();
        stuck.map(caution).chain(short.map(too_short)).chain(without_gradients).collect()
    }

    /// What searches without gradients made fail of what those along gradients had left right, where that is more than a few.
    fn found_without_gradients(&self) -> impl Iterator<Item = String> + '_ {
        const FEW: usize = 5;
        const SHARE: f64 = 0.1;
        let told = |(place, member): (usize, &MemberTally)| {
            let before: Vec<&str> = self.members[..place]
                .iter()
                .filter(|other| other.by_gradient && other.objective.is_none())
                .map(|other| other.name.as_str())
                .collect();
            let many = member.fooled >= FEW && member.fooled as f64 > SHARE * member.tried as f64;
            (many && !before.is_empty() && !member.by_gradient).then(|| {
                format!(
                    "{}, which needs no gradient, made {} of {} fail that {} had left right: these took too few steps, or gradients hide what the model bears",
                    member.name,
                    member.fooled,
                    member.tried,
                    before.join(", ")
                )
            })
        };
        self.members.iter().enumerate().filter_map(told)
    }

    pub fn digest(&self) -> Digest {
        let parts = self.parts.iter().map(|part| part.digest());
        parts.fold(Digest::of(b"parts"), |all, part| Digest::of_parts(&[&all.0, &part.0]))
    }
}
