//! Some of the elements, or the elements in another order.

use super::SELF;
use super::create::single;
use super::reduce::axis;
use crate::core::{Cx, Error, Result, Tensor, Value};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static PICK: Primitive = Primitive {
    path: "Tensor.pick",
    purpose: "The rows at these places, or those where a mask holds; along another dimension if asked.",
    params: &[
        SELF,
        Param::new(
            "which",
            Kind::Either(&[Kind::Int, Kind::Tensor, Kind::Numbers]),
            "one place, places (an array, a range, an int64 tensor), or a mask of a comparison; -1 is the last place",
        ),
        Param::new("dim", Kind::Int, "the dimension; -1 is the last").or(Fallback::Int(0)),
    ],
    options: &[],
    returns: "a tensor, without the dimension if one place was asked for",
    notes: "Places may be repeated.",
    source: "",
    examples: &[
        Example { code: "tensor::from([5, 6, 7, 8]).pick([3, 0, 0]).values()", result: "[8.0, 5.0, 5.0]" },
        Example { code: "tensor::from([[1, 2, 3], [4, 5, 6]]).pick(1..3, 1).shape", result: "[2, 2]" },
        Example { code: "tensor::from([[1, 2, 3], [4, 5, 6]]).pick(0, -1).values()", result: "[1.0, 4.0]" },
        Example { code: "let x = tensor::from([3, -1, 2]); x.pick(x > 0).values()", result: "[3.0, 2.0]" },
    ],
    run: pick,
};

fn pick(_cx: &Cx, args: &Args) -> Result<Value> {
    let x = args.tensor("x");
    let dim = axis(&x, args.int("dim"))?;
    let n = x.size()[dim as usize];
    let within = |i: i64| {
        if (-n..n).contains(&i) {
            Ok(if i < 0 { i + n } else { i })
        } else {
            Err(Error::argument(format!("Tensor.pick: there is no place {i} among {n}")))
        }
    };
    if let Some(place) = args.optional_int("which") {
        return Ok(Value::tensor(x.f_select(dim, within(place)?)?));
    }
    let places = match args.value("which") {
        Value::Tensor(mask) if mask.kind() == tch::Kind::Bool => {
            if mask.size() != [n] {
                return Err(Error::argument(format!(
                    "Tensor.pick: the mask has shape {:?}, the dimension has {n} places",
                    mask.size()
                )));
            }
            mask.f_nonzero()?.f_reshape([-1])?
        }
        Value::Tensor(places) if places.kind() == tch::Kind::Int64 && places.size().len() == 1 => {
            let places = Vec::<i64>::try_from(places.as_ref())?;
            Tensor::f_from_slice(&places.into_iter().map(within).collect::<Result<Vec<_>>>()?)?
        }
        Value::Tensor(other) => {
            return Err(Error::argument(format!(
                "Tensor.pick: `which` must be whole places in one row or a mask, got {:?} of shape {:?}",
                other.kind(),
                other.size()
            )));
        }
        _ => {
            let whole = |x: f64| {
                if x.fract() == 0.0 {
                    within(x as i64)
                } else {
                    Err(Error::argument(format!("Tensor.pick: places are whole numbers, got {x}")))
                }
            };
            Tensor::f_from_slice(&args.numbers("which").into_iter().map(whole).collect::<Result<Vec<_>>>()?)?
        }
    };
    Ok(Value::tensor(x.f_index_select(dim, &places.f_to_device(x.device())?)?))
}

pub static WHERE: Primitive = Primitive {
    path: "Tensor.where",
    purpose: "Where the mask holds the elements of the one, elsewhere those of the other.",
    params: &[
        Param::new("mask", Kind::Tensor, "of a comparison, such as `x > 0`"),
        Param::new("yes", Kind::Either(&[Kind::Float, Kind::Tensor]), "where it holds"),
        Param::new("no", Kind::Either(&[Kind::Float, Kind::Tensor]), "where it does not"),
    ],
    options: &[],
    returns: "a tensor of the shape that the three have together",
    notes: "Masks are joined by `&` and `|`, and turned round by `!`.",
    source: "",
    examples: &[
        Example { code: "let x = tensor::from([-2, 3]); (x > 0).where(x, 0).values()", result: "[0.0, 3.0]" },
        Example {
            code: "let x = tensor::from([-2, 3, 9]); (x > 0 & !(x > 5)).where(1, -1).values()",
            result: "[-1.0, 1.0, -1.0]",
        },
    ],
    run: |_cx, args| {
        let mask = args.tensor("mask");
        if mask.kind() != tch::Kind::Bool {
            return Err(Error::argument(format!("Tensor.where: wants a mask of bools, got {:?}", mask.kind()))
                .hint("a comparison makes one: `(x != 0).where(a, b)`"));
        }
        let side = |name: &str| -> Result<std::rc::Rc<Tensor>> {
            Ok(match args.optional_float(name) {
                Some(x) => {
                    Tensor::f_from_slice(&[single(x)?])?.f_reshape([0i64; 0])?.f_to_device(mask.device())?.into()
                }
                None => args.tensor(name),
            })
        };
        let (yes, no) = (side("yes")?, side("no")?);
        yes.f_where_self(&mask, &no).map(Value::tensor).map_err(|error| {
            Error::from(error).unless_of_shapes("Tensor.where", || {
                let (mask, yes, no) = (mask.size(), yes.size(), no.size());
                Error::argument(format!("Tensor.where: shapes {mask:?}, {yes:?} and {no:?} do not fit"))
            })
        })
    },
};

pub static SORT: Primitive = Primitive {
    path: "Tensor.sort",
    purpose: "The elements of each row from the least to the largest.",
    params: &[SELF],
    options: &[],
    returns: "a tensor of the same shape, sorted along its last dimension",
    notes: "NaN comes last.",
    source: "",
    examples: &[Example { code: "tensor::from([3, 1, 2]).sort().values()", result: "[1.0, 2.0, 3.0]" }],
    run: |_cx, args| {
        let x = args.tensor("x");
        axis(&x, -1)?;
        Ok(Value::tensor(x.f_sort(-1, false)?.0))
    },
};
