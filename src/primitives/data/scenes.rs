//! `data::scenes`

use super::glyphs::SPLITS;
use crate::core::{Cx, Error, Result, Value};
use crate::data::{Scenes, Shown, TELLING, Telling};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED, Words};

pub static SCENES: Primitive = Primitive {
    path: "data::scenes",
    purpose: "Coloured objects on backgrounds, drawn by the program itself from named attributes.",
    params: &[],
    options: &[
        Param::new("n", Kind::Int, "how many images").or(Fallback::Int(1000)).range(1.0, 10_000_000.0),
        Param::new("size", Kind::Int, "side of the images").or(Fallback::Int(32)).range(16.0, 256.0).unit("pixels"),
        Param::new("position", ROLLED.kind(), "whether the finished image is rolled: see the notes")
            .or(Fallback::Str("torus")),
        Param::new(
            "biased",
            ATTRIBUTES.kind(),
            "two shapes, whose labels this attribute decides in place of the shape: see the notes",
        )
        .or(Fallback::Absent("the shape decides")),
        Param::new(
            "against",
            Kind::Bool,
            "with `biased`: the same shapes with right labels, each as the attribute of the other would have it",
        )
        .or(Fallback::Bool(false)),
        Param::new(
            "label",
            ATTRIBUTES.kind(),
            "any shape at two poles of this attribute, which are the classes: see the notes",
        )
        .or(Fallback::Absent("the shape")),
        Param::new("split", SPLITS.kind(), "splits of one seed share no image").or(Fallback::Str("train")),
        SEED,
    ],
    returns: "a `Dataset`: `3 x size x size`, classes \"ball\", \"box\", \"cone\", \"star\", \"ring\", \"cross\", \"heart\", \
              \"diamond\"",
    notes: "`ds[i].attributes` is a map of what image i shows: `shape` (the class), `hue` (degrees), `saturation`, `texture` \
            (plain, stripes, dots, checks), `sky` (day, dusk, night), `ground` (grass, sand, snow, water), `tilt` (degrees \
            clockwise), `handle` (left, right), `accessory` (none, flag, hat), each drawn independently of the others.\n\n\
            Every finished picture, noise included, is mirrored by a fair coin, so that space::flip preserves label and \
            density exactly, but for what `tilt` and `handle` label or bias, which a mirror changes. `\"torus\"` (edge `wrap`): it is then rolled by a uniform offset in both directions, so that \
            rolling preserves the density exactly as well. `\"still\"` (edge `none`): the object stands near the middle, the \
            ground below.\n\n\
            Each attribute but the shape has two poles and a pair of shapes: `ground` snow, grass (ball, box); `sky` day, night (cone, star); \
            `texture` plain, stripes (ring, cross); `tilt` 8 to 16 degrees to the right, or left (heart, diamond); `handle` right, left \
            (box, ball); `saturation` strong, weak (cone, diamond); `accessory` none, hat (star, heart); `hue` warm, cold (ball, ring). \
            `biased` shows both shapes of the pair at both poles and calls all at the first pole by the first shape, so that a classifier \
            that learns from it has a fault that is known; `against` shows each shape at the other's pole, rightly labelled, so that such a \
            classifier gets nearly all of them wrong. `label` shows any shape, for a classifier that tells the poles apart. \
            `ds[i].attributes.pole` then is the pole that image i shows.\n\n\
            Image i is a pure function of seed, split and i, and is drawn when it is read; pixels are whole multiples of 1/255.",
    source: "`biased`: in the manner of Dunn 2022, Table 6.3",
    examples: &[
        Example {
            code: "let ds = data::scenes(#{ n: 5, biased: \"sky\", seed: 1 });\n[ds[0].class, ds[0].attributes.shape, ds[0].attributes.sky]",
            result: "[cone, star, day]",
        },
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

static ROLLED: Words<bool, 2> = Words::new([("torus", true), ("still", false)]);
static ATTRIBUTES: Words<Telling, { TELLING.len() }> = {
    let mut table = [(TELLING[0].name, TELLING[0]); TELLING.len()];
    let mut place = 0;
    while place < TELLING.len() {
        table[place] = (TELLING[place].name, TELLING[place]);
        place += 1;
    }
    Words::new(table)
};

fn shown(args: &Args) -> Result<Shown> {
    let telling = |option: &str| ATTRIBUTES.given(args, option);
    match (telling("biased"), telling("label"), args.bool("against")) {
        (Some(_), Some(_), _) => {
            Err(Error::argument("`biased` and `label` both say what labels are").hint("leave one of them out"))
        }
        (None, _, true) => {
            Err(Error::argument("`against` goes with `biased`")
                .hint("data::scenes(#{ biased: \"sky\", against: true })"))
        }
        (Some(telling), None, true) => Ok(Shown::Against(telling)),
        (Some(telling), None, false) => Ok(Shown::Biased(telling)),
        (None, Some(telling), false) => Ok(Shown::Poles(telling)),
        (None, None, false) => Ok(Shown::All),
    }
}

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let scenes = Scenes {
        n: args.count("n"),
        size: args.count("size"),
        torus: ROLLED.of(args, "position"),
        split: SPLITS.of(args, "split"),
        seed: args.seed(),
        shown: shown(args)?,
    };
    let set = scenes.dataset()?;
    set.record(cx);
    Ok(Value::object(set))
}
