//! Small data sets and networks whose outcomes can be worked out by other means.
#![allow(clippy::unwrap_used)]

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use rand::Rng;
use tch::{Device, Kind, Tensor};
use viva::core::{Cx, Digest, Result, Value, random};
use viva::data::{Dataset, Edge, Source};
use viva::model::{Model, Network};
use viva::objective::Misclassify;
use viva::search::{Densities, Examination, Search, Transcript, examine};
use viva::space::{Space, Translate};

pub struct Pixels {
    pub shape: [usize; 3],
    pub images: Vec<Vec<f32>>,
}

impl Source for Pixels {
    fn len(&self) -> usize {
        self.images.len()
    }

    fn shape(&self) -> [usize; 3] {
        self.shape
    }

    fn read(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        pixels.copy_from_slice(&self.images[index]);
        Ok(())
    }
}

pub fn set(shape: [usize; 3], images: Vec<Vec<f32>>, labels: Vec<i64>, classes: usize, edge: Edge) -> Dataset {
    let classes = (0..classes).map(|c| c.to_string()).collect();
    Dataset::new("toy", Arc::new(Pixels { shape, images }), labels, classes, edge, Digest::of(b"toy")).unwrap()
}

/// Images of multiples of 1/4: with small integer weights every sum is exact, whatever the batch.
pub fn noise(n: usize, pixels: usize, seed: u64) -> Vec<Vec<f32>> {
    let mut rng = random(seed, 0);
    (0..n).map(|_| (0..pixels).map(|_| rng.gen_range(0..=4) as f32 / 4.0).collect()).collect()
}

pub fn integers(shape: &[i64], most: i64, seed: u64) -> Tensor {
    let mut rng = random(seed, 1);
    let n: i64 = shape.iter().product();
    let values: Vec<f32> = (0..n).map(|_| rng.gen_range(-most..=most) as f32).collect();
    Tensor::from_slice(&values).reshape(shape)
}

pub fn gaussian(shape: &[i64], seed: u64) -> Tensor {
    viva::core::with_stream(seed, 7, || Tensor::randn(shape, (Kind::Float, Device::Cpu)))
}

/// `N x C x H x W` times `(C H W) x K`; scores in steps of `quantum` where that is above 0, so that they tie.
pub struct Linear {
    pub weights: Tensor,
    pub quantum: f64,
}

impl Network for Linear {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let scores = images.f_flatten(1, -1)?.f_matmul(&self.weights)?;
        if self.quantum == 0.0 { Ok(scores) } else { Ok((scores / self.quantum).round() * self.quantum) }
    }
}

/// A 3 x 3 convolution without padding, a rectifier, and the linear layer over all positions.
pub struct Conv {
    pub kernel: Tensor,
    pub head: Linear,
}

impl Network for Conv {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let hidden = images.f_conv2d::<Tensor>(&self.kernel, None, [1, 1], [0, 0], [1, 1], 1)?.f_relu()?;
        self.head.forward(&hidden)
    }
}

/// What passed through a network: how many images, in how many calls, and whether one came twice.
#[derive(Default)]
pub struct Seen {
    pub images: Cell<usize>,
    pub calls: Cell<usize>,
    pub repeated: Cell<usize>,
    digests: RefCell<HashSet<Digest>>,
}

impl Seen {
    /// Begins to count again, after the few images that every model is asked about before it is examined.
    pub fn after_first_look(&self, model: &Model, data: &Dataset) {
        model.check_fits(&Cx::default(), data).unwrap();
        self.images.set(0);
        self.calls.set(0);
        self.repeated.set(0);
        self.digests.borrow_mut().clear();
    }
}

pub struct Counting {
    pub network: Box<dyn Network>,
    pub seen: Rc<Seen>,
}

impl Network for Counting {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let n = images.size()[0];
        self.seen.images.set(self.seen.images.get() + n as usize);
        self.seen.calls.set(self.seen.calls.get() + 1);
        for i in 0..n {
            if !self.seen.digests.borrow_mut().insert(Digest::of_tensor(&images.get(i))?) {
                self.seen.repeated.set(self.seen.repeated.get() + 1);
            }
        }
        self.network.forward(images)
    }
}

pub fn model(network: impl Network + 'static) -> Model {
    Model::new("toy", Box::new(network), Digest::of(b"toy model"))
}

/// Labels that the model gets right on about `share` of the images.
pub fn labels(model: &Model, unlabelled: &Dataset, classes: i64, share: f64, seed: u64) -> Vec<i64> {
    let rows: Vec<usize> = (0..unlabelled.len()).collect();
    let scores = model.logits(&unlabelled.images(&rows, Device::Cpu).unwrap()).unwrap();
    let predicted = Vec::<i64>::try_from(scores.argmax(1, false)).unwrap();
    let mut rng = random(seed, 2);
    predicted.into_iter().map(|p| if rng.gen_bool(share) { p } else { rng.gen_range(0..classes) }).collect()
}

pub fn run(cx: &Cx, model: &Model, data: &Dataset, eps: usize, search: Rc<dyn Search>, batch: usize) -> Transcript {
    run_over(cx, model, data, Rc::new(Translate::new(eps).unwrap()), search, batch).unwrap()
}

pub fn run_over(
    cx: &Cx,
    model: &Model,
    data: &Dataset,
    space: Rc<dyn Space>,
    search: Rc<dyn Search>,
    batch: usize,
) -> Result<Transcript> {
    let plan = Examination {
        model,
        data,
        space,
        search,
        objective: Misclassify.into(),
        levels: vec![],
        steps: vec![],
        densities: Densities::Required,
        measures: vec![],
        batch: Some(batch),
        seed: 0,
    };
    examine(cx, &plan)
}

pub fn options(pairs: &[(&str, Value)]) -> Value {
    let map: BTreeMap<String, Value> = pairs.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
    Value::Map(map)
}

pub fn call(cx: &Cx, path: &str, arguments: Vec<Value>) -> Result<Value> {
    viva::primitives::find(path).unwrap_or_else(|| panic!("no primitive {path}")).call(cx, arguments)
}
