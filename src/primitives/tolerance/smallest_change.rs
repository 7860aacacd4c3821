//! `tolerance::smallest_change` and `tolerance::compare_changes`.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::DELTA;
use crate::core::{Error, Result, Value};
use crate::estimate::{compare, smallest_change};
use crate::maths::survival::Between;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};
use crate::search::{PerturbedTests, Transcript};

const UP_TO: Param =
    Param::new("up_to", Kind::Float, "sizes beyond count as this one, in the space's unit").range(1e-12, 1e12);

const OUTCOMES: Kind = Kind::Either(&[Kind::Object("Transcript"), Kind::Object("PerturbedTests")]);
const ONE_EACH: &str = "with one row per image";

/// Outcomes, and the names of their images where they have names.
enum OutcomeSource {
    Transcript(Rc<Transcript>),
    Tests(Rc<PerturbedTests>),
}

impl OutcomeSource {
    fn of(value: &Value) -> Result<Self> {
        if let Some(transcript) = value.downcast::<Transcript>() {
            return Ok(Self::Transcript(transcript));
        }
        let tests = value.downcast::<PerturbedTests>().map(Self::Tests);
        tests.ok_or_else(|| Error::argument(format!("outcomes are {}, got {}", OUTCOMES.describe(), value.kind())))
    }

    fn transcript(&self) -> &Transcript {
        match self {
            Self::Transcript(transcript) => transcript,
            Self::Tests(tests) => &tests.transcript,
        }
    }

    fn names(&self) -> Option<&[usize]> {
        match self {
            Self::Transcript(_) => None,
            Self::Tests(tests) => Some(&tests.places),
        }
    }
}

/// Numbers that are not known, or lie beyond what was tried, are ().
fn number(x: f64) -> Value {
    if x.is_finite() { Value::Float(x) } else { Value::Unit }
}

fn between(map: &mut BTreeMap<String, Value>, name: &str, of: Between) {
    map.insert(name.into(), number(of.value));
    map.insert(format!("{name}_lo"), number(of.lo));
    map.insert(format!("{name}_hi"), number(of.hi));
}

fn count(n: usize) -> Value {
    Value::Int(n as i64)
}

pub static SMALLEST_CHANGE: Primitive = Primitive {
    path: "tolerance::smallest_change",
    purpose: "How large a change has to be before a model fails, over all images: those that never failed needed more than was tried.",
    params: &[Param::new("outcomes", OUTCOMES, ONE_EACH)],
    options: &[UP_TO.or(Fallback::Absent("the largest that was tried")), DELTA],
    returns: "a map: `median, median_lo, median_hi, mean, mean_lo, mean_hi, up_to, seeds, fooled, over, of_fooled, cautions`; () where a number \
              is beyond what was tried",
    notes: "The magnitudes of images that the search made fail, and how far it went with the others as bounds from below (censored \
            observations), by the product limit of Kaplan and Meier. A search for the least change (fmn, ddn, deepfool, carlini_wagner, hopskipjump, adef) \
            leaves images as they stand where the failing point that it found lies beyond the level, or the radius of the space, and these count as needing more \
            than that; where it found none, they count as needing more than the way it had gone. Where a search asked about all of a space, or keeps the \
            worst point that it meets, images that did not fail count as needing more than the level, the radius or the largest element. Sizes of images that failed \
            are of the points where the search ended: of those that look for no least change (apgd and bim fill their ball) they are bounds from above, which `cautions` say. `median` is enough for half of the images, with the interval of \
            Brookmeyer and Crowley; `mean` is the restricted mean, in which more than `up_to` counts as `up_to`, with Student's interval, from Greenwood's variance. \
            Both are about what this search needed, which is no less than what would have been enough. Images that were given up at a smaller size than \
            others were followed to (a search that stopped where it stood) count in `median` and `mean` as if they were like the others, and their intervals hold whatever these need: \
            they go from none needing more to none ever failing, and a median that may then lie beyond what was tried is (). Where gradients vanished, or search::hopskipjump found nothing to begin at, on more than 5% of the images nothing is known of these, and both are (). `of_fooled` is the mean over the images \
            that failed alone, as in Table 7.1 of Dunn's thesis: too small where some did not. `over` says how many they are of, as \
            `93 of 100`. Images that were wrong as they stood do not count.",
    source: "Kaplan and Meier 1958; Brookmeyer and Crowley 1982; Royston and Parmar 2013",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 60, size: 16, position: \"centred\", margin: 0, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 30, lr: 0.01, seed: 1 });\n\
               let t = examine(f, ds, #{ space: space::pixels(\"l2\"), search: search::adam(#{ steps: 20 }) });\n\
               let of = tolerance::smallest_change(t); of.fooled <= of.seeds",
        result: "true",
    }],
    run: |_, args| {
        let outcomes = OutcomeSource::of(args.value("outcomes"))?;
        let found = smallest_change(outcomes.transcript(), args.optional_float("up_to"), args.float("delta"))?;
        let mut cautions = outcomes.transcript().of.cautions.clone();
        found.cautions.into_iter().for_each(|caution| cautions.add(caution));
        let mut map = BTreeMap::from([
            ("up_to".to_string(), number(found.until)),
            ("seeds".to_string(), count(found.seeds)),
            ("fooled".to_string(), count(found.fooled)),
            ("over".to_string(), Value::Str(format!("{} of {}", found.fooled, found.seeds))),
            ("of_fooled".to_string(), number(found.of_fooled)),
            ("cautions".to_string(), cautions.value()),
        ]);
        between(&mut map, "median", found.median);
        between(&mut map, "mean", found.mean);
        Ok(Value::Map(map))
    },
};

pub static COMPARE_CHANGES: Primitive = Primitive {
    path: "tolerance::compare_changes",
    purpose: "Whether one model bears larger changes than another, image by image, with those that never failed as what they are.",
    params: &[
        Param::new("first", OUTCOMES, ONE_EACH),
        Param::new("second", OUTCOMES, "the same of another model, on the same images"),
    ],
    options: &[UP_TO.or(Fallback::Absent("the largest that was tried with both")), DELTA],
    returns: "a map: `first, second, larger_by, larger_by_lo, larger_by_hi, up_to, seeds, left_out, only_first, only_second, larger, decided, equal, cautions`",
    notes: "Restricted means as tolerance::smallest_change has them, over the images that both were right on; `larger_by` is how much the second \
            one's is larger, with Student's interval from the pseudo-values of pairs, wider where images were given up early, and () where gradients vanished, or nothing to begin at was found, on more than 5% of either's images or no image failed for either. `only_first` and `only_second` are images that failed for one \
            alone. `decided` images are those of which these searches tell which model took more, where one that \
            was never broken took all that was tried; `larger` is the number of those that took the second one more, of which a sign test is of `larger` in `decided`. `equal` images, whose sizes \
            differ by less than 1 in 100,000, are none of these. \
            PerturbedTests are paired by their places, transcripts by their images. \
            Transcripts of other images, spaces or objectives are refused; `left_out` is how many images of each stand in no pair.",
    source: "Royston and Parmar 2013; Andersen, Hansen and Klein 2004",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 60, size: 16, position: \"centred\", margin: 0, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 30, lr: 0.01, seed: 1 });\n\
               let t = examine(f, ds, #{ space: space::pixels(\"l2\"), search: search::adam(#{ steps: 20 }) });\n\
               tolerance::compare_changes(t, t).larger_by",
        result: "0.0",
    }],
    run: |_, args| {
        let (first, second) = (OutcomeSource::of(args.value("first"))?, OutcomeSource::of(args.value("second"))?);
        let until = args.optional_float("up_to");
        let transcripts = (first.transcript(), second.transcript());
        let found = compare(transcripts, [first.names(), second.names()], until, args.float("delta"))?;
        let mut cautions = transcripts.0.of.cautions.clone();
        cautions.extend(&transcripts.1.of.cautions);
        let twice = |caution: &String| found.cautions.iter().filter(|of| of.contains(caution)).count() == 2;
        for (of, which) in found.cautions.iter().zip(["the first", "the second"]) {
            let named = |caution: &String| if twice(caution) { caution.clone() } else { format!("{which}: {caution}") };
            of.iter().for_each(|caution| cautions.add(named(caution)));
        }
        let searches = [transcripts.0, transcripts.1].map(|transcript| &transcript.of.search);
        if searches[0] != searches[1] {
            let [first, second] = searches;
            cautions.add(format!("changes were looked for otherwise: {first} and {second}; what one finds larger need not be the model's doing"));
        }
        if transcripts.0.opaque() && transcripts.1.opaque() {
            cautions.add(
                "factors that closures draw can't be told apart: that both outcomes are of one space is taken on trust",
            );
        }
        found.uneven.into_iter().for_each(|caution| cautions.add(caution));
        if found.left_out != [0, 0] {
            let [first, second] = found.left_out;
            cautions.add(format!("{first} images of the first and {second} of the second are not compared: the other was wrong on them, or its rows leave them out"));
        }
        let mut map = BTreeMap::from([
            ("first".to_string(), number(found.means[0])),
            ("second".to_string(), number(found.means[1])),
            ("up_to".to_string(), number(found.until)),
            ("seeds".to_string(), count(found.seeds)),
            ("left_out".to_string(), Value::Array(found.left_out.map(count).to_vec())),
            ("only_first".to_string(), count(found.only[0])),
            ("only_second".to_string(), count(found.only[1])),
            ("larger".to_string(), count(found.larger)),
            ("decided".to_string(), count(found.decided)),
            ("equal".to_string(), count(found.equal)),
            ("cautions".to_string(), cautions.value()),
        ]);
        between(&mut map, "larger_by", found.larger_by);
        Ok(Value::Map(map))
    },
};
