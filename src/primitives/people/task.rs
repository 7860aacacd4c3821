//! `people::task` and `people::load`.

use std::collections::BTreeMap;

use crate::core::{Cx, Error, Object, Result, Value, suggestion};
use crate::data::Dataset;
use crate::generator::Generator;
use crate::model::Model;
use crate::people::{PeopleTask, QuestionKind, RULES, Rules, ShownImages, TASK_FILE, TaskPlan, pictures};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED, Words};
use crate::search::{GeneratedTests, PerturbedTests, Transcript};

static KINDS: Words<QuestionKind, 6> = Words::new([
    ("label", QuestionKind::Label),
    ("keeps_label", QuestionKind::KeepsLabel),
    ("pair", QuestionKind::Pair),
    ("odd_one_out", QuestionKind::OddOneOut),
    ("attribute", QuestionKind::Attribute),
    ("realism", QuestionKind::Realism),
]);

pub static TASK: Primitive = Primitive {
    path: "people::task",
    purpose: "What people are to be asked of images, kept in a folder that `viva label` asks and that answers belong to.",
    params: &[Param::new(
        "tests",
        Kind::Either(&[
            Kind::Object("Dataset"),
            Kind::Object("GeneratedTests"),
            Kind::Object("PerturbedTests"),
            Kind::Object("Transcript"),
        ]),
        "the images: tests of any kind, a transcript, whose images are taken where its search left them, or a data set, such as a folder of pictures",
    )],
    options: &[
        Param::new(
            "kind",
            KINDS.kind(),
            "\"label\": which class, or none; \"keeps_label\": the image before, and if it shows its class, whether the changed one does; \"pair\": which of \
             two is real; \"odd_one_out\": which of twelve was made; \"attribute\": in which of two there is more of something; \"realism\": real or made",
        ),
        Param::new("folder", Kind::Str, "where it is kept, below the run's folder").or(Fallback::Str("task")),
        Param::new("real", Kind::Object("Dataset"), "real images of the same classes and size: questions whose answer is known, and what stands beside made ones")
            .or(Fallback::Absent("none, and no questions whose answer is known where these need it")),
        Param::new("originals", Kind::Object("Dataset"), "what each image was before it was changed, in the same order")
            .or(Fallback::Absent("what the tests know")),
        Param::new("n", Kind::Int, "items, drawn from the images at random").range(1.0, 1e6).or(Fallback::Absent("all")).unit("items"),
        Param::new("overlap", Kind::Int, "workers who judge each item").range(1.0, 1000.0).or(Fallback::Int(5)).unit("workers"),
        Param::new("per_worker", Kind::Int, "items that a worker judges, at most").range(1.0, 10_000.0).or(Fallback::Int(20)).unit("items"),
        Param::new("gold", Kind::Int, "questions of each worker whose answer is known, among the others")
            .range(0.0, 40.0)
            .or(Fallback::Absent("2, or 0 where they need `real`"))
            .unit("questions"),
        Param::new("instructed", Kind::Int, "first questions, which the instructions say how to answer whatever they show")
            .range(0.0, 10.0)
            .or(Fallback::Absent("2 of \"label\", else 0"))
            .unit("questions"),
        Param::new("wait", Kind::Float, "before an answer can be chosen").range(0.0, 60.0).or(Fallback::Float(1.0)).unit("seconds"),
        Param::new("pause", Kind::Float, "behind each answer")
            .range(0.0, 60.0)
            .or(Fallback::Absent("4 of \"odd_one_out\", 3 of \"pair\", else 0"))
            .unit("seconds"),
        Param::new("study", Kind::Float, "that real pictures are looked at before the first question of \"pair\" and \"odd_one_out\"")
            .range(0.0, 600.0)
            .or(Fallback::Float(30.0))
            .unit("seconds"),
        Param::new("completion", Kind::Str, "an https address that who has answered everything is sent to, such as Prolific's for a study's completion")
            .or(Fallback::Absent("nowhere")),
        Param::new(
            "reject",
            Kind::Map,
            "which workers do not count: the least share of `instructed` (1) and of `gold` (0.7) answered rightly, the largest share `unanswered` (0.01), the least \
             median of `seconds` (0.8), the largest share of answers on one button, `straight` (0.8; where the button's \
             place was not drawn, of who also presses it where known answers or careful others say another, and never of \"realism\" and \"keeps_label\"), of dissent from three others or more that two have `alike` (0.9; where but two answers are given, such workers are told of and count), and of places that \
             are never right, `forbidden` (0)",
        )
        .or(Fallback::Absent("these numbers")),
        Param::new("attribute", Kind::Str, "what there is to be more of, of \"attribute\"").or(Fallback::Absent("none")),
        Param::new("more", Kind::Either(&[Kind::Bool, Kind::Array]), "of \"attribute\": whether more of it is the telling way, of all images or each")
            .or(Fallback::Bool(true)),
        Param::new("facts", Kind::Map, "what else is known of the images: an array with a text or whole number for each, by name").or(Fallback::Absent("nothing")),
        Param::new("model", Kind::Object("Model"), "what the images are tests of, for the record").or(Fallback::Absent("what the tests know")),
        Param::new("generator", Kind::Object("Generator"), "what drew them, for the record").or(Fallback::Absent("what the tests know")),
        SEED,
    ],
    returns: "a Task",
    notes: "An item is an image with its label, and what is known of it; its id is a hash of all of that and stays the same in another task. Each of `overlap` \
            rounds asks about every item once, of as many workers as `per_worker` needs; which items a worker sees, their order and the places of pictures \
            follow from `seed` and the worker's number. The folder holds `task.json`, which is sealed, and pictures under names that \
            tell nothing; answers carry its digest and belong to no other task. Pictures are what people can be shown: 8 bits per channel, of images in \
            [0, 1]. A worker's rights and wrongs are judged by `reject`, declared here before anybody answers.\n\n\
            Crowds come to `viva label DIR --public https://..` behind a server of yours: of Prolific the study's address is that with \
            `?PROLIFIC_PID={{%PROLIFIC_PID%}}`, by which whoever comes again has the same place, and `completion` sends people back; `--export mturk` \
            writes the questions that MTurk's CreateHIT takes. A place from which nothing was answered nor heard for half an hour goes to the next who \
            comes, under another address. In Label Studio, Argilla and Prodigy nobody keeps order and least times, and `--export` says so.\n\n\
            Of an odd one out the second and third place of the top row are never right, so that guessing finds one of ten. A folder that keeps another task \
            is refused.",
    source: "Dunn 2022, Sections 4.3.2, 4.5, 5.2.5, 6.1.4 and appendix B",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });\n\
               let t = people::task(ds.take(30), #{ kind: \"label\", real: ds.skip(30), overlap: 3, per_worker: 10, seed: 1 });\n\
               [t.items, t.workers, t.questions]",
        result: "[30, 9, 126]",
    }],
    run: task,
};

pub static LOAD: Primitive = Primitive {
    path: "people::load",
    purpose: "The task that a folder keeps.",
    params: &[Param::new("path", Kind::Path, "a folder that people::task kept")],
    options: &[],
    returns: "a Task",
    notes: "Refused where the file or a picture is not as it was written.",
    source: "",
    examples: &[Example {
        code: "let t = people::task(data::glyphs(#{ n: 9, size: 16, seed: 1 }), #{ kind: \"realism\", seed: 1 });\n\
               people::load(\"task\").digest == t.digest",
        result: "true",
    }],
    run: |cx, args| {
        let folder = cx.find(args.str("path"))?;
        let task = PeopleTask::open(cx, &folder)?;
        cx.record_input_from("task", args.str("path"), task.digest, &folder.join(TASK_FILE));
        Ok(Value::object(task))
    },
};

fn shown(cx: &Cx, value: &Value) -> Result<ShownImages> {
    if let Some(set) = value.downcast::<Dataset>() {
        return ShownImages::of_data(cx, &set);
    }
    if let Some(tests) = value.downcast::<GeneratedTests>() {
        return ShownImages::of_generated(cx, &tests);
    }
    if let Some(tests) = value.downcast::<PerturbedTests>() {
        return ShownImages::of_perturbed(cx, &tests);
    }
    let transcript = value.downcast::<Transcript>().ok_or_else(|| Error::internal("tests of another kind"))?;
    ShownImages::of_transcript(cx, &transcript)
}

/// An address that a page may send people to.
fn completion(args: &Args) -> Result<String> {
    const LONGEST: usize = 2000;
    let Some(address) = args.optional_str("completion") else { return Ok(String::new()) };
    let plain = address.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"'<>\\`".contains(&byte));
    let host =
        address.strip_prefix("https://").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()));
    match plain && host && address.len() <= LONGEST {
        true => Ok(address.into()),
        false => {
            Err(Error::argument(format!("`completion` must be an address that begins with https://, got {address:?}"))
                .hint("such as https://app.prolific.com/submissions/complete?cc=YOURCODE"))
        }
    }
}

fn task(cx: &Cx, args: &Args) -> Result<Value> {
    let kind = KINDS.of(args, "kind");
    let mut images = shown(cx, args.value("tests"))?;
    let n = images.pictures.len();
    if let Some(originals) = args.optional_object::<Dataset>("originals") {
        if originals.len() != n || originals.labels() != images.labels {
            return Err(Error::argument(format!(
                "`originals` are {} images, of which there must be {n} with the labels of the tests",
                originals.len()
            ))
            .hint("the first is what the first test was before it was changed, and so on"));
        }
        images.originals = Some(pictures(cx, &originals)?);
    }
    for (name, values) in args.get("facts").map(|_| args.map("facts")).into_iter().flatten() {
        if ["label", "intended", "worker", "item", "answer", "seconds", "slot", "question"].contains(&name.as_str()) {
            return Err(Error::argument(format!("`facts` can't say {name:?}: answers have a column of that name")));
        }
        let text = |value: &Value| match value {
            Value::Str(_) | Value::Int(_) | Value::Bool(_) => Ok(value.summary()),
            other => {
                Err(Error::argument(format!("`facts.{name}` must hold texts or whole numbers, got {}", other.kind())))
            }
        };
        let Value::Array(values) = values else {
            return Err(Error::argument(format!("`facts.{name}` must be an array, got {}", values.kind())));
        };
        if values.len() != n {
            return Err(Error::argument(format!(
                "`facts.{name}` says something of {} images, there are {n}",
                values.len()
            )));
        }
        images.about.insert(name.clone(), values.iter().map(text).collect::<Result<_>>()?);
    }
    let real = args.optional_object::<Dataset>("real").map(|set| ShownImages::of_data(cx, &set)).transpose()?;
    let needs_real = matches!(kind, QuestionKind::Label | QuestionKind::KeepsLabel);
    if let Some(option) =
        ["attribute", "more"].into_iter().find(|name| kind != QuestionKind::Attribute && args.given(name))
    {
        return Err(Error::argument(format!(
            "`{option}` is of tasks of the kind \"attribute\", and decides nothing of this one"
        )));
    }
    let attribute = match args.optional_str("attribute") {
        Some(name) => Some((name.to_string(), more(args, n)?)),
        None => None,
    };
    let mut of: Vec<[String; 3]> = vec![];
    if let Some(model) = args.optional_object::<Model>("model") {
        of.push(["model".into(), model.name.clone(), Object::digest(&*model).short()]);
    }
    if let Some(generator) = args.optional_object::<Generator>("generator") {
        of.push(["generator".into(), generator.summary(), Object::digest(&*generator).short()]);
    }
    if let Some(set) = args.optional_object::<Dataset>("real") {
        of.push(["real".into(), set.name.clone(), set.digest().short()]);
    }
    let [_, pause] = kind.seconds();
    let plan = TaskPlan {
        kind,
        n: args.optional_int("n").map(|n| n as usize),
        overlap: args.count("overlap"),
        per_worker: args.count("per_worker"),
        gold: args.optional_int("gold").map_or(if needs_real && real.is_none() { 0 } else { 2 }, |gold| gold as usize),
        checks: args
            .optional_int("instructed")
            .map_or(if kind == QuestionKind::Label { 2 } else { 0 }, |checks| checks as usize),
        least_seconds: args.float("wait"),
        pause: args.optional_float("pause").unwrap_or(pause),
        completion: completion(args)?,
        study: args.float("study"),
        rules: rules(args)?,
        attribute,
        of,
        seed: args.seed(),
    };
    Ok(Value::object(PeopleTask::make(cx, args.str("folder"), &images, real.as_ref(), &plan)?))
}

fn more(args: &Args, n: usize) -> Result<Vec<bool>> {
    match args.value("more") {
        Value::Bool(more) => Ok(vec![*more; n]),
        Value::Array(values) => {
            let each = values.iter().map(|value| if let Value::Bool(more) = value { Some(*more) } else { None });
            let each: Option<Vec<bool>> = each.collect();
            each.filter(|each| each.len() == n).ok_or_else(|| {
                Error::argument(format!("`more` must be true or false, or an array of {n} of them, one per image"))
            })
        }
        other => Err(Error::argument(format!("`more` must be true or false, got {}", other.kind()))),
    }
}

fn rules(args: &Args) -> Result<Rules> {
    let mut rules = Rules::default();
    let given = args.get("reject").map(|_| args.map("reject").clone()).unwrap_or_default();
    let given: BTreeMap<String, Value> = given;
    for (name, value) in &given {
        let limit = match value {
            Value::Float(x) => *x,
            Value::Int(i) => *i as f64,
            other => return Err(Error::argument(format!("`reject.{name}` must be a number, got {}", other.kind()))),
        };
        let most = if name == "seconds" { 600.0 } else { 1.0 };
        if !(0.0..=most).contains(&limit) {
            return Err(Error::argument(format!("`reject.{name}` must be from 0 to {most}, got {limit}")));
        }
        match name.as_str() {
            "instructed" => rules.instructed = limit,
            "gold" => rules.gold = limit,
            "unanswered" => rules.unanswered = limit,
            "seconds" => rules.seconds = limit,
            "straight" => rules.straight = limit,
            "alike" => rules.alike = limit,
            "forbidden" => rules.forbidden = limit,
            other => {
                return Err(Error::argument(format!("`reject` knows no {other:?}")).hint(suggestion(other, RULES)));
            }
        }
    }
    Ok(rules)
}
