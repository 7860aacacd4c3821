//! Auto-PGD and fast minimum-norm against the algorithms as their papers state them, and what they find.
#![allow(clippy::unwrap_used)]

use crate::truths;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use tch::Tensor;
use viva::core::{Cx, Digest, Result, Value};
use viva::model::{Model, Network};
use viva::script::Session;

/// Two classes and two pixels, hilly: z = (0, h), h = lift + sin(9a) + sin(7b) / 2 + sin(15 a b) / 2. Notes what it is asked.
struct Hills {
    asked: Rc<RefCell<Vec<[f64; 2]>>>,
    lift: f64,
}

/// Never wrong.
const HIGH: f64 = 6.0;
/// With a valley on either side of 0.4 and of 1.
const LOW: f64 = 1.2;

fn h(lift: f64, [a, b]: [f64; 2]) -> f64 {
    lift + (9.0 * a).sin() + (7.0 * b).sin() / 2.0 + (15.0 * a * b).sin() / 2.0
}

impl Network for Hills {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let flat = images.flatten(1, -1);
        let (a, b) = (flat.select(1, 0), flat.select(1, 1));
        for row in Vec::<Vec<f32>>::try_from(&flat.detach()).unwrap() {
            self.asked.borrow_mut().push([row[0].into(), row[1].into()]);
        }
        let height: Tensor = (&a * 9.0).sin() + (&b * 7.0).sin() / 2.0 + (&a * &b * 15.0).sin() / 2.0 + self.lift;
        Ok(Tensor::stack(&[height.zeros_like(), height], 1))
    }
}

/// The direction in which the cross entropy of class 1 grows: down the hill.
fn down([a, b]: [f64; 2]) -> [f64; 2] {
    let both = (15.0 * a * b).cos() * 7.5;
    [-(9.0 * (9.0 * a).cos() + both * b), -(3.5 * (7.0 * b).cos() + both * a)]
}

/// Croce and Hein 2020, Algorithm 1, around x within [0, 1]: all points that are scored after x itself.
fn algorithm(norm: &str, x: [f64; 2], radius: f64, steps: usize) -> Vec<[f64; 2]> {
    let length = |v: [f64; 2]| v[0].hypot(v[1]);
    let keep = |z: [f64; 2]| {
        let change = [z[0] - x[0], z[1] - x[1]];
        let kept = match norm {
            "linf" => change.map(|d| d.clamp(-radius, radius)),
            _ => change.map(|d| d * (radius / length(change).max(1e-300)).min(1.0)),
        };
        [0, 1].map(|i| (x[i] + kept[i]).clamp(0.0, 1.0))
    };
    let steepest = |slope: [f64; 2]| match norm {
        "linf" => slope.map(f64::signum),
        _ => slope.map(|d| d / length(slope)),
    };
    let mut checks = vec![0.0, 0.22f64];
    while checks[checks.len() - 1] < 1.0 {
        let [before, last] = [checks[checks.len() - 2], checks[checks.len() - 1]];
        checks.push(last + (last - before - 0.03).max(0.06));
    }
    let checks: Vec<usize> = checks.iter().map(|p| (p * steps as f64 - 1e-9).ceil() as usize).collect();
    let (mut points, mut size) = (vec![x], 2.0 * radius);
    let (mut now, mut before, mut best) = (x, x, x);
    let (mut checked, mut halved, mut rises) = (h(HIGH, x), false, 0);
    for k in 0..steps {
        let place = checks.iter().position(|check| *check == k).filter(|place| *place > 0);
        if let Some(place) = place {
            let seldom = (rises as f64) < 0.75 * (k - checks[place - 1]) as f64;
            let halve = seldom || (!halved && h(HIGH, best) >= checked);
            (checked, halved, rises) = (h(HIGH, best), halve, 0);
            if halve {
                size /= 2.0;
                now = best;
            }
        }
        let slope = steepest(down(now));
        let stepped = keep([0, 1].map(|i| now[i] + size * slope[i]));
        let next = match k {
            0 => stepped,
            _ => keep([0, 1].map(|i| now[i] + 0.75 * (stepped[i] - now[i]) + 0.25 * (now[i] - before[i]))),
        };
        rises += usize::from(h(HIGH, next) < h(HIGH, points[points.len() - 1]));
        points.push(next);
        if h(HIGH, next) < h(HIGH, best) {
            best = next;
        }
        (before, now) = (now, next);
    }
    points.push(best);
    points
}

/// A session whose `f` is the hills, and what these are asked.
fn hills(lift: f64) -> (Session, Rc<RefCell<Vec<[f64; 2]>>>) {
    let asked = Rc::new(RefCell::new(vec![]));
    let mut session = Session::new(Rc::new(Cx::default()));
    let model =
        Model::new("hills", Box::new(Hills { asked: asked.clone(), lift }), Digest::of(b"hills")).with_classes(2);
    session.set("f", Value::object(model));
    (session, asked)
}

/// Where a softmax is 1 in float32 no gradient leads anywhere, however long the ball has grown.
#[test]
fn ddn_stays_where_there_is_no_gradient_and_says_so() {
    let (mut session, _) = hills(1000.0);
    let text = "let ds = data::from(tensor::from([0.5, 0.5]).reshape([1, 1, 1, 2]), [1]);\n\
                let t = examine(f, ds, #{ space: space::pixels(\"l2\"), search: search::ddn() });\n\
                t[0].vanished && t[0].magnitude == 0.0 && !t[0].fooled && t.cautions.some(|said| said.contains(\"gradient\"))";
    let said = session.run(Path::new("script.rhai"), text).unwrap_or_else(|e| panic!("{}", e.render(false)));
    assert!(matches!(said, Value::Bool(true)), "{}", said.summary());
}

/// Pintor et al. 2021, Algorithm 1, on the hills around x within [0, 1], less what of a gradient leads out of them: all points whose
/// gradient is asked for, how far the nearest is that fails, and how far the last is.
fn minimum_norm(norm: &str, x: [f64; 2], steps: usize) -> (Vec<[f64; 2]>, Option<f64>, f64) {
    let length = |v: [f64; 2]| v[0].hypot(v[1]);
    let (sum, most) = (|v: [f64; 2]| v[0].abs() + v[1].abs(), |v: [f64; 2]| v[0].abs().max(v[1].abs()));
    let size = |v: [f64; 2]| match norm {
        "linf" => most(v),
        "l1" => sum(v),
        _ => length(v),
    };
    let dual = |v: [f64; 2]| match norm {
        "linf" => sum(v),
        "l1" => most(v),
        _ => length(v),
    };
    let cosine = |k: usize| (1.0 + (std::f64::consts::PI * k as f64 / steps as f64).cos()) / 2.0;
    let (mut points, mut now) = (vec![], x);
    let (mut radius, mut nearest) = (f64::INFINITY, None::<f64>);
    for k in 0..steps {
        points.push(now);
        let (step, gamma) = (0.01 + 0.99 * cosine(k), 0.001 + 0.049 * cosine(k));
        let change = [now[0] - x[0], now[1] - x[1]];
        let uphill = down(now).map(|slope| -slope);
        let out = |i: usize, step: f64| (now[i] - step * uphill[i] / length(uphill)).clamp(0.0, 1.0) == now[i];
        let uphill = [0, 1].map(|i| if out(i, step) { 0.0 } else { uphill[i] });
        if h(LOW, now) < 0.0 {
            nearest = Some(nearest.map_or(size(change), |known| known.min(size(change))));
            radius = (radius * (1.0 - gamma)).min(nearest.unwrap());
        } else if nearest.is_some() {
            radius *= 1.0 + gamma;
        } else {
            radius = ((size(change) + h(LOW, now).abs() / dual(uphill)) * (1.0 + gamma)).max(0.001 * step);
        }
        let next = [0, 1].map(|i| now[i] - step * uphill[i] / length(uphill).max(1e-300) - x[i]);
        let kept = match norm {
            "linf" => next.map(|d| d.clamp(-radius, radius)),
            "l1" => sparse_keep(&x, &[x[0] + next[0], x[1] + next[1]], radius).try_into().unwrap(),
            _ => next.map(|d| d * (radius / length(next)).min(1.0)),
        };
        now = [0, 1].map(|i| (x[i] + kept[i]).clamp(0.0, 1.0));
    }
    (points, nearest, size([now[0] - x[0], now[1] - x[1]]))
}

/// Rony et al. 2019, Algorithm 1, without its rounding, on the hills around x within [0, 1], whose first ball is of this radius: all points
/// whose gradient is asked for, and how far the nearest is that fails.
fn decoupled(x: [f64; 2], ball: f64, steps: usize) -> (Vec<[f64; 2]>, Option<f64>) {
    let length = |v: [f64; 2]| v[0].hypot(v[1]);
    let farthest = length(x.map(|a| a.max(1.0 - a)));
    let (mut points, mut now, mut radius, mut nearest) = (vec![], x, ball, None::<f64>);
    for k in 0..steps {
        points.push(now);
        if h(LOW, now) < 0.0 {
            let here = length([now[0] - x[0], now[1] - x[1]]);
            nearest = Some(nearest.map_or(here, |known| known.min(here)));
            radius *= 0.95;
        } else {
            radius *= 1.05;
        }
        radius = radius.min(farthest);
        let step = 0.01 + 0.99 * (1.0 + (std::f64::consts::PI * k as f64 / steps as f64).cos()) / 2.0;
        let slope = down(now);
        let change = [0, 1].map(|i| now[i] + step * slope[i] / length(slope) - x[i]);
        now = [0, 1].map(|i| (x[i] + change[i] * radius / length(change)).clamp(0.0, 1.0));
    }
    (points, nearest)
}

#[test]
fn every_point_of_ddn_is_the_one_that_the_algorithm_names() {
    for (x, ball, steps, found) in [
        ([0.35, 0.5], 0.1, 40, true),
        ([0.7, 0.4], 0.05, 60, true),
        ([0.9, 0.9], 0.3, 40, true),
        ([0.7, 0.4], 1.0, 60, false),
    ] {
        let (mut session, asked) = hills(LOW);
        let text = format!(
            "let ds = data::from(tensor::from([{:?}, {:?}]).reshape([1, 1, 1, 2]), [1]);\n\
             let how = #{{ space: space::pixels(\"l2\", #{{ bounds: [0, 1] }}), search: search::ddn(#{{ steps: {steps}, ball: {ball:?} }}) }};\n\
             let t = examine(f, ds, how); [t.column(\"magnitude\")[0], t.column(\"after\")[0]]",
            x[0], x[1]
        );
        let ended = session.run(Path::new("script.rhai"), &text).unwrap_or_else(|e| panic!("{}", e.render(false)));
        let (wanted, nearest) = decoupled(x, ball, steps);
        let asked = asked.borrow();
        // The nearest point is looked at last.
        let points = &asked[asked.len() - 1 - wanted.len()..];
        for (i, (point, wanted)) in points.iter().zip(&wanted).enumerate() {
            let far = (0..2).map(|k| (point[k] - wanted[k]).abs()).fold(0.0, f64::max);
            assert!(far < 2e-5, "point {i} of {steps}: {point:?}, wanted {wanted:?}");
        }
        let Value::Array(ended) = &ended else { panic!("{}", ended.summary()) };
        let (Value::Float(magnitude), Value::Int(after)) = (&ended[0], &ended[1]) else { panic!("two numbers") };
        assert_eq!((*after == 0, nearest.is_some()), (found, found), "from {x:?}");
        if let Some(nearest) = nearest {
            assert!((magnitude - nearest).abs() < 2e-5, "from {x:?}: {magnitude}, wanted {nearest}");
        }
    }
}

#[test]
fn every_point_of_fmn_is_the_one_that_the_algorithm_names() {
    for (norm, x, steps) in [
        ("l2", [0.35, 0.5], 40),
        ("l2", [0.7, 0.4], 60),
        ("l2", [0.95, 0.1], 40),
        ("linf", [0.35, 0.5], 40),
        ("linf", [0.3, 0.6], 60),
        ("l1", [0.3, 0.6], 40),
        ("l1", [0.4, 0.3], 40),
        ("l1", [0.8, 0.5], 40),
    ] {
        let (mut session, asked) = hills(LOW);
        let text = format!(
            "let ds = data::from(tensor::from([{:?}, {:?}]).reshape([1, 1, 1, 2]), [1]);\n\
             let how = #{{ space: space::pixels({norm:?}, #{{ bounds: [0, 1] }}), search: search::fmn(#{{ steps: {steps} }}) }};\n\
             let t = examine(f, ds, how); [t.column(\"magnitude\")[0], t.column(\"after\")[0]]",
            x[0], x[1]
        );
        let ended = session.run(Path::new("script.rhai"), &text).unwrap_or_else(|e| panic!("{}", e.render(false)));
        let (wanted, nearest, last) = minimum_norm(norm, x, steps);
        let asked = asked.borrow();
        // The nearest point is looked at last.
        let found = &asked[asked.len() - 1 - wanted.len()..];
        for (i, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
            let far = (0..2).map(|k| (found[k] - wanted[k]).abs()).fold(0.0, f64::max);
            assert!(far < 2e-5, "{norm}, point {i} of {steps}: {found:?}, wanted {wanted:?}");
        }
        let Value::Array(ended) = &ended else { panic!("{}", ended.summary()) };
        let (Value::Float(magnitude), Value::Int(after)) = (&ended[0], &ended[1]) else { panic!("two numbers") };
        // Without a point that fails the row is where it ended.
        assert_eq!(*after == 0, nearest.is_some(), "{norm} from {x:?}");
        assert!(
            (magnitude - nearest.unwrap_or(last)).abs() < 2e-5,
            "{norm} from {x:?}: {magnitude}, wanted {nearest:?}"
        );
        assert_eq!(nearest.is_some(), x != [0.95, 0.1], "both are tried");
    }
}

#[test]
fn every_point_is_the_one_that_the_algorithm_names() {
    for (norm, x, radius, steps) in [
        ("linf", [0.5, 0.5], 0.3, 40),
        ("linf", [0.9, 0.1], 0.2, 100),
        ("linf", [0.3, 0.6], 0.05, 7),
        ("l2", [0.5, 0.5], 0.3, 40),
        ("l2", [0.9, 0.1], 0.2, 100),
    ] {
        let (mut session, asked) = hills(HIGH);
        let text = format!(
            "let ds = data::from(tensor::from([{:?}, {:?}]).reshape([1, 1, 1, 2]), [1]);\n\
             let how = #{{ space: space::pixels({norm:?}, #{{ radius: {radius}, bounds: [0, 1] }}), \
             search: search::apgd(#{{ steps: {steps}, start: \"image\" }}) }};\n\
             let t = examine(f, ds, how); [t.column(\"step\")[0], t.images().values()]",
            x[0], x[1]
        );
        let ended = session.run(Path::new("script.rhai"), &text).unwrap_or_else(|e| panic!("{}", e.render(false)));
        let asked = asked.borrow();
        // As it stands, looked at by examine and again as the beginning of the way.
        let wanted = algorithm(norm, x, radius, steps);
        let found = &asked[asked.len() - wanted.len()..];
        for (i, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
            let far = (0..2).map(|k| (found[k] - wanted[k]).abs()).fold(0.0, f64::max);
            assert!(
                far < 2e-5,
                "{norm}, point {i} of {steps}: {found:?}, wanted {wanted:?}; ended {}",
                ended.summary()
            );
        }
        assert!(h(HIGH, found[found.len() - 1]) < h(HIGH, x), "it went down");
    }
}

/// Two classes and some pixels, hilly, and never wrong: z = (0, 60 + sum of sin(a_i x_i + i) + cos(b_i x_i x_{i+1})). Notes what it is asked.
struct Range(Rc<RefCell<Vec<Vec<f64>>>>);

const WIDE: usize = 24;

fn slopes(i: usize) -> (f64, f64) {
    (1.0 + (i * 5 % 7) as f64 * 0.7, 0.5 + (i * 3 % 5) as f64)
}

impl Network for Range {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let flat = images.flatten(1, -1);
        self.0.borrow_mut().extend(
            Vec::<Vec<f32>>::try_from(&flat.detach())
                .unwrap()
                .iter()
                .map(|row| row.iter().map(|x| f64::from(*x)).collect()),
        );
        let mut height = Tensor::from(60.0) + flat.select(1, 0) * 0.0;
        for i in 0..WIDE {
            let ((a, b), x, next) = (slopes(i), flat.select(1, i as i64), flat.select(1, ((i + 1) % WIDE) as i64));
            height = height + (&x * a + i as f64).sin() + (x * next * b).cos();
        }
        let height = height.to_kind(tch::Kind::Float);
        Ok(Tensor::stack(&[height.zeros_like(), height], 1))
    }
}

fn height(x: &[f64]) -> f64 {
    (0..WIDE).map(|i| (slopes(i).0 * x[i] + i as f64).sin() + (slopes(i).1 * x[i] * x[(i + 1) % WIDE]).cos()).sum()
}

/// The direction in which the lead of class 0 grows.
fn downhill(x: &[f64]) -> Vec<f64> {
    let mut slope = vec![0.0; WIDE];
    for i in 0..WIDE {
        let ((a, b), next) = (slopes(i), (i + 1) % WIDE);
        slope[i] -= a * (a * x[i] + i as f64).cos();
        let both = b * (b * x[i] * x[next]).sin();
        slope[i] += both * x[next];
        slope[next] += both * x[i];
    }
    slope
}

/// What is nearest to z - x within [0, 1] - x and the l1 ball, by halving.
fn sparse_keep(x: &[f64], z: &[f64], radius: f64) -> Vec<f64> {
    let left = |less: f64| -> Vec<f64> {
        let kept = |(z, x): (&f64, &f64)| {
            let room = if z > x { 1.0 - x } else { *x };
            ((z - x).abs() - less).clamp(0.0, room) * (z - x).signum()
        };
        z.iter().zip(x).map(kept).collect()
    };
    let size = |of: &[f64]| of.iter().map(|d| d.abs()).sum::<f64>();
    let (mut low, mut high) = (0.0, if size(&left(0.0)) <= radius { 0.0 } else { 50.0 });
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        *if size(&left(middle)) > radius { &mut low } else { &mut high } = middle;
    }
    left(high)
}

/// Croce and Hein 2021, with the projection by halving: all points that are scored after x itself.
fn sparse_algorithm(x: &[f64], radius: f64, steps: usize) -> Vec<Vec<f64>> {
    let keep = |z: &[f64]| -> Vec<f64> { sparse_keep(x, z, radius).iter().zip(x).map(|(d, x)| x + d).collect() };
    let (mut points, mut now, mut best) = (vec![x.to_vec()], x.to_vec(), x.to_vec());
    // Of those that change; two thirds of what had changed at a checkpoint.
    let (mut among, mut changed, mut size) = (WIDE - (WIDE * 4) / 5, WIDE, radius);
    for k in 1..=steps {
        let slope = downhill(&now);
        let mut sizes: Vec<f64> = slope.iter().map(|s| s.abs()).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        let chosen: Vec<f64> =
            slope.iter().map(|s| if s.abs() >= sizes[among.clamp(1, WIDE) - 1] { s.signum() } else { 0.0 }).collect();
        let count = chosen.iter().filter(|s| **s != 0.0).count() as f64;
        now = keep(&now.iter().zip(&chosen).map(|(x, s)| x + size / count * s).collect::<Vec<f64>>());
        points.push(now.clone());
        if height(&now) < height(&best) {
            best = now.clone();
        }
        if k % (steps / 25).max(1) == 0 {
            let here = best.iter().zip(x).filter(|(a, b)| a != b).count();
            among = WIDE - (3 * WIDE - 2 * here) / 3;
            if (here as f64) < 0.95 * changed as f64 {
                (now, size) = (best.clone(), radius);
            } else {
                size = (size / 1.5).max(radius / 10.0);
            }
            changed = here;
        }
    }
    points.push(best);
    points
}

#[test]
fn every_point_in_l1_is_the_one_that_the_algorithm_names() {
    for (radius, steps, shift) in [(1.5, 25, 0.0), (3.0, 60, 0.1), (0.7, 10, 0.2)] {
        let asked = Rc::new(RefCell::new(vec![]));
        let mut session = Session::new(Rc::new(Cx::default()));
        let model = Model::new("range", Box::new(Range(asked.clone())), Digest::of(b"range")).with_classes(2);
        session.set("f", Value::object(model));
        // Some at their bounds.
        let x: Vec<f64> = (0..WIDE).map(|i| ((i * 11 % 13) as f64 / 10.0 - shift).clamp(0.0, 1.0)).collect();
        let text = format!(
            "let ds = data::from(tensor::from({x:?}).reshape([1, 1, 4, 6]), [1]);\n\
             let how = #{{ space: space::pixels(\"l1\", #{{ radius: {radius}, bounds: [0, 1] }}), \
             search: search::apgd(#{{ steps: {steps}, start: \"image\" }}), \
             objective: objective::misclassify().loss(\"lead\") }};\n\
             examine(f, ds, how).column(\"magnitude\")[0]"
        );
        let ended = session.run(Path::new("script.rhai"), &text).unwrap_or_else(|e| panic!("{}", e.render(false)));
        let asked = asked.borrow();
        let wanted = sparse_algorithm(&x, radius, steps);
        let found = &asked[asked.len() - wanted.len()..];
        for (i, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
            let far = found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(far < 1e-4, "point {i} of {steps} at {radius}: {far}\n{found:?}\n{wanted:?}");
        }
        let Value::Float(magnitude) = ended else { panic!("{}", ended.summary()) };
        assert!(magnitude <= radius + 1e-5 && magnitude > 0.5, "{magnitude} of {radius}");
        assert!(height(&found[found.len() - 1]) < height(&x) - 1.0, "it went down");
    }
}

#[test]
fn each_way_of_apgd_begins_elsewhere_and_the_worst_of_all_is_the_end() {
    let (mut session, asked) = hills(HIGH);
    let text = "let ds = data::from(tensor::from([0.5, 0.5]).reshape([1, 1, 1, 2]), [1]);\n\
                let how = #{ space: space::pixels(\"linf\", #{ radius: 0.3, bounds: [0, 1] }), \
                search: search::apgd(#{ steps: 5, restarts: 3 }), seed: 4 };\n\
                examine(f, ds, how).images().values()";
    let ended = session.run(Path::new("script.rhai"), text).unwrap_or_else(|e| panic!("{}", e.render(false)));
    let Value::Array(ended) = &ended else { panic!("{}", ended.summary()) };
    let [Value::Float(a), Value::Float(b)] = ended[..] else { panic!("two pixels") };
    let asked = asked.borrow();
    // The image as it stands, three ways of a start and five steps, and the worst point again.
    let ways: Vec<&[[f64; 2]]> = asked[asked.len() - 19..asked.len() - 1].chunks(6).collect();
    let far = |x: [f64; 2], y: [f64; 2]| (x[0] - y[0]).abs().max((x[1] - y[1]).abs());
    for (one, other) in [(0, 1), (0, 2), (1, 2)] {
        assert!(far(ways[one][0], ways[other][0]) > 0.02, "ways begin at {:?} and {:?}", ways[one][0], ways[other][0]);
    }
    assert!(ways.concat().iter().all(|&at| far(at, [0.5, 0.5]) < 0.3 + 1e-6));
    let least = ways.concat().into_iter().map(|at| h(HIGH, at)).fold(f64::INFINITY, f64::min);
    assert!((h(HIGH, [a, b]) - least).abs() < 1e-5, "ended at {a}, {b}, the worst is {least}");
}

fn truths(script: &str) {
    let given = r#"
        let ds = data::glyphs(#{ n: 60, size: 16, position: "centred", margin: 0, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(24), net::relu(), net::linear(10)], epochs: 60, lr: 0.01, seed: 1 });
        let ball = space::pixels("linf", #{ radius: 0.05, bounds: [0, 1] });
    "#;
    let folder = tempfile::tempdir().unwrap();
    let mut cx = Cx::default();
    cx.set_folder(folder.path().to_path_buf());
    let script = format!("{given}\n{script}");
    let value = Session::new(Rc::new(cx)).run(&folder.path().join("script.rhai"), &script);
    truths::hold(&value.unwrap_or_else(|error| panic!("{}", error.render(false))));
}

/// z = (a - 0.25, 0), in numbers without rounding.
struct Ramp;

impl Network for Ramp {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let height: Tensor = images.flatten(1, -1).select(1, 0) - 0.25;
        Ok(Tensor::stack(&[height.shallow_clone(), height.zeros_like()], 1))
    }
}

/// Where linear scores meet neither is ahead, so that nothing has failed yet; the way goes on beyond.
#[test]
fn fmn_goes_beyond_where_linear_scores_meet() {
    for norm in ["l2", "linf"] {
        let mut session = Session::new(Rc::new(Cx::default()));
        let model = Model::new("ramp", Box::new(Ramp), Digest::of(b"ramp")).with_classes(2);
        session.set("f", Value::object(model));
        let text = format!(
            "let ds = data::from(tensor::from([0.5, 0.5]).reshape([1, 1, 1, 2]), [0]);\n\
             let t = examine(f, ds, #{{ space: space::pixels({norm:?}, #{{ bounds: [0, 1] }}), search: search::fmn() }});\n\
             [t.column(\"after\")[0], t.column(\"magnitude\")[0]]"
        );
        let said = session.run(Path::new("script.rhai"), &text).unwrap_or_else(|e| panic!("{}", e.render(false)));
        let Value::Array(said) = &said else { panic!("{}", said.summary()) };
        let (Value::Int(after), Value::Float(magnitude)) = (&said[0], &said[1]) else { panic!("two numbers") };
        assert!(*after == 1 && (0.25..0.2515).contains(magnitude), "{norm}: {after} at {magnitude}");
    }
}

/// z = (0, log(a - 0.3)): no number where the first pixel is darker, to where the way down leads.
struct Cliff;

impl Network for Cliff {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let height: Tensor = (images.flatten(1, -1).select(1, 0) - 0.3).log() + 9.0;
        Ok(Tensor::stack(&[height.zeros_like(), height], 1))
    }
}

#[test]
fn scores_that_are_no_numbers_on_the_way_are_refused() {
    let searches = [
        "fmn()",
        "fmn(), levels: [0.01, 0.5]",
        "ddn()",
        "deepfool()",
        "deepfool(), levels: [0.01, 0.5]",
        "carlini_wagner(#{ constant: 10 })",
        "carlini_wagner(#{ constant: 10 }), levels: [0.01, 0.5]",
    ];
    for search in searches {
        let mut session = Session::new(Rc::new(Cx::default()));
        let model = Model::new("cliff", Box::new(Cliff), Digest::of(b"cliff")).with_classes(2);
        session.set("f", Value::object(model));
        let text = format!(
            "let ds = data::from(tensor::from([0.5, 0.5]).reshape([1, 1, 1, 2]), [1]);\n\
             examine(f, ds, #{{ space: space::pixels(\"l2\", #{{ bounds: [0, 1] }}), search: search::{search} }})"
        );
        let refused = session.run(Path::new("script.rhai"), &text);
        let said = refused.map(|value| value.summary()).map_err(|error| error.render(false));
        assert!(said.as_ref().is_err_and(|said| said.contains("not finite")), "{search}: {said:?}");
    }
}

/// One way gives the curve: at a level fail those whose distance is no larger.
#[test]
fn fmn_finds_distances_and_with_them_every_level() {
    truths(
        r#"
        let near = |norm, options| examine(f, ds, #{ space: space::pixels(norm, #{ bounds: [0, 1] }), search: search::fmn(), seed: 1 } + options);
        let t = near.call("l2", #{});
        let levels = [0.1, 0.3, 0.6, 1.0, 3.0];
        let at = near.call("l2", #{ levels: levels });
        let alone = near.call("l2", #{ batch: 1 });
        let linf = near.call("linf", #{});
        let apgd = examine(f, ds, #{ space: ball, search: search::apgd(#{ steps: 40, restarts: 2 }), seed: 1 });
        let failed = |t| t.filter(|row| row.after != row.label);
        let counts = levels.map(|level| failed.call(t).filter(|row| row.magnitude <= level).len());
        let found = levels.map(|level| failed.call(at).filter(|row| row.level == level).len());
        let far = 0.0;
        for i in 0..ds.len() { far = max(far, abs(t.column("magnitude")[i] - alone.column("magnitude")[i])); }
        let distance = ((t.images() - ds.images()) * (t.images() - ds.images())).reshape([60, 256]).sum(1).sqrt();
        let told = (distance - tensor::from(t.column("magnitude"))).abs().max();
        #{
            all_fail: failed.call(t).len() == ds.len(),
            levels_follow: counts == found && counts[0] < counts[4],
            within: t.images().min() >= 0.0 && t.images().max() <= 1.0,
            alone_or_together: far < 1e-3,
            measured: told < 1e-4,
            as_good_as_apgd: failed.call(linf).filter(|row| row.magnitude <= 0.05).len() + 1 >= failed.call(apgd).len(),
        }
        "#,
    );
}

#[test]
fn ddn_finds_distances_and_with_them_every_level() {
    truths(
        r#"
        let near = |options| examine(f, ds, #{ space: space::pixels("l2", #{ bounds: [0, 1] }), search: search::ddn(), seed: 1 } + options);
        let t = near.call(#{});
        let levels = [0.1, 0.3, 0.6, 1.0, 3.0];
        let at = near.call(#{ levels: levels });
        let alone = near.call(#{ batch: 1 });
        let least = near.call(#{ search: search::fmn() });
        let target = near.call(#{ objective: objective::target(3) });
        let ball = near.call(#{ space: space::pixels("l2", #{ radius: 0.5, bounds: [0, 1] }) });
        let failed = |t| t.filter(|row| row.after != row.label);
        let counts = levels.map(|level| failed.call(t).filter(|row| row.magnitude <= level).len());
        let found = levels.map(|level| failed.call(at).filter(|row| row.level == level).len());
        let far = 0.0;
        for i in 0..ds.len() { far = max(far, abs(t.column("magnitude")[i] - alone.column("magnitude")[i])); }
        let distance = ((t.images() - ds.images()) * (t.images() - ds.images())).reshape([60, 256]).sum(1).sqrt();
        #{
            all_fail: failed.call(t).len() == ds.len(),
            levels_follow: counts == found && counts[0] < counts[4],
            within: t.images().min() >= 0.0 && t.images().max() <= 1.0,
            alone_or_together: far < 1e-3,
            measured: (distance - tensor::from(t.column("magnitude"))).abs().max() < 1e-4,
            near_the_nearest: abs(t.mean("magnitude") / least.mean("magnitude") - 1) < 0.1,
            targets: target.filter(|row| row.after != 3).len() == 0,
            in_its_ball: ball.column("magnitude").all(|size| size <= 0.5001) && failed.call(ball).len() > 5 && failed.call(ball).len() < 60,
        }
        "#,
    );
}

/// A ball that is given by the space's radius is searched as one that is given as a level: the way may leave it and come back.
#[test]
fn a_radius_and_a_level_are_the_same_ball() {
    truths(
        r#"
        let over = |norm, radius, search, options| examine(f, ds, #{
            space: space::pixels(norm, if radius == () { #{ bounds: [0, 1] } } else { #{ bounds: [0, 1], radius: radius } }), search: search, seed: 1,
        } + options);
        let same = |norm, radius, search| {
            let ball = over.call(norm, radius, search, #{});
            let level = over.call(norm, (), search, #{ levels: [radius] });
            ball.column("fooled") == level.column("fooled") && ball.column("magnitude") == level.column("magnitude") && ball.filter(|row| row.fooled).len() > 3
        };
        #{
            ddn: same.call("l2", 0.5, search::ddn()), fmn: same.call("l2", 0.5, search::fmn()), fmn_linf: same.call("linf", 0.06, search::fmn()),
        }
        "#,
    );
}

/// Where it ends is where the objective is first met, beyond the last step by the overshoot.
#[test]
fn deepfool_finds_distances_of_any_class_or_of_one() {
    truths(
        r#"
        let near = |norm, options| examine(f, ds, #{ space: space::pixels(norm, #{ bounds: [0, 1] }), search: search::deepfool(), seed: 1 } + options);
        let t = near.call("l2", #{});
        let levels = [0.3, 1.0, 3.0];
        let at = near.call("l2", #{ levels: levels });
        let alone = near.call("l2", #{ batch: 1 });
        let linf = near.call("linf", #{});
        let least = examine(f, ds, #{ space: space::pixels("l2", #{ bounds: [0, 1] }), search: search::fmn(), seed: 1 });
        let apart = near.call("l2", #{ search: search::deepfool(#{ overshoot: 1.0 }) });
        let few = near.call("l2", #{ search: search::deepfool(#{ candidates: 1 }) });
        let target = near.call("l2", #{ objective: objective::target(3) });
        let unlikely = near.call("linf", #{ objective: objective::least_likely() });
        let ball = examine(f, ds, #{ space: space::pixels("l2", #{ radius: 0.5, bounds: [0, 1] }), search: search::deepfool(), seed: 1 });
        let failed = |t| t.filter(|row| row.after != row.label);
        let counts = levels.map(|level| failed.call(t).filter(|row| row.magnitude <= level).len());
        let found = levels.map(|level| failed.call(at).filter(|row| row.level == level).len());
        let far = 0.0;
        for i in 0..ds.len() { far = max(far, abs(t.column("magnitude")[i] - alone.column("magnitude")[i])); }
        let distance = ((t.images() - ds.images()) * (t.images() - ds.images())).reshape([60, 256]).sum(1).sqrt();
        let wrong = t.filter(|row| row.before != row.label);
        let further = near.call("l2", #{ search: search::deepfool(#{ steps: 1 }) });
        #{
            all_fail: failed.call(t).len() == 60 && failed.call(linf).len() == 60,
            stops: t.filter(|row| row.step > 10).len() == 0 && t.filter(|row| row.queries != row.step + 1).len() == 0,
            levels_follow: counts == found && counts[0] < counts[2],
            within: t.images().min() >= 0.0 && t.images().max() <= 1.0,
            alone_or_together: far < 1e-3,
            measured: (distance - tensor::from(t.column("magnitude"))).abs().max() < 1e-4,
            near_the_nearest: abs(t.mean("magnitude") / least.mean("magnitude") - 1) < 0.2,
            overshoots: apart.mean("magnitude") > 1.2 * t.mean("magnitude"),
            any_candidate: t.mean("magnitude") <= few.mean("magnitude") + 1e-6,
            targets: target.filter(|row| row.after != 3).len() == 0 && target.filter(|row| row.label == 3 && row.magnitude > 0.0).len() == 0,
            least: unlikely.filter(|row| row.after != row.target).len() == 0 && unlikely.mean("magnitude") > linf.mean("magnitude"),
            in_a_ball: ball.filter(|row| row.magnitude > 0.5 + 1e-5).len() == 0
                && failed.call(ball).len() >= failed.call(t).filter(|row| row.magnitude < 0.5).len(),
            wrong_as_they_stand: wrong.filter(|row| row.magnitude > 0.0 || row.step > 0).len() == 0,
            one_step: further.filter(|row| row.step > 1).len() == 0 && failed.call(further).len() < 60,
        }
        "#,
    );
}

/// The squared distance against a constant: nearer with more of them, with bounds and without, of any class or of one, and clearly where
/// that is asked for.
#[test]
fn carlini_and_wagner_find_distances() {
    truths(
        r#"
        let near = |space, how, options| examine(f, ds, #{ space: space, search: search::carlini_wagner(how), seed: 1 } + options);
        let space = space::pixels("l2", #{ bounds: [0, 1] });
        let how = #{ steps: 60, rounds: 6, lr: 0.05, constant: 0.1 };
        let t = near.call(space, how, #{});
        let few = near.call(space, how + #{ rounds: 2, constant: 10 }, #{});
        let free = near.call(space::pixels("l2"), how, #{});
        let levels = [0.3, 0.6, 1.5];
        let at = near.call(space, how, #{ levels: levels });
        let ball = near.call(space::pixels("l2", #{ radius: 0.6, bounds: [0, 1] }), how, #{});
        let alone = near.call(space, how, #{ batch: 1 });
        let sure = near.call(space, how, #{ objective: objective::misclassify().confident(1.0) });
        let target = near.call(space, how, #{ objective: objective::target(3) });
        let one = near.call(space, #{ steps: 1, rounds: 1 }, #{});
        let least = examine(f, ds, #{ space: space, search: search::fmn(), seed: 1 });
        let failed = |t| t.filter(|row| row.after != row.label);
        let counts = levels.map(|level| failed.call(t).filter(|row| row.magnitude <= level).len());
        let distance = ((t.images() - ds.images()) * (t.images() - ds.images())).reshape([60, 256]).sum(1).sqrt();
        let far = 0.0;
        for i in 0..ds.len() { far = max(far, abs(t.column("magnitude")[i] - alone.column("magnitude")[i])); }
        let why = ""; try { near.call(space::pixels("linf"), how, #{}); } catch (e) { why = e.message; }
        #{
            all_fail: failed.call(t).len() == 60 && failed.call(free).len() == 60,
            near: t.mean("magnitude") < 1.05 * least.mean("magnitude"),
            nearer: t.mean("magnitude") < 0.95 * few.mean("magnitude"),
            within: t.images().min() >= 0.0 && t.images().max() <= 1.0 && free.images().min() < 0.0,
            about_as_far: abs(free.mean("magnitude") / t.mean("magnitude") - 1) < 0.2,
            levels_follow: counts == levels.map(|level| failed.call(at).filter(|row| row.level == level).len()) && counts[0] < counts[2],
            in_a_ball: failed.call(ball).len() == counts[1] && ball.filter(|row| row.after == row.label && row.magnitude > 0.0).len() == 0,
            measured: (distance - tensor::from(t.column("magnitude"))).abs().max() < 1e-4,
            alone_or_together: far < 1e-3,
            steps: t.filter(|row| row.step > 360 || row.queries != row.step + 1).len() == 0,
            wrong_as_they_stand: t.filter(|row| row.before != row.label && row.magnitude > 0.0).len() == 0,
            clearly: sure.filter(|row| row.margin > 1e-4).len() == 0 && sure.mean("magnitude") > 1.2 * t.mean("magnitude"),
            targets: target.filter(|row| row.after != 3).len() == 0,
            looks_before_it_steps: failed.call(one).len() == t.filter(|row| row.before != row.label).len() && one.filter(|row| row.magnitude > 1e-4).len() == 0,
            in_l2: why.contains("in l2, not in linf"),
        }
        "#,
    );
}

/// Few pixels by much, within radius and bounds together; and what has no steps in l1 says so.
#[test]
fn changes_in_l1_are_sparse() {
    truths(
        r#"
        let look = |search, radius, options| examine(f, ds, #{
            space: space::pixels("l1", #{ radius: radius, bounds: [0, 1] }), search: search, seed: 1,
        } + options);
        let apgd = look.call(search::apgd(#{ steps: 50 }), 3.0, #{});
        let bim = look.call(search::bim(#{ steps: 50 }), 3.0, #{});
        let begun = look.call(search::bim(#{ steps: 50, start: "random", restarts: 2 }), 3.0, #{});
        let first = look.call(search::bim(#{ steps: 1, start: "random" }), 3.0, #{ at_steps: [0] });
        let free = examine(f, ds, #{ space: space::pixels("l1", #{ bounds: [0, 1] }), search: search::fmn(#{ steps: 200 }), seed: 1 });
        let levels = examine(f, ds, #{ space: space::pixels("l1", #{ bounds: [0, 1] }), search: search::fmn(#{ steps: 200 }), levels: [1, 3, 9], seed: 1 });
        let right = |t| t.filter(|row| row.after == row.label).len();
        let moved = (apgd.images() - apgd.images("before")).abs().reshape([60, 256]);
        let count = |x| x.where(x * 0 + 1, x * 0).sum(1);
        let inside = |t, most| t.column("magnitude").filter(|size| size > most * (1.0 + 1e-5)).len() == 0;
        let why = |search| { let said = ""; try { look.call(search, 3.0, #{}); } catch (e) { said = e.message; } said };
        #{
            within: inside.call(apgd, 3.0) && inside.call(bim, 3.0) && inside.call(begun, 3.0)
                && apgd.images().min() >= 0.0 && apgd.images().max() <= 1.0,
            measured: (moved.sum(1) - tensor::from(apgd.column("magnitude"))).abs().max() < 1e-4,
            finds: right.call(apgd) < 45 && right.call(apgd) <= right.call(bim) + 1 && right.call(begun) <= right.call(bim) + 1,
            sets_out_sparse: first.filter(|row| abs(row.magnitude - 3.0) > 1e-4).len() == 0
                && count.call((first.images() - first.images("before")).abs().reshape([60, 256]) > 0.0).max() < 30,
            sparse: count.call(moved > 0.0).mean() < 30,
            as_good_by_distance: abs(right.call(apgd) - free.filter(|row| row.magnitude > 3.0).len()) <= 4,
            levels_follow: levels.filter(|row| row.level == 3.0 && row.after == row.label).len() == free.filter(|row| row.magnitude > 3.0).len(),
            refused: ["deepfool", "adam", "square", "hopskipjump"].filter(|name| !why.call(switch name {
                "deepfool" => search::deepfool(), "adam" => search::adam(), "square" => search::square(), _ => search::hopskipjump(),
            }).contains("not in l1")).len() == 0,
            unlike: why.call(search::bim(#{ schedule: "galloway" })).contains("l2 and linf"),
        }
        "#,
    );
}

#[test]
fn it_finds_more_than_bim_and_says_so_where_gradients_vanish() {
    truths(
        r#"
        let right = |t| t.filter(|row| row.after == row.label).len();
        let look = |f, search, objective| examine(f, ds, #{ space: ball, search: search, objective: objective, seed: 1 });
        let bim = look.call(f, search::bim(#{ steps: 40, step: 0.005 }), objective::misclassify());
        let apgd = look.call(f, search::apgd(#{ steps: 40 }), objective::misclassify());
        let ratio = look.call(f, search::apgd(#{ steps: 40 }), objective::misclassify().loss("dlr"));
        // Scores 300 times as far apart: the same answers, and a softmax that is flat in float32.
        f.save("plain.safetensors");
        let sharp = model::load("plain.safetensors", #{ std: [1.0 / 300] });
        let blind = look.call(sharp, search::apgd(#{ steps: 40 }), objective::misclassify());
        let clear = look.call(sharp, search::apgd(#{ steps: 40 }), objective::misclassify().loss("dlr"));
        let curve = tolerance::curve(examine(f, ds, #{ space: space::pixels("linf", #{ bounds: [0, 1] }),
            search: search::apgd(#{ steps: 20 }), levels: [0.005, 0.02, 0.05], seed: 1 }));
        let alone = examine(f, ds, #{ space: ball, search: search::apgd(#{ steps: 40, restarts: 2 }), seed: 1, batch: 1 });
        let together = examine(f, ds, #{ space: ball, search: search::apgd(#{ steps: 40, restarts: 2 }), seed: 1, batch: 64 });
        #{
            bounded: apgd.filter(|row| row.magnitude > 0.05 + 1e-6).len() == 0,
            within: apgd.images().min() >= 0.0 && apgd.images().max() <= 1.0,
            no_worse: right.call(apgd) <= right.call(bim) && right.call(ratio) <= right.call(bim) + 1,
            much_the_same_scaled: abs(right.call(clear) - right.call(ratio)) <= 6,
            flat_is_said: right.call(blind) > right.call(clear) + 10 && `${blind}`.contains("vanished")
                && blind.filter(|row| row.vanished).len() >= right.call(blind) - 2,
            not_flat: clear.filter(|row| row.vanished).len() == 0,
            falls: curve.accuracy[0] >= curve.accuracy[1] && curve.accuracy[1] > curve.accuracy[2],
            alone_or_together: right.call(alone) == right.call(together) && right.call(alone) <= right.call(apgd),
            stops_early: apgd.filter(|row| row.before == row.label && row.after != row.label && row.step > 35).len() == 0,
        }
        "#,
    );
}
