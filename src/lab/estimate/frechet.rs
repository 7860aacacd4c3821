//! How far images are from real ones in a classifier's features.

use rand::seq::SliceRandom;
use tch::{Kind, Tensor};

use crate::core::{Cautions, Digest, Error, Object, Result, Value, random, significant};

/// The part of a distance from which on it is said that chance makes it.
const TOLD: f64 = 0.1;

/// The Frechet distance between two sets of images, and how much of it chance makes.
#[derive(Debug, Clone)]
pub struct FrechetDistance {
    pub value: f64,
    /// What images of the same kind, as many, would be apart: the distance of two halves of the real ones, for as many images as there are.
    /// It falls as 1 over the number of images (Chong and Forsyth 2020). Not a number where halves have no covariance.
    pub chance: f64,
    /// Images, real images, features.
    pub sizes: [i64; 3],
    cautions: Cautions,
}

impl FrechetDistance {
    /// Between the features `N x D` of images and of real ones; `noticed`: of both and of who told the features.
    pub fn new(images: &Tensor, real: &Tensor, noticed: Cautions) -> Result<Self> {
        let value = between(images, real)?;
        let ((n, features), (m, _)) = (images.size2()?, real.size2()?);
        let mut rows: Vec<i64> = (0..m).collect();
        rows.shuffle(&mut random(0, m as u64));
        let (first, second) = rows.split_at(rows.len() / 2);
        let half = |rows: &[i64]| -> Result<Tensor> {
            Ok(real.f_index_select(0, &Tensor::f_from_slice(rows)?.f_to_device(real.device())?)?)
        };
        let chance = match first.len() {
            0 | 1 => f64::NAN,
            // Each half adds what falls as 1 / N, twice what all would, and so do the images.
            _ => between(&half(first)?, &half(second)?)? / 4.0 * (1.0 + m as f64 / n as f64),
        };
        let mut cautions = noticed;
        if chance.is_nan() {
            cautions.add(format!("{m} real images are too few to tell what chance makes of such a distance"));
        } else if chance >= value {
            cautions.add(format!(
                "it is no more than chance makes of {n} and {m} images of one kind in {features} features, {}",
                significant(chance, 2)
            ));
        } else if n <= features || m <= features {
            cautions.add(format!(
                "{n} and {m} images for {features} features, where there should be many times as many: about {} of {} is what chance makes of images of one \
                 kind, by halves that are too few themselves",
                significant(chance, 2),
                significant(value, 3)
            ));
        } else if chance > TOLD * value {
            cautions.add(format!(
                "{} of {} is what chance makes of {n} and {m} images of one kind in {features} features: of more images it is less",
                significant(chance, 2),
                significant(value, 3)
            ));
        }
        Ok(Self { value, chance, sizes: [n, m, features], cautions })
    }
}

impl Object for FrechetDistance {
    fn kind(&self) -> &'static str {
        "FrechetDistance"
    }

    fn summary(&self) -> String {
        let [n, m, features] = self.sizes;
        format!(
            "Frechet distance {} of {n} images from {m} real ones in {features} features, {} by chance{}",
            significant(self.value, 4),
            significant(self.chance, 2),
            self.cautions.ending()
        )
    }

    fn fields(&self) -> &'static [&'static str] {
        &["fid", "chance", "images", "real", "features", "cautions"]
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        Ok(Some(match name {
            "fid" => Value::Float(self.value),
            "chance" => Value::Float(self.chance),
            "images" => Value::Int(self.sizes[0]),
            "real" => Value::Int(self.sizes[1]),
            "features" => Value::Int(self.sizes[2]),
            "cautions" => self.cautions.value(),
            _ => return Ok(None),
        }))
    }

    fn json(&self) -> serde_json::Value {
        let [images, real, features] = self.sizes;
        serde_json::json!({
            "fid": self.value, "chance": self.chance, "images": images, "real": real, "features": features,
            "cautions": self.cautions.json(),
        })
    }

    fn digest(&self) -> Digest {
        Digest::of(self.json().to_string().as_bytes())
    }
}

/// |m1 - m2|^2 + tr(C1 + C2 - 2 (C1 C2)^(1/2)) of two normal distributions with the means and covariances of features `N x D` (Heusel et al.
/// 2017), in double precision. Covariances divide by N - 1.
fn between(a: &Tensor, b: &Tensor) -> Result<f64> {
    // The mean, and a matrix A with at most D rows whose A' A is the covariance.
    let moments = |x: &Tensor| -> Result<(Tensor, Tensor)> {
        let (n, d) = x.size2()?;
        if n < 2 {
            return Err(Error::data(format!("a covariance needs 2 images or more, got {n}")));
        }
        let x = x.f_to_kind(Kind::Double)?;
        let mean = x.f_mean_dim([0i64].as_slice(), false, Kind::Double)?;
        let root = x.f_sub(&mean)?.f_div_scalar(((n - 1) as f64).sqrt())?;
        Ok((mean, if n > d { Tensor::f_linalg_qr(&root, "r")?.1 } else { root }))
    };
    if a.size2()?.1 != b.size2()?.1 {
        return Err(Error::data("features of one size are needed"));
    }
    let ((mean_a, root_a), (mean_b, root_b)) = (moments(a)?, moments(b)?);
    let square = |x: &Tensor| -> Result<f64> { Ok(x.f_square()?.f_sum(Kind::Double)?.f_double_value(&[])?) };
    // The eigenvalues of A' A B' B are the squared singular values of A B'.
    let product = root_a.f_matmul(&root_b.f_tr()?)?;
    let both = product.f_linalg_norm_ord_str("nuc", [0i64, 1].as_slice(), false, Kind::Double)?.f_double_value(&[])?;
    let distance = square(&mean_a.f_sub(&mean_b)?)? + square(&root_a)? + square(&root_b)? - 2.0 * both;
    if distance.is_finite() { Ok(distance.max(0.0)) } else { Err(Error::data("features that are not finite numbers")) }
}
