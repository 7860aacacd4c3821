//! Scores of so many binary labels above 0, or below, all at once; the image's own label has no part in it.

use tch::{Device, Kind};

use super::failure::{Failure, Unfit};
use super::way::taken;
use super::{Aim, Loss, Way};
use crate::core::{Result, Tensor, on_device};

/// Binary labels by the places of their scores, each of them once.
#[derive(Debug)]
pub struct Labels {
    pub positive: Vec<i64>,
    pub negative: Vec<i64>,
}

impl Labels {
    /// All places, the positive ones first.
    fn places(&self) -> Vec<i64> {
        [&self.positive[..], &self.negative].concat()
    }
}

impl Failure for Labels {
    fn describe(&self) -> String {
        match self.negative.is_empty() {
            true => format!("labels({:?})", self.positive),
            false => format!("labels({:?}, #{{ negative: {:?} }})", self.positive, self.negative),
        }
    }

    fn check(&self, classes: i64, _: usize) -> std::result::Result<(), Unfit> {
        match self.places().iter().find(|place| !(0..classes).contains(*place)) {
            Some(place) => Err(Unfit::new(format!("the model has no label {place}"), "its scores count from 0")),
            None => Ok(()),
        }
    }

    fn aims(&self, _: usize, _: i64, _: i64) -> Vec<Aim> {
        vec![Aim::Labels((self.positive.len() + self.negative.len()) as i32)]
    }

    fn way(&self, _: &[i64], _: &[Aim], device: Device) -> Result<Box<dyn Way>> {
        let signs = [vec![1f32; self.positive.len()], vec![-1.0; self.negative.len()]].concat();
        let places = on_device(&Tensor::f_from_slice(&self.places())?, device)?;
        Ok(Box::new(Signs { places, sign: on_device(&Tensor::f_from_slice(&signs)?, device)? }))
    }

    fn losses(&self) -> &'static [Loss] {
        &[Loss::Lead, Loss::CrossEntropy]
    }

    fn of_classes(&self) -> bool {
        false
    }

    fn wanted_absent(&self) -> i32 {
        self.negative.len() as i32
    }

    /// How many were as wanted.
    fn label(&self, _: i32, before: i32) -> i32 {
        before
    }
}

struct Signs {
    /// Places of the scores that have a say, `L`.
    places: Tensor,
    /// 1 where a score is to be positive, -1 where negative.
    sign: Tensor,
}

impl Signs {
    /// Scores, larger than 0 where they are as wanted: `N x L`.
    fn signed(&self, scores: &Tensor) -> Result<Tensor> {
        Ok(scores.f_index_select(1, &self.places)?.f_mul(&self.sign.f_to_kind(scores.kind())?)?)
    }
}

impl Way for Signs {
    fn parts(&self) -> Vec<&Tensor> {
        vec![&self.places, &self.sign]
    }

    fn of_parts(&self, parts: &[Tensor]) -> Result<Box<dyn Way>> {
        let [places, sign] = taken(parts)?;
        Ok(Box::new(Self { places, sign }))
    }

    fn beyond(&self, scores: &Tensor) -> Result<Tensor> {
        Ok(self.signed(scores)?.f_amin([1], false)?)
    }

    /// The log of the probability that each is as wanted.
    fn surprise(&self, scores: &Tensor) -> Result<Tensor> {
        Ok(self.signed(scores)?.f_log_sigmoid()?.f_sum_dim_intlist([1i64].as_slice(), false, scores.kind())?)
    }

    /// Over labels the sum of sign(l) |l|^(1/10), l their scores with the sign that is wanted: steep for those that are about to
    /// change, and almost flat for those that are as wanted by far (Dunn's thesis, Section 5.2.6).
    fn climb(&self, scores: &Tensor, lead: f64) -> Result<Tensor> {
        // Where the root is too steep for a step.
        const FLAT: f64 = 1e-3;
        let l = self.signed(scores)?.f_sub_scalar(lead)?;
        let roots = l.f_sign()?.f_mul(&l.f_abs()?.f_add_scalar(FLAT)?.f_pow_tensor_scalar(0.1)?)?;
        Ok(roots.f_sum_dim_intlist([1i64].as_slice(), false, scores.kind())?)
    }

    fn answer(&self, scores: &Tensor, lead: f64) -> Result<Tensor> {
        Ok(self.signed(scores)?.f_gt(lead)?.f_sum_dim_intlist([1i64].as_slice(), false, Kind::Int64)?)
    }
}
