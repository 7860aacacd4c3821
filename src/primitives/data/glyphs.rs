//! `data::glyphs`

use crate::core::{Cx, Result, Value};
use crate::data::{Glyphs, Polarity, Position, Split};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED, Words};

static POSITIONS: Words<Position, 3> =
    Words::new([("torus", Position::Torus), ("margin", Position::Margin), ("centred", Position::Centred)]);
static POLARITIES: Words<Polarity, 3> =
    Words::new([("dark", Polarity::Dark), ("light", Polarity::Light), ("random", Polarity::Random)]);
pub(super) static SPLITS: Words<Split, 3> =
    Words::new([("train", Split::Train), ("validation", Split::Validation), ("test", Split::Test)]);

pub static GLYPHS: Primitive = Primitive {
    path: "data::glyphs",
    purpose: "Digits drawn by the program itself from strokes with random pose, width, contrast and background.",
    params: &[],
    options: &[
        Param::new("n", Kind::Int, "how many images").or(Fallback::Int(1000)).range(1.0, 10_000_000.0),
        Param::new("size", Kind::Int, "side of the images").or(Fallback::Int(32)).range(16.0, 256.0).unit("pixels"),
        Param::new("channels", Kind::Int, "1, or 3 for tinted strokes and grounds")
            .or(Fallback::Int(1))
            .range(1.0, 3.0),
        Param::new("position", POSITIONS.kind(), "where the digit stands: see the notes").or(Fallback::Str("torus")),
        Param::new("margin", Kind::Int, "how much more is drawn around images that are not on a torus")
            .or(Fallback::Absent("half the size"))
            .at_least(0.0)
            .unit("pixels"),
        Param::new("polarity", POLARITIES.kind(), "dark strokes on light, light on dark, or a fair coin")
            .or(Fallback::Str("dark")),
        Param::new("split", SPLITS.kind(), "splits of one seed share no image").or(Fallback::Str("train")),
        Param::new("noise", Kind::Float, "standard deviation of the noise on each pixel")
            .or(Fallback::Float(0.02))
            .range(0.0, 1.0),
        SEED,
    ],
    returns: "a `Dataset`: `channels x size x size`, classes \"0\" to \"9\"",
    notes: "Labels are drawn uniformly and independently, so examples are independent draws from one distribution. Image i \
            is a pure function of seed, split and i, and is drawn when it is read; pixels are whole multiples of 1/255.\n\n\
            `\"torus\"` (edge `wrap`): the finished image, ground and noise included, is rolled by a uniform offset, so that \
            rolling preserves the density exactly.\n\
            `\"margin\"` (edge `margin(n)`): drawn on a larger canvas at three quarters of the size, the digit's offset uniform among those of up to a quarter \
            of the size in both directions. Images whose digits stand within that range are equally likely; a translation that \
            carries a digit out of the range leads where nothing is drawn, so the density is preserved for the digits \
            that stand at least the radius inside it.\n\
            `\"centred\"` (edge `margin(n)`): always in the middle. No translated image is ever drawn: the negative control, \
            on which density-preserving tests must not be trusted.\n\n\
            `polarity: \"random\"` inverts each image with probability one half, so that inversion preserves the density exactly.",
    source: "",
    examples: &[
        Example { code: "data::glyphs(#{ n: 10, seed: 1 }).len()", result: "10" },
        Example {
            code: "data::glyphs(#{ n: 5, size: 28, position: \"margin\", margin: 6, seed: 1 })",
            result: "data glyphs: 5 images 1 x 28 x 28, 10 classes, edge margin(6)",
        },
    ],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let channels = args.count("channels");
    if channels == 2 {
        return Err(crate::core::Error::argument("`channels` must be 1 or 3, got 2"));
    }
    if args.given("margin") && args.count("margin") > 0 && POSITIONS.of(args, "position") == Position::Torus {
        return Err(crate::core::Error::argument("`margin` is for images that are not on a torus")
            .hint("`position: \"margin\"`, or \"centred\""));
    }
    let size = args.count("size");
    let glyphs = Glyphs {
        n: args.count("n"),
        size,
        channels,
        position: POSITIONS.of(args, "position"),
        margin: if args.given("margin") { args.count("margin") } else { size / 2 },
        polarity: POLARITIES.of(args, "polarity"),
        split: SPLITS.of(args, "split"),
        noise: args.float("noise"),
        seed: args.seed(),
    };
    let set = glyphs.dataset()?;
    set.record(cx);
    Ok(Value::object(set))
}
