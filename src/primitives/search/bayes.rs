//! `search::bayes`.

use std::rc::Rc;
use std::sync::Arc;

use crate::core::{Error, Value};
use crate::maths::gaussian_process::Kernel;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, Words};
use crate::search::{AnySearch, Bayes, Explore, Lengthscales, Lessons, Transcript};

static KERNELS: Words<Kernel, 2> =
    Words::new([("matern", Kernel::Matern52), ("squared-exponential", Kernel::SquaredExponential)]);
static GROWING: Words<Explore, 1> = Words::new([("growing", Explore::Growing)]);
static LENGTHSCALES: Words<Lengthscales, 2> = Words::new([("each", Lengthscales::Each), ("one", Lengthscales::One)]);

pub static BAYES: Primitive = Primitive {
    path: "search::bayes",
    purpose: "Bayesian optimisation: a Gaussian process learns each image's losses, and asks where they may be largest.",
    params: &[],
    options: &[
        Param::new("questions", Kind::Int, "of the model about each image, the first ones included").range(1.0, 500.0).or(Fallback::Int(100)),
        Param::new("first_questions", Kind::Int, "how many of them fill the space evenly, at the start")
            .range(1.0, 500.0)
            .or(Fallback::Absent("two more than there are factors, from 5 to 20, and at most a third of all")),
        Param::new("random_share", Kind::Float, "the share of all questions that are drawn at random, whatever was answered").range(0.0, 1.0).or(Fallback::Float(0.1)),
        Param::new("batch", Kind::Int, "questions between two steps of learning, for models that answer many as fast as one").range(1.0, 64.0).or(Fallback::Int(1)),
        Param::new(
            "learned",
            Kind::Object("Transcript"),
            "an examination of other images over the same factors, with its questions: half of the questions at the start, 10 at most, are those that did most to its images of the same label",
        )
        .or(Fallback::Absent("each image is examined for itself alone")),
        Param::new("kernel", KERNELS.kind(), "how losses hang together: Matern 5/2, or smoother")
            .or(Fallback::Absent("under which the losses are likelier, at every fit")),
        Param::new(
            "beta",
            Kind::Either(&[GROWING.kind(), Kind::Float]),
            "the next question is where mean + sqrt(beta) deviations is largest; \"growing\" is 2 ln(d t^2 pi^2 / 0.6) at question t of d factors",
        )
        .range(0.0, 1e6)
        .or(Fallback::Absent("where the expected improvement is largest; at two questions of six where the mean is and at one such a bound with beta 1, or where a factor is a choice at every third such a bound with beta 4")),
        Param::new("noise_variance", Kind::Float, "as a share of that of the losses").range(1e-10, 1.0).or(Fallback::Absent("fitted")),
        Param::new("candidates", Kind::Int, "random settings, drawn anew at every fit, that are compared for every question beside 160 near the best ones; the best 3 are improved along the gradient")
            .range(8.0, 1e6)
            .or(Fallback::Int(600)),
        Param::new("refit", Kind::Int, "questions from one fit of the lengthscales to the next").range(1.0, 500.0).or(Fallback::Absent("a fifth more than there were")),
        Param::new(
            "lengthscales",
            Kind::Either(&[LENGTHSCALES.kind(), Kind::Float]),
            "one for each factor, or one for all, where the losses are most likely; or a number, in shares of ranges, which stays",
        )
        .range(0.02, 20.0)
        .or(Fallback::Str("each")),
    ],
    returns: "a Search",
    notes: "Needs scores only. The loss is the lead of the best wrong score, below 0 where the image is read rightly, or with objective::misclassify().loss(\"cross_entropy\") the cross entropy, as the paper has it. Every image has a process of its own; all of them are asked at once. \
            The first questions, and all while answers are equal, fill the space (Sobol's sequence, scrambled). Ranges count from 0 to 1 (logarithmic ones in the \
            logarithm), two choices of a factor are as far apart as the ends of a range, and chance is drawn. What is within 0.004 of an asked setting in every range, and the same in all else, is not asked; within eight questions of one that found something worse 0.002, within two 0.001. What fails need not lie where a slope leads: once six questions in a row \
            found nothing much worse together (by 2% of how far the worst lies above the median), every other one fills the space, unless `beta` or `random_share: 0` says otherwise. Losses are \
            learnt as they are or, below the median, by the logarithm of how far they lie below it, whichever makes them likelier, and brought to mean 0 and variance 1; the mean of the function is \
            thought to be normal around 0, with three times its variance. With \"each\", the likelihood is multiplied by a log-normal prior with mean sqrt(2) + ln(d) / 2 and deviation \
            sqrt(3) for d factors, without which few losses fit any lengthscales. With `learned`, one process of all of that examination's images with a label, each image's losses in units of its own, says which \
            settings to begin with (where no image had the label, one of all images); what follows is each image's own. Examine other \
            images than those that were learned from: how few questions these take says nothing. `queries` is questions + 1: the image is \
            scored once as it stands. Time grows with the third power of `questions`: beyond a few hundred, search::evolution \
            learns cheaper. The paper names the Gaussian process, two random examples and UCB, which `first_questions: 2, random_share: 0, beta: 4` is; kernel and the rest are this program's own.",
    source: "Shu, Liu, Qiu and Yuille, AAAI 2020; Srinivas, Krause, Kakade and Seeger, ICML 2010; the prior: Hvarfner, Hellsten and Nardi, ICML 2024; the improvement: Ament et al., NeurIPS 2023; Sobol points: Burley, JCGT 2020",
    examples: &[Example {
        code: "let f = model::from(|x| { let m = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]); tensor::concat([m, 1 - m], 1) }, #{ classes: 2 });\n\
               let ds = data::glyphs(#{ n: 3, size: 16, seed: 1 }).relabel(|row| 0);\n\
               let dim = space::factors([#{ name: \"light\", min: 0, max: 1 }], |z, s| z * s.light);\n\
               examine(f, ds, #{ space: dim, search: search::bayes(#{ questions: 8 }) })[0].point.light < 0.1",
        result: "true",
    }],
    run: |cx, args| {
        let explore = match (GROWING.given(args, "beta"), args.get("beta")) {
            (Some(growing), _) => growing,
            (None, Some(_)) => Explore::Fixed(args.float("beta")),
            (None, None) => Explore::Portfolio,
        };
        let lengthscales = LENGTHSCALES
            .given(args, "lengthscales")
            .unwrap_or_else(|| Lengthscales::Fixed(args.float("lengthscales")));
        let steps = args.count("questions");
        let given = |name: &str| args.get(name).map(|_| args.count(name));
        let start = given("first_questions");
        if let Some(start) = start.filter(|start| *start > steps) {
            return Err(Error::argument(format!("`first_questions`: {start} of {steps} in all")));
        }
        Ok(Value::object(AnySearch(Rc::new(Bayes {
            steps,
            start,
            kernel: KERNELS.given(args, "kernel"),
            explore,
            noise: args.get("noise_variance").map(|_| args.float("noise_variance")),
            candidates: args.count("candidates"),
            refit: given("refit"),
            lengthscales,
            random_share: args.float("random_share"),
            batch: args.count("batch"),
            learned: args.optional_object::<Transcript>("learned").as_deref().map(|learned| Lessons::of(cx, learned)).transpose()?.map(Arc::new),
        }))))
    },
};
