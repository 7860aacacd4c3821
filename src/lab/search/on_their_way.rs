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
        let eighth = if at_hand(goes_by) { 1 } else { known.len().div_ceil(8).max(1) };
        let going = known.iter().filter(|going| **going).count();
        let mut filling = going.next_multiple_of(eighth) - going;
        let wanted = |(row, going): (i64, bool)| {
            let fills = !going && filling > 0;
            filling -= usize::from(fills);
            (going || fills).then_some(row)
        };
        let rows: Vec<i64> = (0i64..).zip(known).filter_map(wanted).collect();
        on_device(&Tensor::f_from_slice(&rows)?, goes_by.device())
    }
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
