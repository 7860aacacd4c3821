//! `search::bim`.

use std::rc::Rc;

use crate::core::{Error, Value};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, Words};
use crate::search::{AnySearch, Bim, BimStart, Gradient, Schedule};

static SCHEDULES: Words<Schedule, 3> =
    Words::new([("constant", Schedule::Constant), ("growing", Schedule::Growing), ("galloway", Schedule::Galloway)]);
static STARTS: Words<BimStart, 2> = Words::new([("image", BimStart::Image), ("random", BimStart::Random)]);
static GRADIENTS: Words<Gradient, 2> = Words::new([("own", Gradient::Own), ("mean", Gradient::Mean)]);

pub static BIM: Primitive = Primitive {
    path: "search::bim",
    purpose: "The basic iterative method: steps along the gradient, away from the label or towards a target.",
    params: &[],
    options: &[
        Param::new("steps", Kind::Int, "how many").range(1.0, 1e7).or(Fallback::Int(40)),
        Param::new("step", Kind::Float, "size of a step in the space's norm and unit")
            .range(1e-12, 1e6)
            .or(Fallback::Absent("1 in l1, 0.1 in l2 and 0.01 in linf, of factors times the largest level; the first is 0.01, 0.001 and 0.0001 if they grow, 0.01 in l2 and 0.0001 in linf for \"galloway\"")),
        Param::new(
            "schedule",
            SCHEDULES.kind(),
            "all steps alike; step i so many times the first; or each larger than the one before by 0.0001 until they reach 0.1",
        )
        .or(Fallback::Str("constant")),
        Param::new(
            "gradient",
            GRADIENTS.kind(),
            "of each image's own loss, or of the mean loss with 1e-12 as the least squared length, as the authors' code has it",
        )
        .or(Fallback::Str("own")),
        Param::new("start", STARTS.kind(), "at the image, or anywhere in the ball around it, drawn evenly for each image by itself")
            .or(Fallback::Str("image")),
        Param::new("restarts", Kind::Int, "how many random starts; the end that is farthest beyond the objective counts")
            .range(1.0, 1e4)
            .or(Fallback::Int(1)),
    ],
    returns: "a Search",
    notes: "x + eps g / |g| in l2, x + eps sign(g) in linf, g the gradient of the cross entropy of the label, or minus that of the target; in l1 the hundredth of \
            all pixels where g is largest, of those that bounds let move, changes by the same. \
            Images are not projected unless the space has a radius (`radius`, or `levels`), nor clipped unless it has `bounds`; with \
            both it is projected gradient descent (PGD), by `start: \"random\"` with a random start, drawn from the seed of examine. It goes all its steps, also when an image fails \
            earlier: `at_steps: \"all\"` of examine notes every one of them, so that one trajectory gives a whole curve.\n\n\
            `vanished` is true of an image whose gradient was 0, or no number anywhere, at some step, where it stays put. With gradient: \"mean\" it is where the \
            squared length is below 1e-12: there steps shrink to almost nothing, as where the model is confident, which is what ends the \
            curves of the paper's Figure 1b early.\n\n\
            Over factors it goes as search::apgd does.",
    source: "Kurakin, Goodfellow and Bengio 2017; Madry et al. 2018 (random starts); Galloway, Golubeva and Taylor 2018, Section 2 and their published code",
    examples: &[
        Example { code: "search::bim()", result: "search bim(#{ steps: 40 })" },
        Example {
            code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
                   let t = examine(f, ds, #{ space: space::pixels(\"l2\"), search: search::bim(#{ steps: 5 }), at_steps: \"all\" });\n\
                   t.len()",
            result: "120",
        },
    ],
    run: |_, args| {
        let (schedule, gradient) = (SCHEDULES.of(args, "schedule"), GRADIENTS.of(args, "gradient"));
        let (steps, step) = (args.count("steps") as u32, args.optional_float("step"));
        let (start, restarts) = (STARTS.of(args, "start"), args.count("restarts") as u32);
        if start == BimStart::Image && restarts > 1 {
            return Err(Error::argument(format!("search::bim: {restarts} restarts at the image would go one way"))
                .hint("`start: \"random\"` begins elsewhere each time"));
        }
        if restarts.checked_mul(steps + 1).is_none_or(|turns| turns == u32::MAX) {
            return Err(Error::argument("search::bim: more steps and restarts than can be counted"));
        }
        Ok(Value::object(AnySearch(Rc::new(Bim { steps, step, schedule, gradient, start, restarts }))))
    },
};
