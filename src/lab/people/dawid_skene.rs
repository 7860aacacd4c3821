//! Dawid and Skene (1979), "Maximum likelihood estimation of observer error-rates using the EM algorithm": which answer is most likely the
//! true one of each item, and how often each worker says what where another is true.

use super::Judgements;
use crate::core::{Cautions, Cx, Error, Result};

/// Steps of expectation-maximisation, at most.
pub const DAWID_SKENE_STEPS: usize = 2000;

/// Shares below this are taken for it, so that nothing is impossible.
const LEAST: f64 = 1e-10;

/// Probabilities that change by less than this no longer change.
const STILL: f64 = 1e-9;

/// Answers whose probabilities differ by less are as likely as each other.
const TIED: f64 = 1e-6;

/// What a crowd most likely means.
#[derive(Debug, Clone)]
pub struct Consensus {
    /// The items that were judged.
    pub items: Vec<ItemConsensus>,
    pub workers: Vec<WorkerErrors>,
    /// How often each answer is the true one.
    pub prior: Vec<f64>,
    pub steps: usize,
    pub cautions: Cautions,
}

/// The probabilities of an item's answers, beside the vote.
#[derive(Debug, Clone)]
pub struct ItemConsensus {
    pub item: u32,
    /// Of each word.
    pub probability: Vec<f64>,
    pub votes: Vec<usize>,
}

/// How a worker answers.
#[derive(Debug, Clone)]
pub struct WorkerErrors {
    pub worker: String,
    pub judgements: usize,
    /// By the true answer (row), how often each is given (column).
    pub answers: Vec<Vec<f64>>,
    /// How often the answer is the true one, by how often each is, of those that are true of something that the worker judged.
    pub accuracy: f64,
}

/// The place of the largest, the first of equal ones.
pub(super) fn largest(values: &[f64]) -> usize {
    (1..values.len()).fold(0, |best, i| if values[i] > values[best] { i } else { best })
}

impl ItemConsensus {
    /// The most likely answer; none where several are as likely.
    pub fn answer(&self) -> Option<usize> {
        let best = largest(&self.probability);
        let as_likely = |word: usize| self.probability[best] - self.probability[word] < TIED;
        (0..self.probability.len()).all(|word| word == best || !as_likely(word)).then_some(best)
    }

    /// The answer with most votes; none where several have as many.
    pub fn vote(&self) -> Option<usize> {
        let most = *self.votes.iter().max()?;
        let mut best = (0..self.votes.len()).filter(|&word| self.votes[word] == most);
        best.next().filter(|_| best.next().is_none())
    }
}

impl Judgements {
    /// Expectation-maximisation that sets out from the shares of the vote.
    pub fn consensus(&self, cx: &Cx, most: usize) -> Result<Consensus> {
        let (part, words) = (self.whole(), self.words.len());
        if part.rows.is_empty() {
            return Err(Error::data("nobody answered anything: there is nothing to agree on"));
        }
        let mut votes = vec![vec![0usize; words]; part.items];
        part.rows.iter().for_each(|row| votes[row[1] as usize][row[2] as usize] += 1);
        let shares = |votes: &Vec<usize>| {
            let all: usize = votes.iter().sum();
            votes.iter().map(|&n| n as f64 / all as f64).collect::<Vec<f64>>()
        };
        let mut probability: Vec<Vec<f64>> = votes.iter().map(shares).collect();
        let (mut prior, mut errors) = (vec![], vec![]);
        let (mut steps, mut moved) = (0, f64::INFINITY);
        while steps < most && moved > STILL {
            cx.check()?;
            (prior, errors) = maximised(&part.rows, &probability, part.workers, words);
            moved = 0.0;
            // What nobody holds for true of any item stays so.
            let mut logs: Vec<Vec<f64>> = vec![prior.iter().map(|p: &f64| p.ln()).collect(); part.items];
            for &[worker, item, answer] in &part.rows {
                for (word, log) in logs[item as usize].iter_mut().enumerate() {
                    *log += errors[worker as usize][word][answer as usize].ln();
                }
            }
            for (logs, old) in logs.iter().zip(&mut probability) {
                let top = logs[largest(logs)];
                let sum: f64 = logs.iter().map(|log| (log - top).exp()).sum();
                for (log, old) in logs.iter().zip(old.iter_mut()) {
                    let new = (log - top).exp() / sum;
                    moved = f64::max(moved, (new - *old).abs());
                    *old = new;
                }
            }
            steps += 1;
        }
        let mut cautions = self.cautions.clone();
        if moved > STILL {
            cautions.add(format!("after {steps} steps probabilities still change by {moved:.1e}"));
        }
        if part.items < 10 * words || part.rows.len() < 3 * part.items {
            cautions.add("few judgements: error rates of workers are guesses, and the vote may be as good");
        }
        let mut given = vec![0; part.workers];
        part.rows.iter().for_each(|row| given[row[0] as usize] += 1);
        // Of an answer that is true of nothing that a worker judged the model knows no errors.
        const MET: f64 = 0.5;
        let mut met = vec![vec![0.0; words]; part.workers];
        for &[worker, item, _] in &part.rows {
            let own = &probability[item as usize];
            met[worker as usize].iter_mut().zip(own).for_each(|(met, p)| *met += p);
        }
        let has_met = |worker: usize, word: usize| met[worker][word] >= MET;
        let others =
            (0..part.workers).filter(|&worker| (0..words).any(|word| prior[word] > 0.0 && !has_met(worker, word)));
        let others = others.count();
        if others > 0 {
            cautions.add(format!(
                "{others} of {} workers judged nothing of which some answer is true: their rows of that answer say nothing, and `accuracy` is of the others",
                part.workers
            ));
        }
        let names = self.worker_names();
        let workers = (0..part.workers).map(|worker| {
            let answers = errors[worker].clone();
            let of_met = || (0..words).filter(|&word| has_met(worker, word));
            let all: f64 = of_met().map(|word| prior[word]).sum();
            let accuracy = of_met().map(|word| prior[word] * answers[word][word]).sum::<f64>() / all;
            WorkerErrors { worker: names[worker].clone(), judgements: given[worker], answers, accuracy }
        });
        let items = part.of.iter().zip(probability).zip(votes);
        Ok(Consensus {
            workers: workers.collect(),
            items: items.map(|((&item, probability), votes)| ItemConsensus { item, probability, votes }).collect(),
            prior,
            steps,
            cautions,
        })
    }

    /// The workers who answered anything, in the order of their numbers among these.
    fn worker_names(&self) -> Vec<String> {
        let mut answered: Vec<u32> =
            self.rows.iter().filter(|row| row.answer.is_some()).map(|row| row.worker).collect();
        answered.sort_unstable();
        answered.dedup();
        answered.into_iter().map(|worker| self.workers[worker as usize].clone()).collect()
    }
}

/// How often each answer is true, and of each worker how often each is given where another is true.
fn maximised(
    rows: &[[u32; 3]],
    probability: &[Vec<f64>],
    workers: usize,
    words: usize,
) -> (Vec<f64>, Vec<Vec<Vec<f64>>>) {
    let mut prior = vec![0.0; words];
    for own in probability {
        prior.iter_mut().zip(own).for_each(|(all, p)| *all += p / probability.len() as f64);
    }
    let mut errors = vec![vec![vec![0.0; words]; words]; workers];
    let mut given = vec![vec![false; words]; workers];
    for &[worker, item, answer] in rows {
        given[worker as usize][answer as usize] = true;
        for (word, p) in probability[item as usize].iter().enumerate() {
            errors[worker as usize][word][answer as usize] += p;
        }
    }
    for (errors, given) in errors.iter_mut().zip(&given) {
        for row in errors.iter_mut() {
            // What the worker never said stays at nothing and counts nowhere. A bound is a share of the row: of one that hardly counts it would be all.
            let sum: f64 = row.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            row.iter_mut().zip(given).for_each(|(p, given)| *p = if *given { (*p / sum).max(LEAST) } else { 0.0 });
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|p| *p /= sum);
        }
    }
    (prior, errors)
}
