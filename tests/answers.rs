//! What an examination answers does not depend on how its work is divided: on the batch size, on threads, on whether crops
//! share a network's first layers, or on the form that the network comes in.

#![allow(clippy::unwrap_used)]

use crate::toys;
use std::rc::Rc;

use tch::{Device, Tensor};
use viva::core::Cx;
use viva::data::{Dataset, Edge};
use viva::model::{Layer, Model, Module, Options};
use viva::objective::Misclassify;
use viva::search::{Blind, Densities, Examination, Nearest, Row, Search, Strongest, examine};
use viva::space::{Composed, Flip, Space, Translate};

const EPSILON: usize = 2;
const SIDE: usize = 64;
const MARGIN: usize = 3 * EPSILON;

fn network() -> Model {
    let layers = Layer::sequence([
        Layer::conv(32, 5, 1, 2),
        Layer::relu(),
        Layer::max_pool(2, 2),
        Layer::conv(32, 3, 1, 1),
        Layer::relu(),
        Layer::max_pool(2, 2),
        Layer::flatten(),
        Layer::linear(4),
    ]);
    let module = Module::fresh(&layers, [3, SIDE as i64, SIDE as i64], 3, Device::Cpu).unwrap();
    Model::of_module("toy", module).unwrap()
}

/// Noisy images that the network gets right unless they are every fourth.
fn images(cx: &Cx, model: &Model, edge: Edge) -> Dataset {
    let side = if edge == Edge::Wrap { SIDE } else { SIDE + 2 * MARGIN };
    let of = |labels: Vec<i64>| {
        let pixels = toys::noise(labels.len(), 3 * side * side, 7);
        toys::set([3, side, side], pixels, labels, 4, edge)
    };
    let blank = of(vec![0; 16]);
    let predicted = model.predictions(cx, &viva::model::Inputs::Data(&blank)).unwrap();
    of(predicted.iter().enumerate().map(|(i, &label)| if i % 4 == 0 { (label + 1) % 4 } else { label }).collect())
}

/// A space and a search over it.
type Way = (Rc<dyn Space>, Rc<dyn Search>);

fn plan<'a>(model: &'a Model, data: &'a Dataset, (space, search): &Way, batch: Option<usize>) -> Examination<'a> {
    Examination {
        model,
        data,
        space: space.clone(),
        search: search.clone(),
        objective: Misclassify.into(),
        levels: vec![],
        steps: vec![],
        densities: Densities::Required,
        measures: vec![],
        batch,
        seed: 1,
    }
}

fn rows(cx: &Cx, model: &Model, data: &Dataset, way: &Way, batch: Option<usize>) -> Vec<Row> {
    examine(cx, &plan(model, data, way, batch)).unwrap().rows.to_vec()
}

/// Rows whose answers differ, with the smallest distance between two scores of those outcomes; no distance excuses another
/// weight of the same outcome.
fn differing(a: &[Row], b: &[Row]) -> Vec<(u32, f32)> {
    assert_eq!(a.len(), b.len());
    let outcome = |row: &Row| (row.before, row.after, row.point);
    let pairs = a.iter().zip(b).filter(|(a, b)| outcome(a) != outcome(b) || a.weight != b.weight);
    pairs
        .map(|(a, b)| match outcome(a) == outcome(b) {
            true => (a.id, f32::INFINITY),
            false => (a.id, (a.margin - b.margin).abs().min(a.margin.abs()).min(b.margin.abs())),
        })
        .collect()
}

#[test]
fn answers_do_not_depend_on_batches_threads_sharing_or_the_form_of_the_network() {
    let cx = Cx::default();
    let model = network();
    let margin = images(&cx, &model, Edge::Margin(MARGIN));
    let torus = images(&cx, &model, Edge::Wrap);
    let crops = 2 * EPSILON as i64 + 1;
    assert!(model.shift_plan([SIDE as i64; 2], [crops; 2]).is_some(), "these crops share");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.pt");
    let example = margin.images(&[0, 1], Device::Cpu).unwrap();
    let mut forward = |inputs: &[Tensor]| vec![model.logits(&inputs[0]).unwrap()];
    tch::CModule::create_by_tracing("copy", "forward", &[example], &mut forward).unwrap().save(&path).unwrap();
    let copy = viva::model::load(&cx, &path, Options::default()).unwrap();
    assert!(copy.shift_plan([SIDE as i64; 2], [crops; 2]).is_none(), "a program's layers are not known");

    let translate = Translate::new(EPSILON).unwrap();
    let composed: Rc<dyn Space> = Rc::new(Composed::new(&translate, &Flip).unwrap());
    let translate: Rc<dyn Space> = Rc::new(translate);
    let ways: [(&Dataset, Way); 5] = [
        (&margin, (translate.clone(), Rc::new(Strongest::default()))),
        (&margin, (composed.clone(), Rc::new(Strongest::default()))),
        (&margin, (composed.clone(), Rc::new(Blind))),
        (&torus, (translate, Rc::new(Nearest))),
        (&torus, (composed, Rc::new(Blind))),
    ];
    for (number, (data, way)) in ways.into_iter().enumerate() {
        let name = format!("{}, {}", way.0.describe(), way.1.describe());
        let wanted = rows(&cx, &model, data, &way, None);
        let moved = wanted.iter().filter(|row| row.before == row.label && row.after != row.label).count();
        let wrong = wanted.iter().filter(|row| row.before != row.label).count();
        assert!(moved > 2 && wrong > 2, "{name}: {moved} moved and {wrong} wrong of {}", wanted.len());
        viva::core::set_threads(1);
        let alone = rows(&cx, &model, data, &way, Some(5));
        viva::core::set_threads(2);
        let copied = rows(&cx, &copy, data, &way, None);
        let mut others = vec![("one thread, batches of 5", alone), ("its TorchScript copy", copied)];
        // How batches are filled is the same for all ways.
        match number {
            0 => others.push(("batches of 64", rows(&cx, &model, data, &way, Some(64)))),
            3 => others.push(("batches of 1", rows(&cx, &model, data, &way, Some(1)))),
            _ => {}
        }
        for (what, other) in others {
            let differing = differing(&wanted, &other);
            let close = differing.iter().filter(|(_, apart)| *apart < 1e-4).count();
            assert_eq!(close, differing.len(), "{name}, {what}: {differing:?}");
            assert!(close <= 1, "{name}, {what}: {close} of {} images are that close", wanted.len());
        }
    }
}

/// A network that could take images of any size is held to the one that it was made for, whether or not crops share.
#[test]
fn images_of_another_size_are_refused() {
    let cx = Cx::default();
    let pooled = |side: i64| {
        let layers = Layer::sequence([
            Layer::conv(32, 5, 1, 2),
            Layer::relu(),
            Layer::conv(32, 3, 1, 1),
            Layer::adaptive_avg_pool([1, 1]),
            Layer::flatten(),
            Layer::linear(4),
        ]);
        Model::of_module("pooled", Module::fresh(&layers, [3, side, side], 3, Device::Cpu).unwrap()).unwrap()
    };
    let data = images(&cx, &network(), Edge::Wrap);
    let way: Way = (Rc::new(Translate::new(EPSILON).unwrap()), Rc::new(Strongest::default()));
    assert_eq!(rows(&cx, &pooled(SIDE as i64), &data, &way, None).len(), data.len());
    let error = examine(&cx, &plan(&pooled(48), &data, &way, None)).err().unwrap();
    assert!(error.message.contains("takes 3 x 48 x 48 images, got 3 x 64 x 64"), "{}", error.message);
}
