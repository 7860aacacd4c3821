//! `risk::share`.

use crate::core::{Error, Value};
use crate::maths::shares::CountedShare;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static SHARE: Primitive = Primitive {
    path: "risk::share",
    purpose: "A share of what was counted, with its interval at 95%, as columns of a row.",
    params: &[
        Param::new("yes", Kind::Int, "how many").range(0.0, MOST),
        Param::new("of", Kind::Int, "out of so many").range(0.0, MOST),
    ],
    options: &[
        Param::new("name", Kind::Str, "what the columns are called").or(Fallback::Str("share")),
        Param::new(
            "sequential",
            Kind::Bool,
            "whether it was drawn until so many were had, so that the last draw is one of them",
        )
        .or(Fallback::Bool(false)),
    ],
    returns: "a map, to be added to a row: `share`, `share_lo`, `share_hi`; of nothing NaN, from 0 to 1",
    notes: "Wilson's interval. Of what was drawn until there were enough, yes / of is too large: (yes - 1) / (of - 1) is right on average where `yes` is 2 or more (1 / of, the share where it is 1, is still too large), and the interval is the \
            exact one for the number of draws.",
    source: "Wilson 1927; Haldane 1945; Lui 1995",
    examples: &[
        Example { code: "risk::share(8, 10, #{ name: \"fooled\" }).fooled_lo", result: "0.490162" },
        Example { code: "risk::share(3, 9, #{ sequential: true }).share", result: "0.25" },
    ],
    run: |_, args| {
        let (yes, of) = (args.count("yes"), args.count("of"));
        if yes > of {
            return Err(Error::argument(format!("{yes} of {of}: there are more than out of how many"))
                .hint("a count and its total come in turn: risk::share(yes, of)"));
        }
        let found =
            if args.bool("sequential") { CountedShare::sequential(yes, of) } else { CountedShare::new(yes, of) };
        let columns = [("", found.value), ("_lo", found.lo), ("_hi", found.hi)];
        let name = args.str("name");
        Ok(Value::Map(columns.into_iter().map(|(end, x)| (format!("{name}{end}"), Value::Float(x))).collect()))
    },
};

/// Larger counts are no whole numbers in 64 bits of floating point.
const MOST: f64 = 9e15;
