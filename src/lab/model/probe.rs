//! What shows of a model before anything is made of its answers: a few images are asked about, the first of the data.

use tch::{Device, Kind};

use super::learned::SavedImages;
use super::python::{RandomStates, with_random_states};
use super::{Model, Takes};
use crate::core::{
    Cx, ErrorKind, LongCall, Object, Result, Tensor, in_stream, restart_stream, significant, with_stream,
};
use crate::data::Dataset;

/// The number of classes, the largest score, cautions, and what the models learned from that a closure asked.
type Noticed = (i64, f64, Vec<String>, Option<SavedImages>);

/// Images that are asked about, at most.
const MOST: usize = 8;
/// Of TorchScript, images that are asked about together, at most, to see whether they answer the same among more others.
const TOGETHER: usize = 32;
/// Of how far scores lie apart: the same question has the same answer up to here.
const SAME: f64 = 1e-5;
/// Of the largest score: what single precision rounds off in a sum or two.
const ROUNDING: f64 = 4.0 * f32::EPSILON as f64;
/// Of the largest score: how far networks of many layers are from what they would answer without rounding.
const ROUNDED_ON_THE_WAY: f64 = 16.0 * f32::EPSILON as f64;
/// The same of scores that have the digits of bfloat16, or of half precision, alone.
const ROUNDED_IN_HALF: [(Kind, f64); 2] = [(Kind::BFloat16, 1.0 / 64.0), (Kind::Half, 1.0 / 512.0)];
/// Of how far scores lie apart: rounding, which depends on the size of a batch, stays below even in half precision.
const ROUNDED: f64 = 1e-2;
/// How far from 1 the sum of rounded probabilities may be.
const OF_ONE: f64 = 1e-3;

/// Scores nearer to each other than this: of the cross entropy of a softmax single precision keeps three digits of what is left.
const FINE: f64 = 1e-3;

/// What is said of models whose answers are no function of the image.
pub const UNSTEADY: &str = "as in training mode";
/// What is said of those that answer the same question otherwise.
const DRAWS: &str = "answers something else when it is asked the same again";

const SIGMOIDS: &str = "numbers from 0 to 1, as a sigmoid gives for each class,";

/// What is said of those that draw random numbers as they answer, where the same question had the same answer.
const MAY_DRAW: &str =
    "draws random numbers while it answers, by which it may answer something else when it is asked the same again";
/// What is said besides of those of which copies of an image in one batch are answered alike, and otherwise in another.
const DRAWS_FOR_ALL: &str = "images asked about together share its draws";

/// Seed of the draws of models that draw.
pub(super) const OWN: u64 = u64::from_be_bytes(*b"__probe_");

impl Model {
    /// Asks about up to eight images, once for each model unless it has seen fewer, and keeps what it notices as cautions: answers that
    /// are probabilities, that prefer no class, that change when the same is asked again, or that depend on what else stands in the batch. Logarithms of
    /// probabilities are scores like any others: every softmax of them is the same. Networks of layers answer the same whatever else is
    /// asked, so they are asked once; TorchScript is asked three to five times, and about up to 32 images together; closures and programs, which may cost something, are asked about
    /// these images and about the last one alone, and once or twice more only where the two answers differ or numbers were drawn. What draws, closures and programs
    /// aside, is asked up to eight times more, about copies of one image. What answers the same and has gradients is asked
    /// whether its scores change along and across them as they say and on the way from one image to another, and whether pixels are left out of them: that takes some four gradients and a dozen
    /// sets of answers, and three times as many of each where they do not.
    ///
    /// What was noticed is kept by the journal, as `call` names it, so that a run that goes on asks nothing again.
    pub(super) fn probe(
        &self,
        cx: &Cx,
        mut call: LongCall,
        available: usize,
        images: &dyn Fn(usize) -> Result<Tensor>,
    ) -> Result<()> {
        let count = self.probes(available);
        let known: Option<Noticed> = match call.replay()? {
            Some(record) => Some(
                serde_json::from_slice(&record)
                    // Without the last of these where no closure could be watched.
                    .or_else(|_| {
                        serde_json::from_slice(&record).map(|(classes, rounding, said)| (classes, rounding, said, None))
                    })
                    .map_err(|_| call.unfit())?,
            ),
            None => None,
        };
        let noticed = match known {
            Some(noticed) => noticed,
            None => {
                let images = images(count)?.f_to_kind(self.precision())?;
                // A closure draws from streams of its own.
                let noticed = match self.opaque() {
                    true => self.notable(cx, &images),
                    false => with_stream(OWN, 0, || self.notable(cx, &images)),
                };
                let (rounding, noticed) = match noticed {
                    // What is done with batches that are too large is for those who choose them.
                    Err(error) if error.is_out_of_memory() => return Ok(()),
                    // A network in double precision may be meant for images that a generator draws so.
                    Err(error) if error.kind == ErrorKind::Model && self.classes().is_some() && !self.opaque() => {
                        if self.network.refuses() {
                            let caution = format!(
                                "{} could not be asked about {count} images before anything was made of its answers: whether they are scores, the same each time and \
                                 whatever else is in the batch is not known",
                                self.name
                            );
                            cx.warn(caution.as_str());
                            self.notice(caution);
                            self.probed.set(count);
                        }
                        return Ok(());
                    }
                    noticed => noticed?,
                };
                let noticed = (self.classes().unwrap_or_default(), rounding, noticed, self.asked_of());
                call.append(serde_json::json!(noticed).to_string().as_bytes())?;
                noticed
            }
        };
        self.classes.get_or_init(|| noticed.0);
        self.probed.set(count);
        // A number that is none is less than any.
        self.rounding_of_scores.set(self.rounding_of_scores.get().max(noticed.1));
        noticed.3.into_iter().for_each(|learned| self.that_asks_what_learned(learned));
        for caution in noticed.2 {
            cx.warn_of(self.digest, caution.as_str());
            self.notice(caution);
        }
        Ok(())
    }

    /// About how many of so many images it is asked.
    fn probes(&self, available: usize) -> usize {
        available.min(if self.network.refuses() { TOGETHER } else { MOST })
    }

    /// Whether asking about so many images would say more than is known.
    pub(super) fn wants_probe(&self, available: usize) -> bool {
        // Inside of a stream the draws of a model that draws would be missing.
        self.probes(available) > self.probed.get() && !in_stream()
    }

    /// Asks about the first images of a data set.
    pub(crate) fn probe_on(&self, cx: &Cx, set: &Dataset) -> Result<()> {
        if !self.wants_probe(set.len()) {
            return Ok(());
        }
        if let Some(inner) = self.network.stands_for() {
            inner.probe_on(cx, set)?;
            // That each of its answers is another one is what draws are fixed for.
            inner
                .cautions()
                .iter()
                .filter(|caution| !caution.contains(UNSTEADY))
                .for_each(|caution| self.notice(caution));
        }
        let device = format!("{:?}", cx.device());
        let call = cx.long_call("probe", &[&self.digest.0, &set.digest().0, device.as_bytes()], self.opaque());
        self.probe(cx, call, set.len(), &|n| set.images(&(0..n).collect::<Vec<_>>(), cx.device()))
    }

    /// Of the weights, where they are known.
    fn precision(&self) -> Kind {
        let mut kind = Kind::Float;
        if let Some(module) = self.module() {
            module.visit(&mut |_, tensor, _| {
                if tensor.is_floating_point() {
                    kind = tensor.kind();
                }
            });
        }
        kind
    }

    /// How far scores may differ by what is rounded on the way to them: several times what their precision keeps of the largest. Not a number
    /// where none was seen, or where weights are of another precision than single.
    pub(crate) fn rounding(&self) -> f64 {
        match self.precision() {
            Kind::Float => self.rounding_of_scores.get(),
            _ => f64::NAN,
        }
    }

    /// How far scores are rounded, and what is to be said.
    fn notable(&self, cx: &Cx, all: &Tensor) -> Result<(f64, Vec<String>)> {
        let _task = cx.progress(&format!("looking at {}", self.name), None);
        let ask = |images: &Tensor| {
            cx.check()?;
            tch::no_grad(|| -> Result<Tensor> { Ok(self.logits(images)?.f_to_kind(Kind::Double)?) })
        };
        let n = all.size()[0];
        // Spread over a batch, the last one among them: some models see no more of it than that, or go by places.
        let spread: Vec<i64> = (0..n.min(MOST as i64)).map(|i| (i + 1) * n / n.min(MOST as i64) - 1).collect();
        let images = &all.f_index_select(0, &Tensor::f_from_slice(&spread)?.f_to(all.device())?)?;
        let answers = ask(images)?;
        let finite = |answers: &Tensor| -> Result<bool> { Ok(answers.f_isfinite()?.f_all()?.f_int64_value(&[])? != 0) };
        if !finite(&answers)? {
            // What stays so is told of where it is made something of.
            let other = self.module().is_none() && finite(&ask(images)?)?;
            let told = format!(
                "{} answered numbers that are not finite, and {DRAWS}, {UNSTEADY}: each answer is of one asking",
                self.name
            );
            return Ok((0.0, if other { vec![told] } else { vec![] }));
        }
        let largest = answers.f_abs()?.f_max()?.f_double_value(&[])?;
        let of_kind =
            |kind: Kind| -> Result<bool> { Ok(answers.f_to_kind(kind)?.f_to_kind(Kind::Double)?.f_equal(&answers)?) };
        // Whole numbers, and others on one grid, are exact in any precision; what is rounded to some digits is finer near 0.
        let step = 2f64.powf(largest.log2().floor() - 7.0);
        let on_grid = answers.f_div_scalar(step)?;
        let fine = largest > 0.0 && !on_grid.f_equal(&on_grid.f_round()?)?;
        let mut rounded = ROUNDED_ON_THE_WAY;
        for (kind, share) in ROUNDED_IN_HALF {
            if fine && of_kind(kind)? {
                rounded = share;
                break;
            }
        }
        let mut noticed = self.noticed_in(images, &answers, &ask)?;
        let unsteady = noticed.iter().any(|caution| caution.contains(UNSTEADY) && !caution.contains(MAY_DRAW));
        if spread.len() < n as usize && !unsteady && !matches!(self.takes.get(), Takes::Batches(_)) {
            match ask(all) {
                Ok(among_more) => {
                    let spread = Tensor::f_from_slice(&spread)?.f_to(all.device())?;
                    if apart(&answers, &among_more.f_index_select(0, &spread)?)? > ROUNDED {
                        noticed.push(self.goes_by_number());
                    }
                }
                Err(error) if error.is_interrupted() => return Err(error),
                // So many at once may be more than it takes, or than there is memory for.
                Err(_) => {}
            }
        }
        Ok((rounded * largest, noticed))
    }

    fn goes_by_number(&self) -> String {
        format!(
            "what {} answers to an image depends on how many others are in its batch, {UNSTEADY} or where layers blow up what is rounded: \
             outcomes are of these batches",
            self.name
        )
    }

    fn noticed_in(
        &self,
        images: &Tensor,
        answers: &Tensor,
        ask: &dyn Fn(&Tensor) -> Result<Tensor>,
    ) -> Result<Vec<String>> {
        let mut noticed = vec![];
        if are_probabilities(answers)? {
            noticed.push(format!(
                "{} answers probabilities where scores before the softmax are expected: losses, margins, confidences and gradients are those of a second \
                 softmax",
                self.name
            ));
        }
        if let Some(what) = beside_probabilities(answers)? {
            noticed.push(format!(
                "{} answers {what} where scores before the softmax are expected: losses, confidences and gradients are those of a softmax of them",
                self.name
            ));
        }
        let spread = answers.f_amax([1i64].as_slice(), false)?.f_sub(&answers.f_amin([1i64].as_slice(), false)?)?;
        let spread = spread.f_max()?.f_double_value(&[])?;
        if answers.size()[1] > 1 && spread == 0.0 {
            noticed.push(format!(
                "{} gives all classes the same score: class 0 stands for its answer, which says nothing",
                self.name
            ));
        } else if spread > 0.0 && spread < FINE {
            noticed.push(format!(
                "scores of {} for images as they stand lie within {} of each other: the loss of a softmax of such scores hardly changes in single \
                 precision, and searches by it see little there; objective::misclassify().loss(\"{}\") goes by the scores themselves",
                self.name,
                significant(spread, 2),
                if answers.size()[1] < 3 { "lead" } else { "dlr" }
            ));
        }
        if self.module().is_some() {
            return Ok(noticed);
        }
        if self.network.refuses() && images.size()[1] == 1 && self.takes_colour(images, answers)? {
            noticed.push(format!(
                "{} answers the same to grey images and to the same in three equal channels: where it was made for colour, of grey ones it is \
                 asked about grey changes alone",
                self.name
            ));
        }
        // The last one: where a batch is read by its first image, that one's own answer does not show it.
        let last = images.size()[0] - 1;
        let of_last = images.f_narrow(0, last, 1)?;
        let (answer, after) = self.with_random_numbers(1, &of_last, ask)?;
        let alone = apart(&answers.f_narrow(0, last, 1)?, &answer)?;
        let again = match self.opaque() && alone <= SAME {
            true => 0.0,
            false => apart(answers, &ask(images)?)?,
        };
        // A coin may fall the same way each time.
        let drew = after.moved() && after.drawn_again(&self.with_random_numbers(2, &of_last, ask)?.1);
        // Of one image alone is the same question.
        let other = again > SAME || last == 0 && alone > SAME;
        if other || drew {
            let what = if other { DRAWS } else { MAY_DRAW };
            let shared = match self.shares_draws(images, ask) {
                Err(error) if error.is_interrupted() => return Err(error),
                Ok(true) => format!("; {DRAWS_FOR_ALL}"),
                // That it draws is known without it.
                Ok(false) | Err(_) => String::new(),
            };
            noticed.push(format!("{} {what}, {UNSTEADY}: each answer is of one asking{shared}", self.name));
        }
        if other {
            return Ok(noticed);
        }
        // Among copies of itself an image is answered as alone, whatever a model makes of a batch.
        let only_copies = last > 0 && images.f_sub(&of_last)?.f_abs()?.f_max()?.f_double_value(&[])? == 0.0;
        if (alone > SAME || only_copies) && self.goes_by_company(images, answers)? {
            noticed.push(format!(
                "what {} answers to an image depends on the others in its batch, {UNSTEADY}: outcomes are of these batches",
                self.name
            ));
        } else if alone > ROUNDED {
            noticed.push(self.goes_by_number());
        } else if self.differentiable() {
            noticed.extend(self.slope_of_gradient(images, answers)?);
            noticed.extend(self.pixels_without_gradient(images, answers)?);
        }
        Ok(noticed)
    }

    /// The answers, and what random numbers show of whether it drew. Closures draw from streams of their own.
    fn with_random_numbers(
        &self,
        part: u64,
        images: &Tensor,
        ask: &dyn Fn(&Tensor) -> Result<Tensor>,
    ) -> Result<(Tensor, RandomNumbers)> {
        let streamed = !self.opaque();
        if streamed {
            restart_stream(OWN, part);
        }
        let (answers, python) = with_random_states(|| ask(images));
        let answers = answers?;
        let mut libtorch = None;
        if streamed {
            let next = next_draw(images.device())?;
            restart_stream(OWN, part);
            libtorch = (next != next_draw(images.device())?).then_some(next);
        }
        Ok((answers, RandomNumbers { libtorch, python }))
    }

    /// Of a model that draws: whether copies of an image in one batch were always answered alike, and not so in another batch. Closures and programs are not
    /// asked so often.
    fn shares_draws(&self, images: &Tensor, ask: &dyn Fn(&Tensor) -> Result<Tensor>) -> Result<bool> {
        const BATCHES: u64 = 8;
        if self.opaque() {
            return Ok(false);
        }
        let copies = images.f_narrow(0, 0, 1)?.f_repeat([images.size()[0].max(2), 1, 1, 1])?;
        let mut first: Option<Tensor> = None;
        let mut otherwise = false;
        for batch in 0..BATCHES {
            let answers = self.with_random_numbers(3 + batch, &copies, ask)?.0;
            let one = answers.f_narrow(0, 0, 1)?;
            if apart(&answers, &one.f_expand_as(&answers)?)? > SAME {
                return Ok(false);
            }
            match &first {
                Some(first) => otherwise |= apart(first, &one)? > SAME,
                None => first = Some(one),
            }
        }
        Ok(otherwise)
    }

    /// Whether it takes three channels in the place of one and answers the same, as a normalisation by three means makes of one.
    fn takes_colour(&self, images: &Tensor, answers: &Tensor) -> Result<bool> {
        let ask = || -> Result<Tensor> { Ok(self.logits(&images.f_repeat([1, 3, 1, 1])?)?.f_to_kind(Kind::Double)?) };
        match tch::no_grad(ask) {
            Ok(colour) => Ok(colour.size() == answers.size() && apart(answers, &colour)? <= SAME),
            Err(error) if error.is_interrupted() || error.is_out_of_memory() => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// Whether the answer to the last image changes with the others, of which there are as many: rounding, which goes by the size of a batch,
    /// is the same then. The others are turned round, inverted and made fainter, as some models see no more of them than where they point.
    fn goes_by_company(&self, images: &Tensor, answers: &Tensor) -> Result<bool> {
        let last = images.size()[0] - 1;
        if last == 0 {
            return Ok(false);
        }
        let others = images.f_narrow(0, 0, last)?;
        let ends = others.f_max()?.f_add(&others.f_min()?)?;
        let turned = ends.f_sub(&others.f_flip([2i64, 3].as_slice())?)?.f_mul_scalar(0.75)?;
        // Of black ones that is black again.
        let others = if turned.f_equal(&others)? { turned.f_add_scalar(0.5)? } else { turned };
        let company = Tensor::f_cat(&[others, images.f_narrow(0, last, 1)?], 0)?;
        let scores = tch::no_grad(|| -> Result<Tensor> { Ok(self.logits(&company)?.f_to_kind(Kind::Double)?) })?;
        Ok(apart(&answers.f_narrow(0, last, 1)?, &scores.f_narrow(0, last, 1)?)? > SAME)
    }

    /// Whether none of its scores is below 0, as of probabilities and percentages.
    pub(crate) fn answers_shares(&self) -> bool {
        self.shares_up_to().is_some()
    }

    /// What its scores end at, of probabilities 1 and of percentages 100.
    pub(crate) fn shares_up_to(&self) -> Option<f64> {
        let said = self.cautions();
        let answers = |what: &str| {
            let own = format!("{} answers {what}", self.name);
            said.iter().any(|caution| caution.starts_with(&own))
        };
        match () {
            () if answers("percentages") => Some(100.0),
            () if answers("probabilities") || answers(SIGMOIDS) => Some(1.0),
            () => None,
        }
    }

    /// Whether it answers the same question otherwise.
    pub(crate) fn draws(&self) -> bool {
        self.is_said_to(DRAWS)
    }

    /// Whether it draws random numbers, by which it may answer the same question otherwise.
    pub(crate) fn may_draw(&self) -> bool {
        self.draws() || self.is_said_to(MAY_DRAW)
    }

    fn is_said_to(&self, what: &str) -> bool {
        // Of what it stands in for, the mean of draws among them, that may be told as well.
        let own = format!("{} {what}", self.name);
        self.cautions().iter().any(|caution| caution.starts_with(&own))
    }

    /// Whether its answer to an image is known to be the same whatever stands beside it in a batch.
    pub(crate) fn answers_each_alone(&self) -> bool {
        self.module().is_some()
            || self.probed.get() > 0 && !self.cautions().iter().any(|caution| caution.contains(UNSTEADY))
    }

    /// Whether all images of a batch share what it draws.
    pub(crate) fn draws_for_all(&self) -> bool {
        self.may_draw() && self.cautions().iter().any(|caution| caution.ends_with(DRAWS_FOR_ALL))
    }
}

/// What shows of whether something was drawn while images were answered.
struct RandomNumbers {
    /// What is next in libtorch's generators, where it is not what would be had nothing been drawn.
    libtorch: Option<[f64; 2]>,
    python: Vec<RandomStates>,
}

impl RandomNumbers {
    fn moved(&self) -> bool {
        self.libtorch.is_some() || self.python.iter().any(RandomStates::moved)
    }

    /// Whether the same question, asked again with other numbers to come, left others behind: who sets a seed for each answer leaves the same.
    fn drawn_again(&self, again: &Self) -> bool {
        let python = self.python.iter().zip(&again.python).any(|(first, again)| again.drew_after(first));
        python || again.libtorch.is_some() && self.libtorch != again.libtorch
    }
}

/// What stands next in the generators that an answer on a device is drawn from, one number from each.
fn next_draw(device: Device) -> Result<[f64; 2]> {
    let next = |device| -> Result<f64> { Ok(Tensor::f_rand([1], (Kind::Double, device))?.f_double_value(&[0])?) };
    Ok([next(Device::Cpu)?, if device == Device::Cpu { 0.0 } else { next(device)? }])
}

fn are_probabilities(answers: &Tensor) -> Result<bool> {
    let sums = answers.f_sum_dim_intlist([1i64].as_slice(), false, Kind::Double)?;
    let off = sums.f_sub_scalar(1.0)?.f_abs()?.f_max()?.f_double_value(&[])?;
    // The one score of a single class is no distribution.
    Ok(answers.size()[1] > 1 && off <= OF_ONE && answers.f_min()?.f_double_value(&[])? >= 0.0)
}

/// What looks like percentages, or like a probability for each class by itself, of which some are large and some small.
fn beside_probabilities(answers: &Tensor) -> Result<Option<&'static str>> {
    const SURE: f64 = 0.9;
    let number = |tensor: &Tensor| -> Result<f64> { Ok(tensor.f_double_value(&[])?) };
    let (least, largest) = (number(&answers.f_min()?)?, number(&answers.f_max()?)?);
    if answers.size()[1] < 2 || least < 0.0 || are_probabilities(answers)? {
        return Ok(None);
    }
    let each_by_itself = largest <= 1.0 && least < 1.0 - SURE && largest > SURE;
    Ok(match (each_by_itself, are_probabilities(&answers.f_div_scalar(100.0)?)?) {
        (true, _) => Some(SIGMOIDS),
        (_, true) => Some("percentages"),
        _ => None,
    })
}

/// The largest difference beyond what rounding of scores so large can come to, as a share of how far an image's scores lie apart: what is added to
/// all of them says nothing.
fn apart(a: &Tensor, b: &Tensor) -> Result<f64> {
    let largest = a.f_abs()?.f_max()?.f_double_value(&[])?;
    let spread = a.f_amax([1i64].as_slice(), false)?.f_sub(&a.f_amin([1i64].as_slice(), false)?)?.f_max()?;
    let spread = match spread.f_double_value(&[])? {
        0.0 => largest,
        spread => spread,
    };
    let gap = a.f_sub(b)?.f_abs()?.f_max()?.f_double_value(&[])?;
    // A number that is none is the smaller one of any two.
    if gap.is_nan() {
        return Ok(f64::INFINITY);
    }
    Ok((gap - ROUNDING * largest).max(0.0) / spread.max(f64::MIN_POSITIVE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_to_all_scores_hides_nothing_and_says_nothing() {
        let scores = |second: f64, offset: f64| Tensor::from_slice(&[offset + 1.0, offset + second]).view([1, 2]);
        for offset in [0.0, 1e5] {
            assert!(apart(&scores(0.2, offset), &scores(0.5, offset)).expect("a share") > 0.2, "{offset}");
            // As much as single precision rounds off.
            let rounded = offset * f64::from(f32::EPSILON);
            assert!(apart(&scores(0.2, offset), &scores(0.2 + rounded, offset)).expect("a share") <= SAME, "{offset}");
        }
    }
}
