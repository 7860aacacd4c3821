//! Networks in fewer kernels, for what has no gradients: a GPU does a convolution, the sum and the rectifier behind it in one, which reads
//! and writes what flows between layers once in place of three times, most of what half precision takes. Other layers say themselves what they
//! do in one.
//!
//! libtorch does not tell these kernels that they must be deterministic: each is tried before it is trusted.

use super::convolution::Convolution;
use super::sequence::in_sequence;
use super::step::{Branch, Mode, Node, Sharing, Step, node};
use super::tried_kernel::TriedKernel;
use crate::core::{Result, Tensor};

/// The same for evaluations without gradients.
pub fn fused(of: &Node) -> Node {
    let each = |branches: &[Branch]| branches.iter().map(|parts| in_sequence(in_few_kernels(parts))).collect();
    match of.sharing() {
        Sharing::Sequence(parts) => in_sequence(in_few_kernels(parts)),
        Sharing::Sum(branches) => node(FusedSum(each(&branches))),
        Sharing::Concat(branches) => node(FusedConcat(each(&branches))),
        Sharing::Nothing | Sharing::Point(_) | Sharing::Window(..) => {
            of.without_gradients().unwrap_or_else(|| of.clone())
        }
    }
}

/// Nodes that follow one another.
fn in_few_kernels(parts: Branch) -> Vec<Node> {
    let mut done: Vec<Node> = Vec::with_capacity(parts.len());
    for (i, (_, part)) in parts.iter().enumerate() {
        // A rectifier may stand behind a pooling that comes to the same before it and after it.
        let back = 1 + usize::from(i > 0 && parts[i - 1].1.before_rectifier());
        let one = (i >= back && part.rectifies()).then(|| rectified(&parts[i - back].1)).flatten();
        match one {
            Some(one) => {
                let at = done.len() - back;
                done[at] = one;
            }
            None => done.push(fused(part)),
        }
    }
    done
}

/// What a node and a rectifier behind it do, if one kernel does that.
fn rectified(of: &Node) -> Option<Node> {
    // Depthwise convolutions take up to eight times as long so (cuDNN 9.19, H100, bfloat16), and other groups gain little.
    let alone = |of: &Node| of.convolution().is_some_and(|convolution| convolution.groups == 1);
    if alone(of) {
        return Some(node(RectifiedConv { conv: of.clone(), kernel: tried("rectified", of) }));
    }
    let Sharing::Sum(branches) = of.sharing() else { return None };
    let [body, beside] = &branches[..] else { return None };
    let ((_, last), before) = body.split_last().filter(|((_, last), _)| alone(last))?;
    let [before, beside] = [before, beside].map(|parts| in_sequence(in_few_kernels(parts)));
    Some(node(RectifiedSum { before, last: last.clone(), beside, kernel: tried("rectified sum", last) }))
}

/// The trials of kernels that do what a convolution does and this behind it.
fn tried(what: &str, of: &Node) -> TriedKernel {
    match of.convolution() {
        Some(convolution) => {
            let Convolution { window, groups, .. } = convolution;
            TriedKernel::of(&format!("{what} {window:?} {groups}"), &convolution.weights())
        }
        None => TriedKernel::default(),
    }
}

struct FusedSum(Vec<Node>);

impl Step for FusedSum {
    fn forward(&self, x: &Tensor, mode: Mode) -> Result<Tensor> {
        let mut branches = self.0.iter().map(|branch| branch.forward(x, mode));
        let first = branches.next().unwrap_or_else(|| Ok(x.shallow_clone()))?;
        branches.try_fold(first, |sum, next| Ok(sum.f_add(&next?)?))
    }
}

struct FusedConcat(Vec<Node>);

impl Step for FusedConcat {
    fn forward(&self, x: &Tensor, mode: Mode) -> Result<Tensor> {
        let outs = self.0.iter().map(|branch| branch.forward(x, mode)).collect::<Result<Vec<_>>>()?;
        Ok(Tensor::f_cat(&outs, 1)?)
    }
}

/// A convolution and a rectifier.
struct RectifiedConv {
    conv: Node,
    kernel: TriedKernel,
}

impl Step for RectifiedConv {
    fn forward(&self, x: &Tensor, mode: Mode) -> Result<Tensor> {
        let Some(conv) = self.conv.convolution().filter(|convolution| convolution.gives(&x.size()).is_some()) else {
            return Ok(self.conv.forward(x, mode)?.f_relu_()?);
        };
        let kernel = |all: &[&Tensor]| conv.with(&all[1..]).rectified(all[0]);
        let layers = |all: &[&Tensor]| Ok(conv.with(&all[1..]).forward(all[0])?.f_relu_()?);
        self.kernel.run(&[x], &conv.weights(), &kernel, &layers)
    }
}

/// A convolution at the end of a residual's body, the sum, and a rectifier.
struct RectifiedSum {
    before: Node,
    last: Node,
    beside: Node,
    kernel: TriedKernel,
}

impl Step for RectifiedSum {
    fn forward(&self, x: &Tensor, mode: Mode) -> Result<Tensor> {
        let (body, beside) = (self.before.forward(x, mode)?, self.beside.forward(x, mode)?);
        let fits = |convolution: &Convolution| convolution.gives(&body.size()) == Some(beside.size());
        let Some(last) = self.last.convolution().filter(fits) else {
            return Ok(self.last.forward(&body, mode)?.f_add(&beside)?.f_relu_()?);
        };
        let kernel = |all: &[&Tensor]| last.with(&all[2..]).rectified_sum(all[0], all[1]);
        let layers = |all: &[&Tensor]| Ok(last.with(&all[2..]).forward(all[0])?.f_add(all[1])?.f_relu_()?);
        self.kernel.run(&[&body, &beside], &last.weights(), &kernel, &layers)
    }
}

#[cfg(test)]
mod tests {
    use tch::{Device, Kind};

    use super::*;
    use crate::core::Error;
    use crate::model::layer::{Layer, MaxPool};
    use crate::model::module::{Module, steps};
    use crate::model::{memory_format, zoo};

    fn frozen(layers: &Layer, side: i64) -> Result<Module> {
        let module = Module::fresh(layers, [3, side, side], 1, Device::Cpu)?;
        module.set_trainable(false)?;
        module.frozen()
    }

    fn mixed() -> Layer {
        let pool = || -> Layer { MaxPool { size: 2, stride: 2, pad: 0, ceil: false }.into() };
        let body = [Layer::conv_bare(8, 3, 1, 1), Layer::batch_norm(), Layer::relu(), Layer::conv(8, 1, 1, 0)];
        let body = body.into_iter().enumerate().map(|(i, layer)| (i.to_string(), layer)).collect();
        Layer::sequence([
            Layer::conv_bare(8, 3, 1, 1),
            Layer::batch_norm(),
            Layer::relu(),
            Layer::conv(8, 3, 1, 1),
            pool(),
            Layer::relu(),
            Layer::conv_depthwise(8, 3, 1, 1),
            Layer::relu(),
            Layer::residual(body, vec![]),
            Layer::relu(),
            Layer::flatten(),
            Layer::linear(10),
        ])
    }

    /// Without cuDNN every kernel falls back to its layers, so that what is tested is which layers stand where.
    #[test]
    fn fewer_kernels_come_to_the_same() -> Result<()> {
        let mut networks = vec![mixed()];
        for name in ["resnet18", "resnet50", "vgg11_bn", "squeezenet1_1", "mobilenet_v2"] {
            networks.push((zoo::find(name)?.layers)(10));
        }
        for layers in networks {
            let frozen = frozen(&layers, 64)?;
            let x = Tensor::f_rand([2, 3, 64, 64], (Kind::Float, Device::Cpu))?;
            let x = memory_format::channels_last(&x)?;
            let roots = [frozen.root.clone(), fused(&frozen.root)];
            let [one, other] = roots.map(|root| tch::no_grad(|| root.forward(&x, Mode::Evaluate)));
            let (one, other) = (one?, other?);
            if one != other {
                return Err(Error::internal(format!("{layers:?}: {}", (one - other).abs().max())));
            }
        }
        Ok(())
    }

    #[test]
    fn rectifiers_go_with_the_convolution_before_them() -> Result<()> {
        let frozen = frozen(&mixed(), 16)?;
        let parts = steps(&frozen.root);
        let named: Vec<(String, Node)> = parts.iter().map(|part| (String::new(), (*part).clone())).collect();
        // Batch norms are gone already. What is left stands behind the channels in groups.
        assert_eq!(parts.iter().filter(|part| part.rectifies()).count(), 4);
        let left: Vec<bool> = in_few_kernels(&named).iter().map(|part| part.rectifies()).collect();
        assert_eq!(left, [false, false, false, false, true, false, false, false]);
        Ok(())
    }
}
