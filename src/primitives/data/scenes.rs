//! `data::scenes`

use crate::core::{Cx, Result, Value};
use crate::data::{Scenes, Split};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED};

pub static SCENES: Primitive = Primitive {
    path: "data::scenes",
    purpose: "Coloured objects on backgrounds, drawn by the program itself from named attributes.",
    params: &[],
    options: &[
        Param::new("n", Kind::Int, "how many images").or(Fallback::Int(1000)).range(1.0, 10_000_000.0),
        Param::new("size", Kind::Int, "side of the images").or(Fallback::Int(32)).range(16.0, 256.0).unit("pixels"),
        Param::new(
            "position",
            Kind::Choice(&["torus", "still"]),
            "whether the finished image is rolled: see the notes",
        )
        .or(Fallback::Str("torus")),
        Param::new("split", Kind::Choice(&["train", "validation", "test"]), "splits of one seed share no image")
            .or(Fallback::Str("train")),
        SEED,
    ],
    returns: "a `Dataset`: `3 x size x size`, classes \"ball\", \"box\", \"cone\", \"star\", \"ring\", \"cross\", \"heart\", \
              \"diamond\"",
    notes: "`ds[i].attributes` is a map of what image i shows: `shape` (the class), `hue` (degrees), `saturation`, `texture` \
            (plain, stripes, dots, checks), `sky` (day, dusk, night), `ground` (grass, sand, snow, water), `tilt` (degrees \
            clockwise), `handle` (left, right), `accessory` (none, flag, hat), each drawn independently of the others.\n\n\
            Every finished picture, noise included, is mirrored by a fair coin, so that space::flip preserves label and \
            density exactly. `\"torus\"` (edge `wrap`): it is then rolled by a uniform offset in both directions, so that \
            rolling preserves the density exactly as well. `\"still\"` (edge `none`): the object stands near the middle, the \
            ground below.\n\n\
            Image i is a pure function of seed, split and i, and is drawn when it is read; pixels are whole multiples of 1/255.",
    source: "",
    examples: &[
        Example {
            code: "data::scenes(#{ n: 5, seed: 1 })",
            result: "data scenes: 5 images 3 x 32 x 32, 8 classes, edge wrap",
        },
        Example {
            code: "let ds = data::scenes(#{ n: 20, seed: 1 });\nds[3].attributes.shape == ds[3].class",
            result: "true",
        },
    ],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let scenes = Scenes {
        n: args.count("n"),
        size: args.count("size"),
        torus: args.str("position") == "torus",
        split: match args.str("split") {
            "validation" => Split::Validation,
            "test" => Split::Test,
            _ => Split::Train,
        },
        seed: args.seed(),
    };
    let set = scenes.dataset()?;
    set.record(cx);
    Ok(Value::object(set))
}
