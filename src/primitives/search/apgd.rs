//! `search::apgd`.

use std::rc::Rc;

use crate::core::{Error, Value};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, Words};
use crate::search::{AnySearch, Apgd, BimStart};

static STARTS: Words<BimStart, 2> = Words::new([("random", BimStart::Random), ("image", BimStart::Image)]);

pub static APGD: Primitive = Primitive {
    path: "search::apgd",
    purpose: "Auto-PGD: projected gradient ascent with momentum that finds its own step sizes.",
    params: &[],
    options: &[
        Param::new("steps", Kind::Int, "of one way").range(1.0, 1e6).or(Fallback::Int(100)),
        Param::new(
            "start",
            STARTS.kind(),
            "anywhere in the ball, drawn evenly for each image by itself, or at the image",
        )
        .or(Fallback::Str("random")),
        Param::new("restarts", Kind::Int, "how many random starts").range(1.0, 1e4).or(Fallback::Int(1)),
    ],
    returns: "a Search",
    notes: "It needs a ball: `radius` of the space, or `levels` of examine, each of which is searched by itself. Steps begin at twice the radius and are \
            halved, at checkpoints that follow from `steps`, where fewer than three in four of them raised the loss or the best point is no \
            better than at the checkpoint before; the search then goes on from the best point. An image that fails ends there and makes room for the \
            next, so `step` of a row tells how often it was scored. One that does not fail is where its loss was highest.\n\n\
            In l1 a step has no momentum, begins at the radius and changes the pixels alone where the gradient is largest: a fifth of all at first, \
            after every 25th part of the steps two thirds of as many as have changed at the best point. A random start is normal noise brought back into \
            the ball and the bounds, which changes a few pixels by much.\n\n\
            What is followed is the objective's loss: the cross entropy, or what `.loss(\"dlr\")` and others say. The difference of logits \
            ratio (\"dlr\") does not change with the scale of logits, by which the cross entropy's gradient vanishes. AutoAttack's APGD-CE and \
            APGD-T are this with `objective::misclassify()` and with `objective::each_wrong().loss(\"dlr\")`.\n\n\
            `vanished` is true of an image whose gradient was 0, or no number anywhere, wherever it was looked at.\n\n\
            It goes over pixels, activations (space::latent), and factors that have ranges: of space::rotate, affine, hue, render, factors, and \
            products of these. How images change with such a factor is told by drawing two more for each factor and step, a 256th of the way to its ends \
            to both sides, so that a closure of yours need not be differentiable; a step's direction is a sign for every factor, and the ball is the \
            box that a level allows. Factors that are chosen from a list have to be given one value; what is drawn by chance is drawn once for \
            each start and held, as noise in `space::noise(0.1) * space::rotate(30)`. Where an image stays as it stands its factors are ().",
    source: "Croce and Hein 2020, Reliable evaluation of adversarial robustness with an ensemble of diverse parameter-free attacks, Algorithm 1 and Section 3; in l1 Croce and Hein 2021, Mind the Box; over rotations and shifts, Engstrom et al. 2019",
    examples: &[
        Example { code: "search::apgd()", result: "search apgd(#{ steps: 100 })" },
        Example {
            code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
                   let how = #{ space: space::pixels(\"linf\", #{ radius: 0.2, bounds: [0, 1] }), search: search::apgd(#{ steps: 20 }) };\n\
                   examine(f, ds, how).filter(|row| row.after == row.label).len()",
            result: "0",
        },
        Example {
            code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
                   let t = examine(f, ds, #{ space: space::rotate(60, #{ fill: 0.0 }), search: search::apgd(#{ steps: 20 }), seed: 1 });\n\
                   t.filter(|row| row.magnitude > 60).len()",
            result: "0",
        },
    ],
    run: |_, args| {
        let (steps, start, restarts) =
            (args.count("steps") as u32, STARTS.of(args, "start"), args.count("restarts") as u32);
        if start == BimStart::Image && restarts > 1 {
            return Err(Error::argument(format!("search::apgd: {restarts} restarts at the image would go one way"))
                .hint("`start: \"random\"` begins elsewhere each time"));
        }
        if restarts.checked_mul(steps + 1).is_none_or(|turns| turns == u32::MAX) {
            return Err(Error::argument("search::apgd: more steps and restarts than can be counted"));
        }
        Ok(Value::object(AnySearch(Rc::new(Apgd { steps, start, restarts }))))
    },
};
