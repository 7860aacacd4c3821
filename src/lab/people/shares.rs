//! Shares of judgements (Dunn 2022, Figure 4.7) and of items by majority (Table 5.4), group by group.

use super::Judgements;
use super::judgements::{GroupKey, Part};
use super::two_way::{Bounded, TwoWaySpread, two_way};
use crate::core::{Cautions, Cx, Error, Result};
use crate::estimate::tolerance::Resampling;
use crate::maths::shares::few_groups;

/// What a share is of.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The answers that are counted; where none are named, the one that was intended of the item.
    pub words: Option<Vec<String>>,
    /// Answers that take part, where not all do; and of items, those of which more than half of the judgements do.
    pub among: Option<Vec<String>>,
}

/// The share of one group.
#[derive(Debug, Clone)]
pub struct GroupShare {
    /// What stands in each of the columns that items are grouped by.
    pub group: Vec<String>,
    pub share: Bounded,
    /// Answered judgements.
    pub judgements: usize,
    /// What the share is one of: judgements, or items.
    counted: usize,
    pub workers: usize,
    pub items: usize,
    /// Items of which exactly half said so; of shares by majority, which counts them as not.
    pub ties: usize,
    /// Items most of whose judgements take no part.
    pub left_out: usize,
    pub cautions: Cautions,
    spread: TwoWaySpread,
}

impl GroupShare {
    /// The share with an interval at another level.
    pub(super) fn at(&self, delta: f64) -> Bounded {
        self.spread.share(self.share.value, self.counted, delta)
    }

    /// Whether anything is known of other workers and other items.
    pub(super) fn knows_others(&self) -> bool {
        self.workers > 1 && self.items > 1
    }
}

impl Judgements {
    /// Which answers count, by item and word.
    fn counting(&self, wanted: &Wanted) -> Result<impl Fn(u32, u32) -> bool + Sync + use<>> {
        let (intended, words): (Vec<Option<u32>>, Vec<u32>) = match &wanted.words {
            None => {
                let of: Vec<Option<u32>> = (0..self.items.len() as u32).map(|item| self.intended(item)).collect();
                if let Some(item) = of.iter().position(Option::is_none) {
                    return Err(Error::data(format!("nothing says what item {:?} was intended as", self.items[item]))
                        .hint("rows need a column `intended`; or say what is counted, such as `answer: \"real\"`"));
                }
                (of, vec![])
            }
            Some(words) => (vec![], words.iter().map(|word| self.number_of(word)).collect::<Result<Vec<u32>>>()?),
        };
        Ok(move |item: u32, answer: u32| match intended.get(item as usize) {
            Some(intended) => *intended == Some(answer),
            None => words.contains(&answer),
        })
    }

    /// The share of judgements, of each group.
    pub fn shares(&self, cx: &Cx, wanted: &Wanted, by: &[String], how: &Resampling) -> Result<Vec<GroupShare>> {
        self.by_group(cx, wanted, by, how, |part: &Part| part.rows.len(), of_judgements)
    }

    /// The share of items of which more than half of the judgements say so, of each group. Exactly half is not enough.
    pub fn majority(&self, cx: &Cx, wanted: &Wanted, by: &[String], how: &Resampling) -> Result<Vec<GroupShare>> {
        self.by_group(cx, wanted, by, how, |part: &Part| part.items, of_items)
    }

    fn by_group(
        &self,
        cx: &Cx,
        wanted: &Wanted,
        by: &[String],
        how: &Resampling,
        counted: impl Fn(&Part) -> usize,
        statistic: impl Fn(&Said, &[f64], &[f64]) -> Option<(f64, usize)> + Sync,
    ) -> Result<Vec<GroupShare>> {
        let counts = self.counting(wanted)?;
        let among = match &wanted.among {
            Some(words) => Some(words.iter().map(|word| self.number_of(word)).collect::<Result<Vec<u32>>>()?),
            None => None,
        };
        let groups = self.groups(by)?;
        let task = cx.progress("two-way bootstrap", Some(groups.len() as u64));
        let mut found = vec![];
        for (key, items) in groups {
            let (part, left_out) = match &among {
                Some(among) => self.part(&items).among(self, among),
                None => (self.part(&items), 0),
            };
            let yes = part.rows.iter().map(|row| counts(part.of[row[1] as usize], row[2])).collect();
            let said = Said { part, yes };
            let (workers, items) = (said.part.workers, said.part.items);
            let (value, ties) = statistic(&said, &vec![1.0; workers], &vec![1.0; items]).unwrap_or((f64::NAN, 0));
            let spread = two_way(cx, (workers, items), how, |w, v| statistic(&said, w, v).map(|found| found.0))?;
            let counted = counted(&said.part);
            let share = spread.share(value, counted, how.delta);
            found.push(GroupShare {
                group: key.iter().map(GroupKey::text).collect(),
                share,
                judgements: said.part.rows.len(),
                counted,
                workers,
                items,
                ties,
                left_out,
                cautions: self.cautions_of(&said.part, value, spread.varies()),
                spread,
            });
            task.advance(1);
        }
        Ok(found)
    }

    fn cautions_of(&self, part: &Part, value: f64, varies: bool) -> Cautions {
        let mut cautions = self.cautions.clone();
        if part.rows.is_empty() {
            cautions.add("nobody answered: nothing is known");
        } else if part.workers < 2 || part.items < 2 {
            let (one, of) = if part.workers < 2 { ("worker", "workers") } else { ("item", "items") };
            cautions.add(format!("one {one} says nothing of other {of}: the interval is everything"));
        } else if value == 0.0 || value == 1.0 {
            cautions.add(match varies {
                true => "it is the same for every item: how much others would differ is known by how few votes decided these alone",
                false => {
                    "it is the same for every item and worker: how much others would differ is not known, and each item or worker counts as one"
                }
            });
        }
        few_groups(part.workers, "workers").into_iter().for_each(|caution| cautions.add(caution));
        cautions
    }
}

impl Part {
    /// The judgements that say one of these words, of items of which more than half do; and how many items are left out.
    fn among(&self, all: &Judgements, words: &[u32]) -> (Self, usize) {
        let takes = |rows: &&[[u32; 3]]| 2 * rows.iter().filter(|row| words.contains(&row[2])).count() > rows.len();
        let items: Vec<u32> = self.by_item().filter(takes).map(|rows| self.of[rows[0][1] as usize]).collect();
        let mut part = all.part(&items);
        part.rows.retain(|row| words.contains(&row[2]));
        // Workers who only said other things take no part.
        let mut workers: Vec<u32> = part.rows.iter().map(|row| row[0]).collect();
        workers.sort_unstable();
        workers.dedup();
        part.rows.iter_mut().for_each(|row| row[0] = workers.binary_search(&row[0]).unwrap_or_default() as u32);
        part.workers = workers.len();
        (part, self.items - items.len())
    }
}

/// Judgements, and whether each counts.
struct Said {
    part: Part,
    yes: Vec<bool>,
}

fn of_judgements(said: &Said, w: &[f64], v: &[f64]) -> Option<(f64, usize)> {
    let (mut yes, mut all) = (0.0, 0.0);
    for (row, counts) in said.part.rows.iter().zip(&said.yes) {
        let weight = w[row[0] as usize] * v[row[1] as usize];
        all += weight;
        yes += if *counts { weight } else { 0.0 };
    }
    (all > 0.0).then(|| (yes / all, 0))
}

fn of_items(said: &Said, w: &[f64], v: &[f64]) -> Option<(f64, usize)> {
    let (mut kept, mut all, mut ties, mut from) = (0.0, 0.0, 0, 0);
    for rows in said.part.by_item() {
        let (times, counts) = (v[rows[0][1] as usize], &said.yes[from..from + rows.len()]);
        from += rows.len();
        let (mut yes, mut votes) = (0.0, 0.0);
        for (row, counts) in rows.iter().zip(counts) {
            votes += w[row[0] as usize];
            yes += if *counts { w[row[0] as usize] } else { 0.0 };
        }
        // Of an item whose workers were not drawn nothing is known.
        if votes > 0.0 {
            all += times;
            kept += if 2.0 * yes > votes { times } else { 0.0 };
            ties += usize::from(2.0 * yes == votes);
        }
    }
    (all > 0.0).then(|| (kept / all, ties))
}
