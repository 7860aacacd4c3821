//! `Answers.networks`.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{DELTA, insert, known};
use crate::core::{Cautions, Cx, Error, Result, Value};
use crate::data::Dataset;
use crate::model::Model;
use crate::people::{Bounded, PeopleOracle, TaskAnswers, beside, check_unseen, networks_keep, prediction_powered};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};
use crate::search::{Witnesses, each_once};

pub static NETWORKS: Primitive = Primitive {
    path: "Answers.networks",
    purpose: "How well networks stand in for people who say whether tests keep their labels, and what people would say of tests that only networks saw.",
    params: &[
        Param::new(
            "answers",
            Kind::Object("Answers"),
            "of people::answers, to a task of the kind \"label\" or \"keeps_label\"",
        ),
        Param::new(
            "judges",
            Kind::Either(&[Kind::Object("Model"), Kind::Array, Kind::Object("Answers")]),
            "a network or several, of which more than half must agree; or other people's answers about the same images",
        ),
    ],
    options: &[
        Param::new(
            "others",
            Kind::Object("Dataset"),
            "tests that people did not see, with the labels that they are to keep",
        )
        .or(Fallback::Absent("none, and no mean over them")),
        Param::new("tuned", Kind::Bool, "whether the network counts by as much as it is worth, and not fully")
            .or(Fallback::Bool(true)),
        DELTA,
    ],
    returns: "a map: `sensitivity` (of the tests that people say keep their label, the share of which the networks do), `specificity` (of the others, the share of \
              which they do not) and `agreement`, each with `_lo` and `_hi`; `kept_by_people, kept_by_networks, items, cautions`; with `others` what \
              people::prediction_powered gives of all tests, `mean, mean_lo, mean_hi, lambda, people, people_lo, people_hi, network, seen, others`",
    notes: "People keep a test where more than half of the judgements that count say what was intended; of \"keeps_label\" those of workers who took the \
            picture before for its class, and only items of which more than half did. Networks see the pictures that people saw, at 8 bits per \
            channel. The first intervals are Wilson's at 95%, of tests like these and of these people; with `others`, the tests that people saw must have been drawn from \
            all at random, as `n` of people::task does, and none of them may be among `others`.",
    source: "Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023; Dunn 2022, Section 5.2.5 for networks in place of people",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });\n\
               let t = people::task(ds.take(20), #{ kind: \"label\", real: ds.skip(20), overlap: 3, seed: 1 });\n\
               let said = [];\n\
               for slot in 0..t.workers { for q in t.asked(slot) {\n    \
                   let right = t.answers.index_of(if q.role == \"test\" { q.label } else { q.right[0] });\n    \
                   said.push(#{ worker: slot, slot: slot, question: q.question, choice: if q.label == \"3\" && q.role == \"test\" { 8 } else { right }, seconds: 2 });\n\
               } }\n\
               let f = model::from(|x| tensor::zeros([x.len(), 10]), #{ classes: 10 });\n\
               let n = people::answers(t, said).networks(f);\n\
               [n.items, n.kept_by_people < 20, n.sensitivity < 0.5]",
        result: "[20, true, true]",
    }],
    run: |cx, args| {
        let answers = args.object::<TaskAnswers>("answers");
        let judges = Judges::of(cx, args)?;
        let others = args.optional_object::<Dataset>("others");
        let channels = others.as_ref().map(|set| set.shape()[0] as i64).or(judges.channels());
        let channels = channels.and_then(|channels| usize::try_from(channels).ok()).filter(|n| [1, 3].contains(n));
        let images = answers.judged_images(cx, channels)?;
        if let Some(others) = &others {
            check_unseen(cx, others, &images.set)?;
        }
        let mut cautions = answers.cautions.clone();
        cautions.extend(&judges.cautions());
        let said = judges.keep(cx, &images.set, Some((&images.kept, &mut cautions)))?;
        let (images, said) = images.known(said)?;
        if images.unjudged > 0 {
            cautions.add(format!(
                "{} items of the task are not judged, or their seeds were refused, and are not compared",
                images.unjudged
            ));
        }
        let found = beside(&images, said, cautions);
        let mut cautions = found.cautions.clone();
        let mut map = BTreeMap::new();
        for (name, share) in
            [("sensitivity", found.sensitivity), ("specificity", found.specificity), ("agreement", found.agreement)]
        {
            insert(&mut map, name, Bounded { value: share.value, lo: share.lo, hi: share.hi });
        }
        let count = |verdicts: &[bool]| Value::Int(verdicts.iter().filter(|kept| **kept).count() as i64);
        map.insert("kept_by_people".into(), count(&found.people));
        map.insert("kept_by_networks".into(), count(&found.networks));
        map.insert("items".into(), Value::Int(found.people.len() as i64));
        if let Some(others) = others {
            let numbers =
                |verdicts: &[bool]| verdicts.iter().map(|kept| f64::from(u8::from(*kept))).collect::<Vec<f64>>();
            let far = judges.keep(cx, &others, None)?.into_iter().collect::<Option<Vec<bool>>>().ok_or_else(|| {
                Error::data("the others did not judge all of `others`").hint("networks judge any image")
            })?;
            let powered = prediction_powered(
                &numbers(&found.people),
                &numbers(&found.networks),
                &numbers(&far),
                args.bool("tuned"),
                args.float("delta"),
            )?;
            cautions.extend(&powered.cautions);
            // Shares of tests.
            let within = |of: Bounded| Bounded { lo: of.lo.clamp(0.0, 1.0), hi: of.hi.clamp(0.0, 1.0), ..of };
            insert(&mut map, "mean", within(powered.mean));
            insert(&mut map, "people", within(powered.people_alone));
            map.insert("lambda".into(), known(powered.lambda));
            map.insert("network".into(), known(powered.network_alone));
            map.insert("seen".into(), Value::Int(powered.seen as i64));
            map.insert("others".into(), Value::Int(powered.others as i64));
        }
        map.insert("cautions".into(), cautions.value());
        Ok(Value::Map(map))
    },
};

/// Who is set beside people.
enum Judges {
    Networks(Vec<Rc<Model>>),
    People(PeopleOracle),
}

impl Judges {
    fn of(cx: &Cx, args: &Args) -> Result<Self> {
        let value = args.value("judges");
        if let Some(answers) = value.downcast::<TaskAnswers>() {
            return Ok(Self::People(PeopleOracle::of(cx, &answers)?));
        }
        let judge = |value: &Value| {
            let model = value.downcast::<Model>();
            model.ok_or_else(|| Error::argument(format!("`judges` must be models, got a {}", value.kind())))
        };
        match value {
            Value::Array(values) if values.is_empty() => Err(Error::argument("`judges` is an empty array")),
            Value::Array(values) => {
                let models = values.iter().map(judge).collect::<Result<Vec<_>>>()?;
                each_once(&models, "`judges`")?;
                Ok(Self::Networks(models))
            }
            one => Ok(Self::Networks(vec![judge(one)?])),
        }
    }

    /// How many channels they want, if that is known.
    fn channels(&self) -> Option<i64> {
        match self {
            Self::Networks(models) => models.first()?.input().map(|input| input[0]),
            Self::People(_) => None,
        }
    }

    fn keep(&self, cx: &Cx, set: &Dataset, kept: Option<(&[bool], &mut Cautions)>) -> Result<Vec<Option<bool>>> {
        match self {
            Self::Networks(models) => {
                let models: Vec<&Model> = models.iter().map(|model| &**model).collect();
                Ok(networks_keep(cx, &models, set, kept)?.into_iter().map(Some).collect())
            }
            Self::People(people) => people.keeps(cx, set),
        }
    }

    fn cautions(&self) -> Cautions {
        let mut cautions = Cautions::default();
        match self {
            Self::Networks(models) => models.iter().for_each(|model| cautions.extend(&model.cautions())),
            Self::People(people) => cautions.extend(&people.cautions()),
        }
        cautions
    }
}
