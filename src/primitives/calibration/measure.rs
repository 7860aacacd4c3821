//! `calibration::measure`.

use crate::core::Value;
use crate::estimate::calibration::{Settings, calibration};
use crate::maths::calibration::Binning;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, SEED, Words};
use crate::search::Transcript;

static BINNINGS: Words<Binning, 2> = Words::new([("width", Binning::Width), ("mass", Binning::Mass)]);

pub static MEASURE: Primitive = Primitive {
    path: "calibration::measure",
    purpose: "Whether a model is right as often as it says, where a search left its images.",
    params: &[Param::new(
        "transcript",
        Kind::Object("Transcript"),
        "an examination with `measures: [\"confidence\", \"nll\", \"brier\"]`",
    )],
    options: &[
        Param::new("bins", Kind::Int, "parts into which the answers come by their confidence")
            .range(1.0, 100.0)
            .or(Fallback::Int(15)),
        Param::new("binning", BINNINGS.kind(), "whether bins are as wide as each other, or hold as many answers")
            .or(Fallback::Str("width")),
        Param::new("replicates", Kind::Int, "how often answers are drawn that are right as often as a law says")
            .range(100.0, 10_000.0)
            .or(Fallback::Int(400)),
        SEED,
    ],
    returns: "a Calibration",
    notes: "`ece` is the mean over answers of |accuracy - confidence| of their bins, `mce` the largest; a bin of equal width ends with its upper \
            bound. Absolute differences add up whichever way chance turns them, so both are too large, the more so the fewer answers a bin \
            has: `ece_by_chance` and `mce_by_chance` are what a calibrated model with these confidences would show in the mean, and where \
            that is more than half of what was found the result says so. Their intervals are no bootstrap, which has the same bias once \
            more: they hold the errors that go with what was found, from right as often as said on along four ways of being wrong (as \
            found, more or less often right than said by the same amount everywhere, and wrong in those bins alone that are by more than chance), given the confidences, and hold 0 where the model may be \
            calibrated. They are of the error in these bins: within a bin differences that cancel are not seen. `nll` in nats and `brier` \
            (from 0 to 2) are means of measures of the rows, with Student's intervals, and () where these were not asked for; accuracy has Wilson's.\n\n\
            All rows count, also those that no search made fail. Levels, steps and targets each have a calibration of their own: \
            `t.group(\"level\")` has a transcript for each. Of the images as they stand: search::sweep() over space::noise() at `levels: [0]`.",
    source: "Naeini, Cooper and Hauskrecht 2015; Guo, Pleiss, Sun and Weinberger 2017, Eq. 2, 3 and 5; Bröcker and Smith 2007 for what is by chance; \
             Brier 1950",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 120, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, seed: 1 });\n\
                   let t = examine(f, ds, #{ space: space::noise(), search: search::sweep(), levels: [0, 1], measures: [\"confidence\"] });\n\
                   let noisy = calibration::measure(t.group(\"level\")[\"1.0\"], #{ seed: 1 });\n\
                   [noisy.ece > noisy.ece_by_chance, noisy.rows]",
        result: "[true, 120]",
    }],
    run: |cx, args| {
        let settings = Settings {
            bins: args.count("bins"),
            binning: BINNINGS.of(args, "binning"),
            replicates: args.count("replicates"),
            seed: args.seed(),
        };
        Ok(Value::object(calibration(cx, &args.object::<Transcript>("transcript"), settings)?))
    },
};
