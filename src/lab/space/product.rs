//! Products of spaces whose points are settings of factors: `a * b` does what b's factors say and then what a's say.

use std::rc::Rc;

use super::factor::{self, Factor, Factored, Originals, When};
use super::{Bounds, Composed, Space};
use crate::core::{Cautions, Cx, Error, Result, Tensor};
use crate::data::Dataset;

/// `a * b`, of finite spaces or of spaces with factors.
pub fn composed(after: &Rc<dyn Space>, before: &Rc<dyn Space>) -> Result<Rc<dyn Space>> {
    match (after.factored(), before.factored()) {
        (Some(_), Some(_)) => Ok(Rc::new(Product::new(after.clone(), before.clone())?)),
        _ => Ok(Rc::new(Composed::new(&**after, &**before)?)),
    }
}

/// The factors of both, the first space's first.
pub struct Product {
    /// What is done first, and then.
    parts: [Rc<dyn Space>; 2],
    factors: Vec<Factor>,
    /// How many factors the first part has.
    first: usize,
}

impl Product {
    pub fn new(after: Rc<dyn Space>, before: Rc<dyn Space>) -> Result<Self> {
        if after.needs_originals() {
            let what = after.describe();
            return Err(Error::argument(format!("`*`: {what} draws images anew, and can only come first"))
                .hint("in a * b, b is done first: write space::noise(0.1) * space::render()"));
        }
        let parts = [before, after];
        let mut factors: Vec<Factor> = vec![];
        let mut first = 0;
        for part in &parts {
            let of = part.factored().ok_or_else(|| Error::internal("a product of spaces without factors"))?;
            first = factors.len();
            for factor in of.factors() {
                // Of two factors with one name, the later is numbered.
                let taken = |name: &str, factors: &[Factor]| factors.iter().any(|known| known.name == name);
                let numbered = (2..).map(|k| format!("{} {k}", factor.name));
                let name = std::iter::once(factor.name.clone()).chain(numbered).find(|name| !taken(name, &factors));
                factors.push(Factor {
                    name: name.unwrap_or_default(),
                    domain: factor.domain.clone(),
                    still: factor.still,
                    when: factor.when.iter().map(|when| When { factor: first + when.factor, ..when.clone() }).collect(),
                });
            }
        }
        Ok(Self { parts, factors, first })
    }

    fn part(&self, place: usize) -> Result<&dyn Factored> {
        self.parts[place].factored().ok_or_else(|| Error::internal("a product of spaces without factors"))
    }
}

impl Space for Product {
    fn describe(&self) -> String {
        format!("{} * {}", self.parts[1].describe(), self.parts[0].describe())
    }

    fn identity(&self) -> String {
        format!("{} * {}", self.parts[1].identity(), self.parts[0].identity())
    }

    fn unit(&self) -> &'static str {
        "share of the limits"
    }

    fn bounds(&self) -> Option<Bounds> {
        self.parts[0].bounds()
    }

    fn factored(&self) -> Option<&dyn Factored> {
        Some(self)
    }

    fn needs_originals(&self) -> bool {
        self.parts[0].needs_originals()
    }

    fn cautions(&self, at_levels: bool) -> Cautions {
        self.parts
            .iter()
            .flat_map(|part| part.cautions(at_levels).iter().map(String::from).collect::<Vec<_>>())
            .collect()
    }

    fn check(&self, data: &Dataset) -> Result<()> {
        self.parts.iter().try_for_each(|part| part.check(data))
    }
}

impl Factored for Product {
    fn factors(&self) -> &[Factor] {
        &self.factors
    }

    fn unit_of(&self, factor: usize) -> &'static str {
        let (part, place) = if factor < self.first { (0, factor) } else { (1, factor - self.first) };
        self.part(part).map_or("", |part| part.unit_of(place))
    }

    /// A level is a share of the limits of both parts.
    fn at(&self, level: f64) -> Result<Option<Vec<Factor>>> {
        factor::check_share(&self.describe(), level)?;
        Ok(self.at_share(level))
    }

    fn at_share(&self, share: f64) -> Option<Vec<Factor>> {
        let [before, after] = [self.part(0).ok()?.at_share(share)?, self.part(1).ok()?.at_share(share)?];
        let parts = before.into_iter().chain(after);
        let own = |(of, part): (&Factor, Factor)| Factor { name: of.name.clone(), when: of.when.clone(), ..part };
        Some(self.factors.iter().zip(parts).map(own).collect())
    }

    /// The larger share of both parts.
    fn magnitude(&self, setting: &[f64]) -> Option<f64> {
        self.share(setting)
    }

    fn share(&self, setting: &[f64]) -> Option<f64> {
        let (before, after) = setting.split_at(self.first);
        Some(self.part(0).ok()?.share(before)?.max(self.part(1).ok()?.share(after)?))
    }

    fn takes_any_range(&self) -> bool {
        self.parts.iter().filter_map(|part| part.factored()).all(Factored::takes_any_range)
    }

    fn opaque(&self) -> bool {
        self.parts.iter().filter_map(|part| part.factored()).any(Factored::opaque)
    }

    fn draw(&self, cx: &Cx, of: &Originals, settings: &[&[f64]]) -> Result<Tensor> {
        let (before, after): (Vec<&[f64]>, Vec<&[f64]>) =
            settings.iter().map(|setting| setting.split_at(self.first)).unzip();
        let images = self.part(0)?.draw(cx, of, &before)?;
        let rows: Vec<i64> = (0..settings.len() as i64).collect();
        self.part(1)?.draw(cx, &Originals { data: of.data, ids: of.ids, images: &images, rows: &rows }, &after)
    }
}
