//! `risk::report`.

use super::{CALIBRATED, DELTA, REGISTERED, SIDES, TEST, backing, protocol};
use crate::core::Value;
use crate::estimate::registration::Fixed;
use crate::estimate::risk::report;
use crate::primitives::{Example, Kind, Param, Primitive};
use crate::search::Transcript;

pub static REPORT: Primitive = Primitive {
    path: "risk::report",
    purpose: "Compares the plain error with the error weighted by the density of adversarial examples.",
    params: &[Param::new(
        "transcript",
        Kind::Object("Transcript"),
        "an examination with densities, such as over translations",
    )],
    options: &[TEST, DELTA, SIDES, REGISTERED, CALIBRATED],
    returns: "a RiskReport: m, error (R_S), weighted_error (R_g), adversarial_error (R_S'; of search::average_doubt these two are (), and doubt and \
              weighted_doubt are R_S and R_g), compared (what T compares), difference (T), sigma, lo and hi (the \
              range of T_i), test (the one that counts), p, reject, verdict, delta and power (all of that test), cautions (why it may \
              mean something else), betting, pairwise, interval (each test), scored, assumption, registered and calibrated (of these options), methods \
              (a paragraph for a paper), bibtex, t, transcript",
    notes: "Both errors estimate the same risk if the model is independent of the images; a model that has seen them has too \
            small a plain error. A rejection means one of three things, that model and images are not independent, that the \
            changes do not keep label and density, or that images depend on each other (`Dataset.clustered`), and no test can tell which. `power` says which gap R_g - R_S these images show \
            with 80% power, and how many images gaps of 0.001, 0.005 and 0.02 need: for T_i as they are, tilted \
            exponentially to that mean, by a normal approximation, which promises too much where small weights stand beside whole errors: samples with \
            that gap are simulated (400, or fewer where images are many; none from 20,000 with a T_i that is not 0 on), and where plainly fewer are rejected the sentence says how many. \"No power\" means that even the largest gap there could have been, with \
            every positive T_i at its largest and no other against it (of searches that average: no image against it), would be noticed with less. Several reports asked \
            together are corrected by `risk::holm`. A transcript without densities is refused.",
    source: "Werpachowski, György and Szepesvári 2019, Sections 2 and 3",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               let t = examine(f, ds, #{ space: space::translate(1), search: search::strongest() });\n\
               risk::report(t).m",
        result: "20",
    }],
    run: |cx, args| {
        let transcript = args.object::<Transcript>("transcript");
        let found = report(cx, transcript.clone(), protocol(args))?;
        if !args.given("registered") && !args.given("calibrated") {
            return Ok(Value::object(found));
        }
        let backing = backing(cx, args, &Fixed::of_transcript(cx, &transcript, protocol(args)))?;
        Ok(Value::object(found.backed(cx, backing)?))
    },
};
