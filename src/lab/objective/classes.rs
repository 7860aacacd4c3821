//! One class of every image that is left or aimed at, against the best other one.

use tch::Device;

use super::way::taken;
use super::{Aim, Way};
use crate::core::{Result, Tensor, on_device};

pub struct Classes {
    /// The class that is left or aimed at, `N x 1`.
    pub class: Tensor,
    /// 1 where it is aimed at, -1 where it is left: `N`, or 1 for all.
    pub sign: Tensor,
    /// The labels, `N x 1`.
    pub own: Tensor,
}

impl Classes {
    /// Aims whose class is not known yet count as away from the label.
    pub fn of(labels: &[i64], aims: &[Aim], device: Device) -> Result<Self> {
        let classes: Vec<i64> = labels.iter().zip(aims).map(|(&y, aim)| aim.target().map_or(y, i64::from)).collect();
        let signs: Vec<f32> = aims.iter().map(|aim| if aim.target().is_some() { 1.0 } else { -1.0 }).collect();
        let column = |numbers: &[i64]| -> Result<Tensor> {
            on_device(&Tensor::f_from_slice(numbers)?.f_reshape([-1, 1])?, device)
        };
        let sign = on_device(&Tensor::f_from_slice(&signs)?, device)?;
        Ok(Self { class: column(&classes)?, sign, own: column(labels)? })
    }
}

/// Of every row the entry in a column of its own: `N`.
fn entry(of: &Tensor, column: &Tensor) -> Result<Tensor> {
    Ok(of.f_gather(1, column, false)?.f_squeeze_dim(1)?)
}

impl Way for Classes {
    fn parts(&self) -> Vec<&Tensor> {
        vec![&self.class, &self.sign, &self.own]
    }

    fn of_parts(&self, parts: &[Tensor]) -> Result<Box<dyn Way>> {
        let [class, sign, own] = taken(parts)?;
        Ok(Box::new(Self { class, sign, own }))
    }

    fn beyond(&self, scores: &Tensor) -> Result<Tensor> {
        let own = entry(scores, &self.class)?;
        let others = scores.f_scatter_value(1, &self.class, f64::NEG_INFINITY)?.f_amax([1], false)?;
        Ok(own.f_sub(&others)?.f_mul(&self.sign.f_to_kind(scores.kind())?)?)
    }

    fn surprise(&self, scores: &Tensor) -> Result<Tensor> {
        Ok(entry(&scores.f_log_softmax(1, None)?, &self.class)?.f_mul(&self.sign)?)
    }

    /// (max_{c != y} f_c - f_y) / (f_(1) - f_(3)), and towards t (f_t - f_y) / (f_(1) - (f_(3) + f_(4)) / 2), f_(i) the i-th highest
    /// score. Where these are all equal there is no ratio, and it is 0.
    fn ratio(&self, scores: &Tensor) -> Result<Tensor> {
        let k = scores.size()[1].min(4);
        let (highest, _) = scores.f_topk(k, 1, true, true)?;
        let at = |place: i64| highest.f_select(1, place.min(k - 1));
        let over = |lead: Tensor, spread: Tensor| -> Result<Tensor> {
            let none = spread.f_eq(0.0)?;
            Ok(lead.f_div(&spread.f_masked_fill(&none, 1.0)?)?.f_masked_fill(&none, 0.0)?)
        };
        let away = over(self.beyond(scores)?, at(0)?.f_sub(&at(2)?)?)?;
        let lead = entry(scores, &self.class)?.f_sub(&entry(scores, &self.own)?)?;
        let to = over(lead, at(0)?.f_sub(&at(2)?.f_add(&at(3)?)?.f_mul_scalar(0.5)?)?)?;
        Ok(to.f_where_self(&self.sign.f_gt(0.0)?, &away)?)
    }

    fn doubt(&self, scores: &Tensor) -> Result<Tensor> {
        let own = entry(&scores.f_softmax(1, None)?, &self.class)?;
        Ok(self.beyond(scores)?.f_where_self(&self.sign.f_gt(0.0)?, &own.f_neg()?)?)
    }
}
