//! Tensors in scripts: random numbers, choices, masks, and what is said where shapes do not fit.

use std::rc::Rc;

use viva::core::{Cx, Value};
use viva::script::Session;

fn evaluate(code: &str) -> Result<Value, String> {
    Session::new(Rc::new(Cx::default())).evaluate("tensors", code).map_err(|error| error.render(false))
}

fn numbers(code: &str) -> Vec<f64> {
    let number = |value: &Value| match value {
        Value::Float(x) => *x,
        Value::Int(x) => *x as f64,
        Value::Bool(b) => f64::from(u8::from(*b)),
        other => panic!("{code}: {other:?}"),
    };
    match evaluate(code) {
        Ok(Value::Array(values)) => values.iter().map(number).collect(),
        Ok(value) => vec![number(&value)],
        Err(error) => panic!("{code}: {error}"),
    }
}

#[test]
fn answers_are_those_of_numpy() {
    for (code, known) in [
        // numpy.quantile([3, 1, 4, 1, 5, 9, 2, 6], 0.3), and along the first axis of the same as 2 x 4
        ("tensor::from([3, 1, 4, 1, 5, 9, 2, 6]).quantile(0.3)", &[2.1][..]),
        ("tensor::from([[3, 1, 4, 1], [5, 9, 2, 6]]).quantile(0.25, 0).values()", &[3.5, 3.0, 2.5, 2.25]),
        ("tensor::from([[3, 1, 4], [5, 9, 2]]).sort().values()", &[1.0, 3.0, 4.0, 2.0, 5.0, 9.0]),
        // scipy.special.erf
        ("tensor::from([-1, 0.5, 2]).erf().values()", &[-0.8427007929, 0.5204998778, 0.9953222650]),
        ("let x = tensor::from([-1, 2, 7]); (x > 0 & x < 5).where(x, -x).values()", &[1.0, 2.0, -7.0]),
        ("let x = tensor::from([[1, 2], [3, 4]]); (x > 1 | x < 0).where(1, x * 0).sum(1).values()", &[1.0, 2.0]),
        ("let x = tensor::from([1, 5, 3]); (1 - (x > 2)).values()", &[1.0, 0.0, 0.0]),
        ("let x = tensor::from([1, 5, 3]); ((x > 2) - (x > 4) + (x > 2)).values()", &[0.0, 1.0, 2.0]),
        ("let x = tensor::from([1, 5, 3]); (-(x > 2)).values()", &[0.0, -1.0, -1.0]),
        ("tensor::from([[1, 2, 3], [4, 5, 6]]).transpose().values()", &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
        ("tensor::from([[1, 2, 3], [4, 5, 6]]).pick(tensor::from([0, 1, 9]) > 0, 1).values()", &[2.0, 3.0, 5.0, 6.0]),
        ("tensor::from([5, 6, 7]).pick(tensor::from([[1, 7, 3]]).argmax()).values()", &[6.0]),
        (
            "tensor::concat([tensor::from([[1], [2]]), tensor::from([[3, 4], [5, 6]])], -1).values()",
            &[1.0, 3.0, 4.0, 2.0, 5.0, 6.0],
        ),
    ] {
        let found = numbers(code);
        let close = found.len() == known.len() && found.iter().zip(known).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(close, "{code}: {found:?}, not {known:?}");
    }
}

#[test]
fn random_numbers_have_the_moments_of_their_distribution() {
    // 400,000 draws: means are good to 4 / sqrt(400,000) = 0.0063 standard deviations.
    let moments = |code: &str| numbers(&format!("let x = {code}; [x.mean(), (x * x).mean(), x.min(), x.max()]"));
    let [mean, square, ..] = moments("tensor::normal([400, 1000], #{ mean: 2, sigma: 3, seed: 1 })")[..] else {
        panic!()
    };
    assert!((mean - 2.0).abs() < 0.02 && (square - 13.0).abs() < 0.12, "{mean} {square}");
    let [mean, square, lo, hi] = moments("tensor::uniform([400, 1000], #{ lo: -1, hi: 3, seed: 1 })")[..] else {
        panic!()
    };
    assert!((mean - 1.0).abs() < 0.0075 && (square - 7.0 / 3.0).abs() < 0.02 && lo >= -1.0 && hi < 3.0);
    // Mean of a normal of deviation s about mu above a: mu + s phi(z) / (1 - Phi(z)), z = (a - mu) / s, by scipy.stats:
    // norm.pdf((0.025 - 1) / 500**.5) / norm.sf((0.025 - 1) / 500**.5) * 500**.5 + 1
    let code = "tensor::normal([400, 1000], #{ mean: 1, sigma: sqrt(500), lo: 0.025, seed: 1 })";
    let [mean, _, lo, hi] = moments(code)[..] else { panic!() };
    assert!((mean - TRUNCATED).abs() < 0.085 && lo >= 0.025 && hi > 90.0, "{mean} {lo} {hi}");
    let [_, _, lo, hi] = moments("tensor::normal([1000], #{ lo: -0.5, hi: 0.25, seed: 1 })")[..] else { panic!() };
    assert!((-0.5..-0.48).contains(&lo) && hi <= 0.25 && hi > 0.23, "{lo} {hi}");
}

const TRUNCATED: f64 = 18.2252;

#[test]
fn seeds_and_shapes_decide_what_is_drawn() {
    let differ = |a: &str, b: &str| numbers(&format!("({a} - {b}).abs().max()"))[0];
    assert_eq!(differ("tensor::normal([50], #{ seed: 1 })", "tensor::normal([50], #{ seed: 1 })"), 0.0);
    assert!(differ("tensor::normal([50], #{ seed: 1 })", "tensor::normal([50], #{ seed: 2 })") > 0.5);
    assert!(differ("tensor::normal([50])", "tensor::normal([50])") > 0.5, "loops draw fresh numbers");
    let begin = "tensor::normal([2, 50], #{ seed: 1 })[0]";
    assert!(differ("tensor::normal([50], #{ seed: 1 })", begin) > 0.5, "another shape begins with other numbers");
    let together = numbers(
        "let x = tensor::uniform([10000], #{ seed: 1 }) - 0.5; let y = tensor::normal([10000], #{ seed: 1 }); (x * y).mean()",
    );
    assert!(together[0].abs() < 0.012, "one seed makes no numbers of two laws that go together: {}", together[0]);
    let order = numbers("tensor::permutation(100, #{ seed: 1 }).values()");
    assert!(order.windows(2).any(|two| two[0] > two[1]));
    let mut sorted = order;
    sorted.sort_by(f64::total_cmp);
    assert!(sorted.iter().enumerate().all(|(i, x)| i as f64 == *x));
    assert_eq!(numbers("tensor::normal([0, 3]).shape"), [0.0, 3.0]);
}

#[test]
fn what_does_not_fit_is_refused_in_words() {
    for (code, wanted) in [
        ("tensor::from([1, 2]).pick(2)", "no place 2 among 2"),
        ("tensor::from([1, 2]).pick([0, -3])", "no place -3 among 2"),
        ("tensor::from([1, 2]).pick([0.5])", "whole numbers"),
        ("tensor::from([1, 2]).pick(0, 1)", "no dimension 1"),
        ("tensor::from([1, 2]).pick(tensor::from([0.0]))", "whole places in one row or a mask"),
        ("tensor::from([1, 2]).pick(tensor::from([1, 2, 3]) > 1)", "the mask has shape [3]"),
        ("tensor::from([1, 2]).where(1, 2)", "wants a mask"),
        ("(tensor::from([1, 2]) > 1).where(tensor::zeros([3]), 0)", "do not fit"),
        ("tensor::from([1, 2]) & tensor::from([1, 2])", "is for masks"),
        ("!tensor::from([1, 2])", "is for masks"),
        ("(tensor::from([1, 2]) > 1) | (tensor::from([1, 2, 3]) > 1)", "do not fit"),
        ("tensor::from([]).quantile(0.5)", "empty"),
        ("tensor::zeros([0, 3]).quantile(0.5, 0)", "empty"),
        ("tensor::from([1]).quantile(1.5)", "`q` must be from 0 to 1"),
        ("tensor::concat([])", "no tensor"),
        ("tensor::concat([1, 2])", "array of tensors"),
        ("tensor::concat([tensor::zeros([2, 3]), tensor::zeros([3, 2])])", "do not join"),
        ("tensor::from([1]).transpose()", "two dimensions"),
        ("tensor::normal([2, 0.5])", "whole"),
        ("tensor::normal([1e6, 1e6])", "too large"),
        ("tensor::normal([3], #{ lo: 2, hi: 1 })", "next to nothing"),
        ("tensor::normal([3], #{ lo: 50 })", "next to nothing"),
        ("tensor::normal([3], #{ sigma: 0 })", "`sigma` must be"),
        ("tensor::uniform([3], #{ lo: 2, hi: 1 })", "`lo` is 2"),
        ("tensor::permutation(-1)", "`n` must be"),
    ] {
        let error = evaluate(code).err().unwrap_or_else(|| panic!("{code} works"));
        assert!(error.contains(wanted), "{code}: {error}");
    }
}

#[test]
fn whole_numbers_that_float32_lacks_are_not_drawn_as_others() {
    let error = evaluate("tensor::choice([16777217], [2])").expect_err("2^24 + 1");
    assert!(error.contains("float32 has no 16777217: the nearest that it has is 16777216"), "{error}");
    assert_eq!(numbers("tensor::choice([16777216, 1e30], [3], #{ weights: [1, 0] }).values()"), [16777216.0; 3]);
}
