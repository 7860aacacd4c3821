use super::common::TITLE;
use crate::core::Value;
use crate::plot;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static POWER: Primitive = Primitive {
    path: "plot::power",
    purpose: "Draws how often each test for overfitting notices a gap, against the number of images.",
    params: &[Param::new("plan", Kind::Object("RiskPlan"), "what risk::plan found")],
    options: &[TITLE],
    returns: "Figure",
    notes: "One line per test with 95% intervals (Wilson's) of the share of samples rejected; dashed lines at the powers that were asked \
            for. Cautions of the plan stand below. A plan of which nothing was simulated is refused.",
    source: "",
    examples: &[Example {
        code: "plot::power(risk::plan(#{ error: 0.1, adversarial_error: 0.3, candidates: 8 }, #{ gap: 0.1, repeats: 50, seed: 1 }))",
        result: "figure: 3 lines",
    }],
    run: |_, args| {
        let figure = plot::power(&args.object("plan"))?.titled(args.str("title"));
        Ok(Value::object(figure.checked()?))
    },
};
