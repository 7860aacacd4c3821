//! An attack, and what it and all that was tried after it made fail.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::finding::{Finding, Verdict, images};
use crate::core::{Cautions, Cx, Error, Result};
use crate::data::Dataset;
use crate::model::Model;
use crate::objective::Objective;
use crate::search::{Densities, Examination, Search, Transcript, examine};
use crate::space::{Norm, Space};

/// A search in a ball around each image.
pub struct Attack<'a> {
    pub model: &'a Model,
    pub data: &'a Dataset,
    pub space: Rc<dyn Space>,
    pub search: Rc<dyn Search>,
    pub objective: Objective,
    /// Of the search that needs scores alone, about each image.
    pub questions: usize,
    pub batch: Option<usize>,
    pub seed: u64,
}

impl Attack<'_> {
    fn outcomes(&self, cx: &Cx, data: &Dataset, trial: Trial) -> Result<Transcript> {
        let plan = Examination {
            model: trial.model,
            data,
            space: trial.space,
            search: trial.search,
            objective: trial.objective,
            levels: vec![],
            steps: vec![],
            densities: Densities::WhereKnown,
            measures: vec![],
            batch: self.batch,
            seed: self.seed,
        };
        examine(cx, &plan)
    }
}

/// What is tried in place of a part of an attack.
pub(super) struct Trial<'a> {
    pub model: &'a Model,
    pub space: Rc<dyn Space>,
    pub search: Rc<dyn Search>,
    pub objective: Objective,
}

/// An attack that was made.
pub(super) struct Attacked<'a> {
    pub attack: Attack<'a>,
    pub norm: Norm,
    pub radius: f64,
    /// Whether the model answers any image another class than the others.
    pub answers_differ: bool,
    /// Rows that are right as they stand.
    pub right: Vec<usize>,
    /// Those that the attack made fail, and those that anything within the ball did.
    pub fooled: BTreeSet<usize>,
    pub fooled_by_any: BTreeSet<usize>,
    /// Of the attack as it is, on all images.
    pub transcript: Transcript,
    pub cautions: Cautions,
}

impl<'a> Attacked<'a> {
    pub fn begin(cx: &Cx, attack: Attack<'a>) -> Result<Self> {
        let space = attack.space.describe();
        let no_ball = || {
            Error::argument(format!("tolerance::audit: {space} is no ball that could be made larger"))
                .hint("space::pixels(\"linf\", #{ radius: 8.0 / 255, bounds: [0, 1] }) is one")
        };
        let differentiable = attack.space.differentiable().ok_or_else(no_ball)?;
        let (norm, radius) = (differentiable.norm(), differentiable.within().ok_or_else(no_ball)?);
        attack.space.ball(radius).ok_or_else(no_ball)?;
        attack.objective.check_predictions("tolerance::audit")?;
        let (model, space, search) = (attack.model, attack.space.clone(), attack.search.clone());
        let as_it_is = Trial { model, space, search, objective: attack.objective.clone() };
        let transcript = attack.outcomes(cx, attack.data, as_it_is)?;
        let mut right: Vec<usize> =
            transcript.rows.iter().filter(|row| !row.wrong_before()).map(|row| row.id as usize).collect();
        right.dedup();
        if right.is_empty() {
            return Err(Error::data(format!("tolerance::audit: {} is right on no image", attack.model.name))
                .hint("only images that are right as they stand can be made to fail"));
        }
        let failing = transcript.rows.iter().filter(|row| !row.wrong_before() && row.wrong_after());
        let fooled: BTreeSet<usize> = failing.map(|row| row.id as usize).collect();
        Ok(Self {
            answers_differ: transcript.rows.windows(2).any(|pair| pair[0].before != pair[1].before),
            attack,
            norm,
            radius,
            right,
            fooled_by_any: fooled.clone(),
            fooled,
            cautions: transcript.of.cautions.clone(),
            transcript,
        })
    }

    /// Which of these rows a trial makes fail; none of none.
    pub fn tried(&self, cx: &Cx, rows: &[usize], trial: Trial) -> Result<BTreeSet<usize>> {
        if rows.is_empty() {
            return Ok(BTreeSet::new());
        }
        let data = self.attack.data.select(rows)?;
        let transcript = cx.on_trial(|| self.attack.outcomes(cx, &data, trial))?;
        Ok(transcript.rows.iter().filter(|row| row.wrong_after()).map(|row| rows[row.id as usize]).collect())
    }

    /// The attack with another search.
    pub fn with_search(&self, search: Rc<dyn Search>) -> Trial<'a> {
        let Attack { model, space, objective, .. } = &self.attack;
        Trial { model, space: space.clone(), search, objective: objective.clone() }
    }

    /// What a trial on the rows that the attack left right says of it: each that fails was missed. `nothing`: what is said where none does;
    /// `makes`: what it is that makes some fail, as a sentence begins.
    pub fn on_what_is_left(&mut self, cx: &Cx, trial: Trial, nothing: String, makes: &str) -> Result<Finding> {
        let left = self.left();
        let found = self.tried(cx, &left, trial)?;
        self.fooled_by_any.extend(&found);
        let says = match found.len() {
            0 => nothing,
            n => format!("{makes} {} fail that the attack left right", images(n)),
        };
        let accuracy = self.accuracy(&self.fooled.union(&found).copied().collect());
        Ok(Finding::new(Verdict::against(found.len(), self.images()), (found.len(), left.len()), says).left(accuracy))
    }

    /// Rows that are right as they stand, and that the attack left right.
    pub fn left(&self) -> Vec<usize> {
        self.right.iter().copied().filter(|row| !self.fooled.contains(row)).collect()
    }

    pub fn images(&self) -> usize {
        self.attack.data.len()
    }

    /// The share of all images that are right where these are not.
    pub fn accuracy(&self, fooled: &BTreeSet<usize>) -> f64 {
        self.right.iter().filter(|row| !fooled.contains(row)).count() as f64 / self.images() as f64
    }

    /// Those that the attack did not make fail.
    pub fn missed<'b>(&'b self, found: &'b BTreeSet<usize>) -> impl Iterator<Item = usize> + 'b {
        found.difference(&self.fooled).copied()
    }
}
