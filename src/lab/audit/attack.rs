//! An attack, and what it and all that was tried after it made fail.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::core::{Cautions, Cx, Error, Result};
use crate::data::Dataset;
use crate::model::{Inputs, Model};
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
    /// Of all that are right.
    pub transcript: Option<Transcript>,
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
        attack.model.check_fits(cx, attack.data)?;
        let predicted = attack.model.predictions(cx, &Inputs::Data(attack.data))?;
        let right: Vec<usize> =
            (0..predicted.len()).filter(|row| predicted[*row] == attack.data.labels()[*row]).collect();
        if right.is_empty() {
            return Err(Error::data(format!("tolerance::audit: {} is right on no image", attack.model.name))
                .hint("only images that are right as they stand can be made to fail"));
        }
        let (model, space, search) = (attack.model, attack.space.clone(), attack.search.clone());
        let first = Trial { model, space, search, objective: attack.objective.clone() };
        let mut all = Self {
            answers_differ: predicted.windows(2).any(|pair| pair[0] != pair[1]),
            attack,
            norm,
            radius,
            right,
            fooled: BTreeSet::new(),
            fooled_by_any: BTreeSet::new(),
            transcript: None,
            cautions: Cautions::default(),
        };
        let (transcript, fooled) = all.attacked(cx, &all.right.clone(), first)?;
        transcript.check_predictions("tolerance::audit")?;
        all.cautions.extend(&transcript.of.cautions);
        all.transcript = Some(transcript);
        all.fooled_by_any = fooled.clone();
        all.fooled = fooled;
        Ok(all)
    }

    /// Which of these rows a trial makes fail.
    fn attacked(&self, cx: &Cx, rows: &[usize], trial: Trial) -> Result<(Transcript, BTreeSet<usize>)> {
        let data = self.attack.data.select(rows)?;
        let plan = Examination {
            model: trial.model,
            data: &data,
            space: trial.space,
            search: trial.search,
            objective: trial.objective,
            levels: vec![],
            steps: vec![],
            densities: Densities::WhereKnown,
            measures: vec![],
            batch: self.attack.batch,
            seed: self.attack.seed,
        };
        let transcript = examine(cx, &plan)?;
        let wrong = transcript.rows.iter().filter(|row| row.wrong_after());
        let fooled = wrong.map(|row| rows[row.id as usize]).collect();
        Ok((transcript, fooled))
    }

    /// Which of these rows a trial makes fail; none of none.
    pub fn tried(&self, cx: &Cx, rows: &[usize], trial: Trial) -> Result<BTreeSet<usize>> {
        if rows.is_empty() { Ok(BTreeSet::new()) } else { Ok(self.attacked(cx, rows, trial)?.1) }
    }

    /// The attack with another search.
    pub fn with_search(&self, search: Rc<dyn Search>) -> Trial<'a> {
        let Attack { model, space, objective, .. } = &self.attack;
        Trial { model, space: space.clone(), search, objective: objective.clone() }
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
