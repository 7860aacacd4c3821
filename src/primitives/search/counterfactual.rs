//! `search::counterfactual`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};
use crate::search::{AnySearch, Counterfactual};

pub static COUNTERFACTUAL: Primitive = Primitive {
    path: "search::counterfactual",
    purpose: "The least change from a right view to a wrong one: the fewest factors, then the least distance along them.",
    params: &[],
    options: &[
        Param::new(
            "random_questions",
            Kind::Int,
            "drawn at the start, among which a right setting and wrong ones must be",
        )
        .range(2.0, 1e6)
        .or(Fallback::Int(100)),
        Param::new("most_factors", Kind::Int, "that are changed together in every possible way, at most")
            .range(1.0, 8.0)
            .or(Fallback::Int(3)),
        Param::new("parts", Kind::Int, "of the path to the wrong setting, at whose ends the model is asked")
            .range(2.0, 1000.0)
            .or(Fallback::Int(16)),
    ],
    returns: "a Search",
    notes: "Of each image: settings are drawn; of the right ones the surest is kept, and all wrong ones. One factor of a wrong \
            one is put into the right one, each factor of each in turn, then every two, up to `most_factors`, until the answer is wrong. Of more than 1000 such \
            settings as many are asked for each set of factors, of wrong ones spread from near to far, and then not all was tried, which is said; so that it asks at most 1000 \
            times for each number of factors, besides those that are drawn and the path; with more factors, or where \
            there are over 1000 sets of them, factors are taken out of the nearest wrong setting one by one as long as it stays wrong. Of what as few factors make wrong \
            the three nearest are gone back along, a straight line in shares of ranges (logarithmic ones in the logarithm) on which choices change first, and where the answer turns first \
            the part of the path is halved eight times. Right and wrong settings are then asked again. Distance is the sum of the shares, and 1 for each changed choice. \
            An image that was never right, or never wrong, is asked no more. robustness::counterfactual reads what came of it; a row tells of the failing point with the fewest changed \
            factors, then the least distance.",
    source: "the idea: Wachter, Mittelstadt and Russell 2018; fewest features by exhaustion: after Martens and Provost, MIS Quarterly 2014",
    examples: &[Example {
        code: "search::counterfactual(#{ random_questions: 50 })",
        result: "search counterfactual(#{ random_questions: 50, most_factors: 3, parts: 16 })",
    }],
    run: |_, args| {
        let (random, most, parts) = (args.count("random_questions"), args.count("most_factors"), args.count("parts"));
        Ok(Value::object(AnySearch(Rc::new(Counterfactual { random, most, parts }))))
    },
};
