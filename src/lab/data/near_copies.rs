//! Images that show what an earlier one shows, but for next to nothing.

use tch::{Device, Kind};

use super::Dataset;
use crate::core::{Cx, Result, Tensor};

/// By how much less than pixels vary within images, root mean square both, a copy may differ: 20 dB. Photographs of one thing and handwriting of one
/// hand differ by more.
const NEXT_TO_NOTHING: f64 = 0.1;
/// A copy is nearer than this to its original beside how far apart two images are on average, in squares: what all have in common, such as a ground, makes
/// no copies.
const BESIDE_PAIRS: f64 = 0.1;
/// Fewer change no interval by much.
const SHARE: f64 = 0.01;
/// Images that are compared with each other, at most.
const MOST: usize = 10_000;
/// Images are compared as so many averages along a side or up to twice as many, and in full only where these are near.
const SIDE: i64 = 16;
/// Of the nearest by their averages so many are compared in full.
const IN_FULL: i64 = 3;
/// Numbers of a block of images, and images of one that are compared with all before them.
const BLOCK: usize = 1 << 22;
const ROWS: usize = 512;

/// What comparisons of the first images of a set found.
struct NearCopies {
    /// How many are an earlier one to the last bit, and of how many others an earlier one differs by next to nothing, whatever their labels.
    copies: usize,
    near: usize,
    of: usize,
    /// Every image differs from the mean of all by next to nothing.
    all_alike: bool,
}

fn compare(cx: &Cx, set: &Dataset) -> Result<NearCopies> {
    let n = set.len().min(MOST);
    let size = set.shape().iter().product::<usize>().max(1);
    let block = (BLOCK / size).clamp(1, ROWS);
    let read = |rows: &[usize]| -> Result<Tensor> {
        cx.check()?;
        // Distances of near copies are small differences of large numbers.
        Ok(set.images(rows, Device::Cpu)?.f_to_kind(Kind::Double)?)
    };
    let squares = |x: &Tensor| x.f_mul(x)?.f_sum_dim_intlist([1i64].as_slice(), false, Kind::Double);
    let rows: Vec<usize> = (0..n).collect();
    let task = cx.progress("looking for copies", Some(n as u64));
    let (mut averages, mut within, mut sum, mut all_squares) = (vec![], vec![], None::<Tensor>, 0.0);
    let mut pixels_of_one = 1;
    for some in rows.chunks(block) {
        let images = read(some)?;
        let sides = &images.size()[2..];
        let side = (sides.iter().copied().max().unwrap_or(1) / SIDE).clamp(1, sides.iter().copied().min().unwrap_or(1));
        pixels_of_one = side * side;
        averages.push(images.f_avg_pool2d([side, side], [side, side], [0, 0], false, true, None)?.f_flatten(1, -1)?);
        let flat = images.f_flatten(1, -1)?;
        within.push(flat.f_var_dim([1i64].as_slice(), false, false)?.f_mul_scalar(size as f64)?);
        all_squares += squares(&flat)?.f_sum(Kind::Double)?.f_double_value(&[])?;
        let own = flat.f_sum_dim_intlist([0i64].as_slice(), false, Kind::Double)?;
        sum = Some(match sum {
            Some(sum) => sum.f_add(&own)?,
            None => own,
        });
    }
    let Some(sum) = sum else { return Ok(NearCopies { copies: 0, near: 0, of: 0, all_alike: false }) };
    let common = sum.f_mul(&sum)?.f_sum(Kind::Double)?.f_double_value(&[])? / n as f64;
    // Squared distances of two, on average.
    let apart = 2.0 * (all_squares - common).max(0.0) / (n.max(2) - 1) as f64;
    let within = Tensor::f_cat(&within, 0)?.f_mul_scalar(NEXT_TO_NOTHING * NEXT_TO_NOTHING)?;
    let all_alike = apart < within.f_mean(Kind::Double)?.f_double_value(&[])?;
    if all_alike {
        return Ok(NearCopies { copies: 0, near: 0, of: n, all_alike });
    }
    let within = within.f_clamp_max(BESIDE_PAIRS * apart)?;
    // Averages of squares of differences are no smaller than squares of averages: whoever is far by averages is far.
    let mut joined = Tensor::f_cat(&averages, 0)?.f_mul_scalar((pixels_of_one as f64).sqrt())?;
    drop(averages);
    let averages = joined.f_sub_(&joined.f_mean_dim([0i64].as_slice(), true, Kind::Double)?)?;
    let of_averages = squares(&averages)?;
    let alike = set.first_alike(cx)?;
    let (mut copies, mut near) = (0, 0);
    for some in rows.chunks(ROWS) {
        cx.check()?;
        let (first, length) = (some[0] as i64, some.len() as i64);
        let before = first + length;
        let own = averages.f_narrow(0, first, length)?;
        let apart = own.f_matmul(&averages.f_narrow(0, 0, before)?.f_transpose(0, 1)?)?.f_mul_scalar(-2.0)?;
        let apart = apart.f_add(&of_averages.f_narrow(0, first, length)?.f_unsqueeze(1)?)?;
        let apart = apart.f_add(&of_averages.f_narrow(0, 0, before)?.f_unsqueeze(0)?)?;
        let limits = within.f_narrow(0, first, length)?.f_unsqueeze(1)?;
        let limits = limits.f_minimum(&within.f_narrow(0, 0, before)?.f_unsqueeze(0)?)?;
        let later = Tensor::f_ones_like(&apart)?.f_triu(first)?.f_to_kind(Kind::Bool)?;
        let beside = apart.f_div(&limits)?.f_masked_fill(&later, f64::INFINITY)?;
        let (beside, others) = beside.f_topk(IN_FULL.min(before), 1, false, true)?;
        let others = Vec::<i64>::try_from(others.f_reshape([-1])?)?;
        let candidates = Vec::<f64>::try_from(beside.f_reshape([-1])?)?;
        let each = candidates.len() / some.len();
        let pairs: Vec<(usize, usize)> = (0..candidates.len())
            .filter(|&at| candidates[at] < 1.0)
            .map(|at| (some[at / each], others[at] as usize))
            .filter(|(row, _)| alike[*row] == *row)
            .collect();
        let mut found = vec![];
        for pairs in pairs.chunks(block) {
            let (left, right): (Vec<usize>, Vec<usize>) = pairs.iter().copied().unzip();
            let apart = squares(&read(&left)?.f_sub(&read(&right)?)?.f_flatten(1, -1)?)?;
            for (at, apart) in Vec::<f64>::try_from(apart)?.into_iter().enumerate() {
                let limit = |row: usize| within.f_double_value(&[row as i64]);
                if apart < limit(left[at])?.min(limit(right[at])?) {
                    found.push(left[at]);
                }
            }
        }
        found.dedup();
        near += found.len();
        copies += some.iter().filter(|&&row| alike[row] != row).count();
        task.advance(some.len() as u64);
    }
    Ok(NearCopies { copies, near, of: n, all_alike })
}

/// What is to be said of `what`, such as tests, where many of them are copies or nearly so; of copies to the last bit nothing where these are `told` of.
pub fn repeated(cx: &Cx, set: &Dataset, what: &str, told: bool) -> Result<Option<String>> {
    // Of images that are all the same nobody else says that.
    let but_copies = told && set.distinct() > 1;
    let NearCopies { copies, near, of, all_alike } = compare(cx, set)?;
    let which = if of < set.len() { format!("the first {of}") } else { format!("the {of}") };
    if all_alike && of > 1 {
        return Ok(Some(format!(
            "{which} {what} differ from each other by next to nothing beside what pixels of each vary by: they are one image over and over, for which intervals are too narrow, \
             or differ by little on a ground that all share"
        )));
    }
    let told_here = if but_copies { near } else { near + copies };
    if told_here == 0 || ((near + copies) as f64) < SHARE * of as f64 {
        return Ok(None);
    }
    let how = match but_copies {
        true => "differ from others by next to nothing and are no copies of them to the last bit",
        false => "are copies of others, or differ from them by next to nothing",
    };
    Ok(Some(format!(
        "{told_here} of {which} {what} {how}: shares and their intervals take all for independent of each other, and intervals are too narrow for that"
    )))
}

#[cfg(test)]
mod tests {
    use super::super::from_tensor;
    use super::*;

    /// Images of 40 x 40 pixels: of each what is drawn on the ground, by row and column.
    fn images(of: usize, ground: impl Fn(i64, i64) -> f32, drawn: impl Fn(usize, i64, i64) -> f32) -> Result<Dataset> {
        let pixels: Vec<f32> = (0..of)
            .flat_map(|i| (0..1600).map(move |at| (i, at / 40, at % 40)))
            .map(|(i, y, x)| ground(y, x) + drawn(i, y, x))
            .collect();
        let pixels = Tensor::from_slice(&pixels).reshape([of as i64, 1, 40, 40]);
        from_tensor(&pixels, vec![0; of], Some(vec!["a".into(), "b".into()]), false)
    }

    fn said(set: &Dataset, told: bool) -> Result<String> {
        Ok(repeated(&Cx::default(), set, "tests", told)?.unwrap_or_default())
    }

    fn square(at: (usize, usize), side: usize, (y, x): (i64, i64)) -> f32 {
        let within = |begin: usize, at: i64| (begin..begin + side).contains(&(at as usize));
        if within(at.0, y) && within(at.1, x) { 0.3 } else { 0.0 }
    }

    #[test]
    fn copies_are_told_and_what_all_have_in_common_is_none() -> Result<()> {
        let black = |_, _| 0f32;
        let stripes = |y: i64, _: i64| if y % 4 < 2 { 0.0 } else { 0.6 };
        let place = |i: usize| (3 * (i % 10), 3 * (i / 10));
        for ground in [&black as &dyn Fn(i64, i64) -> f32, &stripes] {
            let apart = images(100, ground, |i, y, x| square(place(i), 12, (y, x)))?;
            assert_eq!(said(&apart, false)?, "", "squares at places of their own");
            let few = images(100, ground, |i, y, x| square(place(33 * (i % 3)), 12, (y, x)) * (1.0 + i as f32 / 2e3))?;
            let told = said(&few, true)?;
            assert!(told.starts_with("97 of the 100 tests differ from others by next to nothing"), "{told}");
            // One in ten is another of them to the last bit.
            let some = images(100, ground, |i, y, x| square(place(if i % 10 == 9 { i - 1 } else { i }), 12, (y, x)))?;
            let told = said(&some, false)?;
            assert!(told.starts_with("10 of the 100 tests are copies of others"), "{told}");
            assert_eq!(said(&some, true)?, "");
        }
        let small = images(100, stripes, |i, y, x| square(place(i), 2, (y, x)))?;
        let told = said(&small, true)?;
        assert!(told.contains("or differ by little on a ground that all share"), "{told}");
        Ok(())
    }

    /// Averages of squares that are as large as these are the same for both.
    #[test]
    fn fine_differences_make_no_copies() -> Result<()> {
        let fine =
            images(25, |_, _| 0.5, |i, y, x| if ((y >> (i % 5)) + (x >> (i / 5))) % 2 == 0 { 0.4 } else { -0.4 })?;
        assert_eq!(said(&fine, false)?, "");
        Ok(())
    }
}
