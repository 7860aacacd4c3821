//! `search::bayes`.

use std::rc::Rc;

use crate::core::{Error, Value};
use crate::maths::gaussian_process::Kernel;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, Words};
use crate::search::{AnySearch, Bayes, Explore, Lengthscales};

static KERNELS: Words<Kernel, 2> =
    Words::new([("matern", Kernel::Matern52), ("squared-exponential", Kernel::SquaredExponential)]);
static GROWING: Words<Explore, 1> = Words::new([("growing", Explore::Growing)]);
static LENGTHSCALES: Words<Lengthscales, 2> = Words::new([("each", Lengthscales::Each), ("one", Lengthscales::One)]);

pub static BAYES: Primitive = Primitive {
    path: "search::bayes",
    purpose: "Bayesian optimisation: a Gaussian process learns each image's losses, and asks where they may be largest.",
    params: &[],
    options: &[
        Param::new("questions", Kind::Int, "of the model about each image, the random ones included").range(1.0, 500.0).or(Fallback::Int(100)),
        Param::new("random_questions", Kind::Int, "how many of them are drawn, at the start").range(1.0, 500.0).or(Fallback::Int(2)),
        Param::new("kernel", KERNELS.kind(), "how losses hang together: Matern 5/2, or smoother")
            .or(Fallback::Str("matern")),
        Param::new(
            "beta",
            Kind::Either(&[GROWING.kind(), Kind::Float]),
            "the bound is mean + sqrt(beta) deviations; \"growing\" is 2 ln(d t^2 pi^2 / 0.6) at question t of d factors",
        )
        .range(0.0, 1e6)
        .or(Fallback::Float(4.0)),
        Param::new("noise_variance", Kind::Float, "as a share of that of the losses").range(1e-10, 1.0).or(Fallback::Float(1e-4)),
        Param::new("candidates", Kind::Int, "random settings, drawn anew at every fit, that are compared for every question; the best 8 are improved along the gradient")
            .range(8.0, 1e6)
            .or(Fallback::Int(2000)),
        Param::new("refit", Kind::Int, "questions from one fit of the lengthscales to the next").range(1.0, 500.0).or(Fallback::Int(5)),
        Param::new(
            "lengthscales",
            Kind::Either(&[LENGTHSCALES.kind(), Kind::Float]),
            "one for each factor, or one for all, where the losses are most likely; or a number, in shares of ranges, which stays",
        )
        .range(0.02, 20.0)
        .or(Fallback::Str("each")),
    ],
    returns: "a Search",
    notes: "Needs scores only. The loss is the lead of the best wrong score, below 0 where the image is read rightly, or with objective::misclassify().loss(\"cross_entropy\") the cross entropy, as the paper has it. Every image has a process of its own; all of them are asked at once. Ranges count from 0 to 1 (logarithmic ones in the \
            logarithm), two choices of a factor are as far apart as the ends of a range, and chance is drawn. Losses are brought to mean 0 \
            and variance 1. With \"each\", the likelihood is multiplied by a log-normal prior with mean sqrt(2) + ln(d) / 2 and deviation \
            sqrt(3) for d factors, without which few losses fit any lengthscales. `queries` is questions + 1: the image is \
            scored once as it stands. Time grows with the third power of `questions`: beyond a few hundred, search::policy learns \
            cheaper. The paper names the Gaussian process, two random examples and UCB; kernel, beta and the rest are this program's own.",
    source: "Shu, Liu, Qiu and Yuille, AAAI 2020; Srinivas, Krause, Kakade and Seeger, ICML 2010; the prior: Hvarfner, Hellsten and Nardi, ICML 2024",
    examples: &[Example {
        code: "let f = model::from(|x| { let m = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]); tensor::concat([m, 1 - m], 1) }, #{ classes: 2 });\n\
               let ds = data::glyphs(#{ n: 3, size: 16, seed: 1 }).relabel(|row| 0);\n\
               let dim = space::factors([#{ name: \"light\", min: 0, max: 1 }], |z, s| z * s.light);\n\
               examine(f, ds, #{ space: dim, search: search::bayes(#{ questions: 8 }) })[0].point.light < 0.1",
        result: "true",
    }],
    run: |_, args| {
        let explore = GROWING.given(args, "beta").unwrap_or_else(|| Explore::Fixed(args.float("beta")));
        let lengthscales = LENGTHSCALES
            .given(args, "lengthscales")
            .unwrap_or_else(|| Lengthscales::Fixed(args.float("lengthscales")));
        let (steps, start) = (args.count("questions"), args.count("random_questions"));
        if start > steps {
            return Err(Error::argument(format!("`random_questions`: {start} of {steps} in all")));
        }
        Ok(Value::object(AnySearch(Rc::new(Bayes {
            steps,
            start,
            kernel: KERNELS.of(args, "kernel"),
            explore,
            noise: args.float("noise_variance"),
            candidates: args.count("candidates"),
            refit: args.count("refit"),
            lengthscales,
        }))))
    },
};
