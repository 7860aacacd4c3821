//! What was said of each item.

use super::Judgements;

/// What was said of one item.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemVotes {
    /// Its number.
    pub item: u32,
    /// Words by number, each as often as it was said, the most frequent first.
    pub votes: Vec<(u32, usize)>,
}

impl ItemVotes {
    /// Judgements; questions that were left unanswered are none.
    pub fn judgements(&self) -> usize {
        self.votes.iter().map(|(_, n)| n).sum()
    }

    /// The word that was said most often; none of a tie.
    pub fn vote(&self) -> Option<u32> {
        match self.votes[..] {
            [] => None,
            [first, second, ..] if first.1 == second.1 => None,
            [first, ..] => Some(first.0),
        }
    }

    /// Whether more than half say this; not known where nobody said anything.
    pub fn keeps(&self, word: u32) -> Option<bool> {
        let yes = self.votes.iter().find(|(said, _)| *said == word).map_or(0, |(_, n)| *n);
        (!self.votes.is_empty()).then(|| 2 * yes > self.judgements())
    }

    /// The share of pairs of judgements that differ, from 0 to 1; not known of fewer than two.
    pub fn disagreement(&self) -> Option<f64> {
        let n = self.judgements();
        let same: usize = self.votes.iter().map(|(_, n)| n * (n - 1)).sum();
        (n > 1).then(|| 1.0 - same as f64 / (n * (n - 1)) as f64)
    }
}

impl Judgements {
    /// Of every item, in their order.
    pub fn votes(&self) -> Vec<ItemVotes> {
        let mut counts = vec![vec![0usize; self.words.len()]; self.items.len()];
        for row in &self.rows {
            if let Some(answer) = row.answer {
                counts[row.item as usize][answer as usize] += 1;
            }
        }
        let of = |(item, counts): (usize, Vec<usize>)| {
            let mut votes: Vec<(u32, usize)> =
                counts.into_iter().enumerate().filter(|(_, n)| *n > 0).map(|(word, n)| (word as u32, n)).collect();
            votes.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
            ItemVotes { item: item as u32, votes }
        };
        counts.into_iter().enumerate().map(of).collect()
    }
}
