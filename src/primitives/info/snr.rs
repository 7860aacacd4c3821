//! `info::snr`.

use crate::core::{Error, Result, Tensor, Value};
use crate::primitives::{Args, Example, Kind, Param, Primitive};
use crate::search::snr;

pub static SNR: Primitive = Primitive {
    path: "info::snr",
    purpose: "The signal-to-noise ratio of images and what was added to them.",
    params: &[
        Param::new("x", Kind::Tensor, "images N x C x H x W, or one C x H x W"),
        Param::new("dx", Kind::Tensor, "what was added to each, of the same shape"),
    ],
    options: &[],
    returns: "dB: the mean over images of 20 log10(1 + |x| / |dx|) without those that nothing was added to; inf if that is all",
    notes: "|.| is the Euclidean norm over all pixels of an image. The norm of the signal counts a constant offset too, so images \
            that are centred have a smaller ratio at the same noise.",
    source: "Galloway, Golubeva and Taylor 2018, Section 2",
    examples: &[
        Example { code: "let x = tensor::zeros([2, 1, 8, 8]) + 1;\ninfo::snr(x, x * 0.1)", result: "20.8279" },
        Example { code: "info::snr(tensor::zeros([1, 8, 8]) + 1, tensor::zeros([1, 8, 8]))", result: "inf" },
    ],
    run: |_, args| Ok(Value::Float(mean_db(args)?)),
};

fn mean_db(args: &Args) -> Result<f64> {
    let (x, dx) = (args.tensor("x"), args.tensor("dx"));
    if x.size() != dx.size() {
        return Err(Error::argument(format!("`x` is {:?} and `dx` is {:?}", x.size(), dx.size()))
            .hint("`dx` is what was added: `after - before`"));
    }
    if !(3..=4).contains(&x.dim()) || x.numel() == 0 {
        return Err(Error::argument(format!("images are N x C x H x W or C x H x W, got {:?}", x.size())));
    }
    let images = if x.dim() == 4 { x.size()[0] } else { 1 };
    let flat = |x: &Tensor| -> Result<Tensor> { Ok(x.f_to_kind(tch::Kind::Double)?.f_reshape([images, -1])?) };
    let ratios = Vec::<f64>::try_from(&snr(&flat(&x)?, &flat(&dx)?)?.f_to_device(tch::Device::Cpu)?)?;
    let changed: Vec<f64> = ratios.into_iter().filter(|ratio| *ratio != f64::INFINITY).collect();
    match changed.len() {
        0 => Ok(f64::INFINITY),
        n => Ok(changed.iter().sum::<f64>() / n as f64),
    }
}
