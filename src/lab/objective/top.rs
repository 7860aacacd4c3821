//! The right label not among the highest scores: what "top-5 error" counts.

use tch::{Device, Kind};

use super::failure::{Failure, Unfit};
use super::way::taken;
use super::{Aim, Loss, Way};
use crate::core::{Result, Tensor, on_device};

/// Not among so many.
#[derive(Debug)]
pub struct Top(pub i64);

impl Failure for Top {
    fn describe(&self) -> String {
        format!("top({})", self.0)
    }

    fn check(&self, classes: i64, _: usize) -> std::result::Result<(), Unfit> {
        match self.0 < classes {
            true => Ok(()),
            false => Err(Unfit::new(
                format!("every label is among the {} highest of {classes} scores", self.0),
                "objective::top(k) needs more than k classes",
            )),
        }
    }

    fn way(&self, labels: &[i64], _: &[Aim], device: Device) -> Result<Box<dyn Way>> {
        let label = on_device(&Tensor::f_from_slice(labels)?.f_reshape([-1, 1])?, device)?;
        Ok(Box::new(Highest { k: self.0, label }))
    }

    fn losses(&self) -> &'static [Loss] {
        &[Loss::Lead, Loss::Margin, Loss::CrossEntropy]
    }

    fn of_the_highest(&self) -> bool {
        false
    }
}

struct Highest {
    k: i64,
    /// `N x 1`.
    label: Tensor,
}

impl Way for Highest {
    fn parts(&self) -> Vec<&Tensor> {
        vec![&self.label]
    }

    fn of_parts(&self, parts: &[Tensor]) -> Result<Box<dyn Way>> {
        let [label] = taken(parts)?;
        Ok(Box::new(Self { k: self.k, label }))
    }

    /// The k-th highest score among the other classes minus the label's.
    fn beyond(&self, scores: &Tensor) -> Result<Tensor> {
        let own = scores.f_gather(1, &self.label, false)?.f_squeeze_dim(1)?;
        let others = scores.f_scatter_value(1, &self.label, f64::NEG_INFINITY)?;
        let (highest, _) = others.f_topk(self.k, 1, true, true)?;
        Ok(highest.f_select(1, self.k - 1)?.f_sub(&own)?)
    }

    fn surprise(&self, scores: &Tensor) -> Result<Tensor> {
        Ok(scores.f_log_softmax(1, None)?.f_gather(1, &self.label, false)?.f_squeeze_dim(1)?.f_neg()?)
    }

    /// The label where it is among the highest, else the class with the highest score.
    fn answer(&self, scores: &Tensor, _: f64) -> Result<Tensor> {
        let own = scores.f_gather(1, &self.label, false)?;
        // Of equal scores the first counts, as where the highest of all does.
        let places = Tensor::f_arange(scores.size()[1], (Kind::Int64, scores.device()))?.f_unsqueeze(0)?;
        let first = scores.f_eq_tensor(&own)?.f_logical_and(&places.f_lt_tensor(&self.label)?)?;
        let before = scores.f_gt_tensor(&own)?.f_logical_or(&first)?;
        let among = before.f_sum_dim_intlist([1i64].as_slice(), false, Kind::Int64)?.f_lt(self.k)?;
        Ok(self.label.f_squeeze_dim(1)?.f_where_self(&among, &scores.f_argmax(1, false)?)?)
    }
}
