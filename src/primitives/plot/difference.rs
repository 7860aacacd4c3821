//! `plot::difference`.

use super::common::TITLE;
use crate::core::Value;
use crate::estimate::tolerance::Difference;
use crate::plot;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static DIFFERENCE: Primitive = Primitive {
    path: "plot::difference",
    purpose: "Draws by how much one model's tolerance curve lies above another's, with paired intervals.",
    params: &[Param::new("difference", Kind::Object("ToleranceDifference"), "from tolerance::difference")],
    options: &[TITLE],
    returns: "Figure",
    notes: "A panel each for I(T; Y) and accuracy. Where a band holds 0, these images do not tell the models apart at that level.",
    source: "",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 200, size: 16, position: \"centred\", seed: 1 });\n\
               let fresh = data::glyphs(#{ n: 200, size: 16, position: \"centred\", seed: 2 });\n\
               let curve = |epochs| tolerance::measure(\n    \
                   model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: epochs, seed: 1 }),\n    \
                   fresh, #{ space: space::noise(), levels: [0.1, 1, 10] });\n\
               plot::difference(tolerance::difference(curve.call(8), curve.call(20)))",
        result: "figure: 2 panels, 2 lines",
    }],
    run: |_, args| {
        let figure = plot::difference(&args.object::<Difference>("difference"))?.titled(args.str("title"));
        Ok(Value::object(figure.checked()?))
    },
};
