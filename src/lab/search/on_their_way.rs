//! Which cases of a batch are on their way still, as the host knows it, which asks about no others and stops when none is left.
//!
//! On a GPU it goes by what held a step before: that answer is there while the device works on the last step, where one that is asked for
//! now would have to be waited for. A case that has ended is taken on once more in vain, and what comes of it must be left out.

use tch::{Device, Kind};

use crate::core::{Error, Late, Result, Tensor, on_device};

/// What is known goes by the order of the cases; when that changes, a new one asks again.
#[derive(Default)]
pub struct OnTheirWay {
    known: Option<Vec<bool>>,
    asked: Option<Late>,
}

impl OnTheirWay {
    /// As a batch of cases sets out.
    pub fn all(cases: usize) -> Self {
        Self { known: Some(vec![true; cases]), asked: None }
    }

    /// After a step before which some cases were on their way, and after which some `are`, a truth per case: what the next step goes by, to be
    /// remembered with the batch, and whether there is to be one.
    pub fn after(&mut self, were: &Tensor, are: &Tensor) -> Result<(Tensor, bool)> {
        let (goes_by, known) = match are.device() {
            Device::Cpu => (are, numbers(are)?),
            _ => {
                let asked = self.asked.replace(Late::of(are)?);
                let known = match (asked, self.known.take()) {
                    (Some(asked), _) => numbers(&asked.told()?)?,
                    (None, Some(known)) => known,
                    (None, None) => numbers(were)?,
                };
                (were, known)
            }
        };
        let any = known.contains(&true);
        self.known = Some(known);
        Ok((goes_by.shallow_clone(), any))
    }

    /// The places of the cases that the next step goes by, as an index; `goes_by`: what `after` said of them. A GPU prepares itself for every size
    /// of a batch that it has not met, so that there cases which have come to their end fill the last eighth; what is told of them changes
    /// nothing.
    pub fn rows(&self, goes_by: &Tensor) -> Result<Tensor> {
        let known = match &self.known {
            Some(known) => known.clone(),
            None => numbers(goes_by)?,
        };
        let size = if at_hand(goes_by) { 1 } else { known.len().div_ceil(8).max(1) };
        let rows = filled(&known, size);
        on_device(&Tensor::f_from_slice(&rows)?, goes_by.device())
    }
}

/// The places of cases that are going, in their order, and of as many others as make their number a multiple of `size`.
fn filled(known: &[bool], size: usize) -> Vec<i64> {
    let going = known.iter().filter(|going| **going).count();
    let mut filling = going.next_multiple_of(size) - going;
    let wanted = |(row, &going): (i64, &bool)| {
        let fills = !going && filling > 0;
        filling -= usize::from(fills);
        (going || fills).then_some(row)
    };
    (0i64..).zip(known).filter_map(wanted).collect()
}

/// Whether truths are at hand without waiting for a device.
pub(super) fn at_hand(of: &Tensor) -> bool {
    of.device() == Device::Cpu
}

fn numbers(truths: &Tensor) -> Result<Vec<bool>> {
    if truths.kind() != Kind::Bool {
        return Err(Error::internal("cases that are on their way by more than a truth each"));
    }
    Ok(Vec::try_from(&truths.f_to_device(Device::Cpu)?)?)
}

#[cfg(test)]
mod tests {
    use super::filled;

    #[test]
    fn batches_shrink_by_eighths_and_keep_all_that_is_going() {
        let mut sizes = std::collections::BTreeSet::new();
        for left in 0..=40 {
            let known: Vec<bool> = (0..40).map(|row| row * 7 % 40 < left).collect();
            let rows = filled(&known, 5);
            assert!(rows.is_sorted() && (0..40).filter(|&row| known[row]).all(|row| rows.contains(&(row as i64))));
            assert!(rows.len() >= left && rows.len() < left + 5, "{left}: {rows:?}");
            sizes.insert(rows.len());
            assert_eq!(filled(&known, 1).len(), left);
        }
        assert_eq!(sizes.len(), 9);
        // The last part of a batch that eight does not divide has no more than the batch.
        assert_eq!(filled(&[true; 9], 2).len(), 9);
    }
}
