//! Which factors matter: how much of the variance of the loss each accounts for.

use super::one_each::{check_no_levels, check_one_each};
use super::population::left_out;
use super::subject::{Subject, named, subject};
use super::verdict::percent;
use crate::core::{Cautions, Digest, Error, Object, Result, Table, Value, json_of_fields, number, significant};
use crate::maths::variance_shares::{VarianceShare, VarianceShares, indices};
use crate::objective::Loss;
use crate::search::{Radial, Transcript};

/// Sobol's indices of a loss by factor.
pub struct Sensitivity {
    pub factors: Vec<String>,
    pub indices: VarianceShares,
    pub stars: usize,
    pub objects: usize,
    loss: &'static str,
    of: Subject,
    pub cautions: Cautions,
    digest: Digest,
}

/// Stars in all that an interval rests on, at least.
const FEWEST: usize = 16;

/// From so many objects on, intervals over them hold an index as often as they say.
const SETTLED: usize = 20;

/// Where nearly all variance is of fewer base points than this, and than one in five, an interval holds an index less often than it says.
const CONCENTRATED: f64 = 10.0;

/// What changed a loss less often is known from too few turns for an interval to hold.
const SELDOM: usize = 10;

/// The indices of a transcript of search::radial.
pub fn sensitivity(transcript: &Transcript) -> Result<Sensitivity> {
    let of = &transcript.of;
    if !of.search.starts_with("radial(") {
        return Err(Error::data(format!(
            "robustness::sensitivity: the questions of {} do not turn one factor at a time",
            of.search
        ))
        .hint("examine with `search: search::radial(#{ questions: 200 })`"));
    }
    check_no_levels(transcript, "robustness::sensitivity")?;
    check_one_each(transcript, "robustness::sensitivity")?;
    let (questions, asked) = transcript.questions()?;
    let factors = questions.names.len();
    let star = Radial::star(factors);
    if asked.iter().any(|asked| asked.is_empty() || asked.len() % star != 0) {
        return Err(Error::data("robustness::sensitivity: not every object was asked whole stars"));
    }
    let stars: usize = asked.iter().map(|asked| asked.len() / star).sum();
    let least = asked.iter().map(|asked| asked.len() / star).min().unwrap_or(0);
    if stars < FEWEST || least < 2 {
        return Err(Error::data(format!(
            "robustness::sensitivity: {stars} base points, {least} of an object, are too few: {FEWEST} in all and 2 of each object are the least"
        ))
        .hint(format!(
            "each takes {star} questions: search::radial(#{{ questions: {} }})",
            star * 2usize.max(FEWEST.div_ceil(asked.len().max(1)))
        )));
    }
    let losses: Vec<Vec<f64>> =
        asked.iter().map(|asked| asked.losses.iter().map(|loss| f64::from(*loss)).collect()).collect();
    let indices = indices(&losses, factors).ok_or_else(|| {
        Error::data("robustness::sensitivity: the loss of every object is the same at all questions that were asked: of how factors matter beyond them nothing is known")
            .hint("more questions, or an objective with another loss")
    })?;
    let mut cautions = of.cautions.clone();
    left_out(transcript).into_iter().for_each(|caution| cautions.add(caution));
    if (2..SETTLED).contains(&asked.len()) {
        cautions.add(format!(
            "intervals over {} objects may be too narrow: of fewer than {SETTLED} about nine in ten hold the index",
            asked.len()
        ));
    }
    let seldom = questions.names.iter().zip(&indices.moved).filter(|(_, moved)| (1..SELDOM).contains(*moved));
    let seldom: Vec<String> = seldom.map(|(name, moved)| format!("{name} in {moved}")).collect();
    if !seldom.is_empty() {
        cautions.add(format!(
            "factors that changed the loss in fewer than {SELDOM} of {stars} turns have intervals that may be too narrow: {}",
            seldom.join(", ")
        ));
    }
    if indices.effective < CONCENTRATED.min(stars as f64 / 5.0) {
        cautions.add(format!(
            "the variance is mostly of some {:.0} of {stars} base points, whose losses lie far from all others: others may share it out otherwise, and \
             intervals are too narrow",
            indices.effective.ceil()
        ));
    }
    Ok(Sensitivity {
        factors: questions.names.clone(),
        indices,
        stars,
        objects: asked.len(),
        loss: of.objective.loss.unwrap_or(Loss::Lead).axis(),
        of: subject(transcript),
        cautions,
        digest: Digest::of_parts(&[&transcript.digest().0, b"sensitivity"]),
    })
}

const FIELDS: [&str; 14] = [
    "factors",
    "first",
    "first_lo",
    "first_hi",
    "total",
    "total_lo",
    "total_hi",
    "unmoved",
    "variance",
    "loss",
    "base_points",
    "objects",
    "sentences",
    "cautions",
];

impl Sensitivity {
    /// The factors' places, the one with the largest total index first.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.factors.len()).collect();
        order.sort_by(|&a, &b| self.indices.total[b].value.total_cmp(&self.indices.total[a].value));
        order
    }

    /// `elevation 0.56 [0.51, 0.61] with its interactions, 0.44 [0.40, 0.49] alone`
    fn sentence(&self, factor: usize) -> String {
        let words = |VarianceShare { value, lo, hi }: VarianceShare| {
            let short = |x: f64| if x.abs() < 5e-4 { "0".into() } else { significant(x, 2) };
            format!("{} [{}, {}]", short(value), short(lo), short(hi))
        };
        let name = &self.factors[factor];
        if self.indices.moved[factor] == 0 {
            return format!("{name} never changed a loss in {} turns", self.stars);
        }
        let (total, first) = (self.indices.total[factor], self.indices.first[factor]);
        format!("{name} {} with its interactions, {} alone", words(total), words(first))
    }

    fn sentences(&self) -> Vec<String> {
        self.order().into_iter().map(|factor| self.sentence(factor)).collect()
    }

    fn unmoved(&self) -> impl Iterator<Item = &String> {
        self.factors.iter().zip(&self.indices.moved).filter(|(_, moved)| **moved == 0).map(|(name, _)| name)
    }

    fn column(&self, name: &str) -> Option<Vec<f64>> {
        let (base, end): (&str, fn(&VarianceShare) -> f64) = match (name.strip_suffix("_lo"), name.strip_suffix("_hi"))
        {
            (Some(base), _) => (base, |index| index.lo),
            (_, Some(base)) => (base, |index| index.hi),
            _ => (name, |index| index.value),
        };
        let of = match base {
            "first" => &self.indices.first,
            "total" => &self.indices.total,
            _ => return None,
        };
        Some(of.iter().map(end).collect())
    }

    fn rows(&self, order: &[usize]) -> Table {
        let names = order.iter().map(|factor| Value::Str(self.factors[*factor].clone())).collect();
        FIELDS[1..7].iter().fold(Table::default().column("factor", names), |table, name| {
            let column = self.column(name).unwrap_or_default();
            table.column(*name, order.iter().map(|factor| Value::Float(column[*factor])).collect())
        })
    }
}

impl Object for Sensitivity {
    fn kind(&self) -> &'static str {
        "Sensitivity"
    }

    fn summary(&self) -> String {
        const SAID: usize = 3;
        let said = self.sentences().into_iter().take(SAID).collect::<Vec<_>>().join("; ");
        let rest = match self.factors.len().saturating_sub(SAID) {
            0 => String::new(),
            rest => format!("; {rest} others less"),
        };
        format!("of the variance of the loss at {} base points: {said}{rest}{}", self.stars, self.cautions.ending())
    }

    fn details(&self, width: usize) -> String {
        let [model, data, space, search, objective] = &self.of.words;
        let alone: f64 = self.indices.first.iter().map(|index| index.value).sum();
        let mut lines = vec![
            format!(
                "of the variance of the loss, {} within objects, factors account alone for {}",
                number(self.indices.variance),
                significant(alone, 2)
            ),
            format!("{model} on {data}: {search} over {space}, {objective}"),
            format!("losses: {}; {} base points, {} objects", self.loss, self.stars, self.objects),
            // Rule of three, of two numbers of each factor a star.
            format!(
                "what only shows in less than {} of the space may never have been asked",
                percent((150.0 / self.stars as f64).ceil() / 100.0)
            ),
        ];
        let unmoved: Vec<&str> = self.unmoved().map(String::as_str).collect();
        if !unmoved.is_empty() {
            lines.push(format!(
                "never changed a loss: {}, which excludes no effect that is rarer than the turns tried",
                unmoved.join(", ")
            ));
        }
        lines.extend(self.cautions.lines());
        lines.push(self.rows(&self.order()).text(width, 30));
        lines.join("\n")
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        let words = |all: Vec<String>| Value::Array(all.into_iter().map(Value::Str).collect());
        Ok(match name {
            "factors" => Some(words(self.factors.clone())),
            "unmoved" => Some(words(self.unmoved().cloned().collect())),
            "variance" => Some(Value::Float(self.indices.variance)),
            "loss" => Some(Value::Str(self.loss.into())),
            "base_points" => Some(Value::Int(self.stars as i64)),
            "objects" => Some(Value::Int(self.objects as i64)),
            "sentences" => Some(words(self.sentences())),
            "cautions" => Some(self.cautions.value()),
            other => self.column(other).map(Value::floats),
        })
    }

    fn digest(&self) -> Digest {
        self.digest
    }

    fn json(&self) -> serde_json::Value {
        json_of_fields(self, named(&self.of))
    }

    fn table(&self) -> Option<Table> {
        Some(self.cautions.beside(self.rows(&(0..self.factors.len()).collect::<Vec<_>>())))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
