//! One outcome: a row of a transcript.

use crate::space::Point;

/// The outcome of one image.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The image's row in the data set.
    pub id: u32,
    pub label: i32,
    /// The class that the objective aims at, where it aims at one.
    pub target: Option<i32>,
    /// The predicted class of the image as it stands.
    pub before: i32,
    /// The predicted class where the search left it.
    pub after: i32,
    /// The objective's loss there: l_exc.
    pub loss: f32,
    /// How far the scores are there from what the objective asks for; negative where it is met. Away from a label it is the
    /// label's score minus the best other one, towards a class the best other score minus that class's.
    pub margin: f32,
    /// How large the change is, in the space's unit; 0 over factors of a script's own, which have none.
    pub magnitude: f32,
    /// How many points were scored for this image.
    pub queries: u32,
    pub point: Point,
    /// The density h_g of the outcome, where it is known.
    pub weight: Option<f64>,
    /// How strong changes were allowed to be, where levels were asked for.
    pub level: Option<f64>,
    /// How many steps a search along gradients had gone, if it is one.
    pub step: Option<u32>,
    /// The signal-to-noise ratio of the change in dB, infinite where nothing changed; NaN where it was not measured.
    pub snr: f32,
    /// The highest softmax probability minus the second highest, there.
    pub softmax_margin: f32,
    /// Whether a search along gradients was stopped there by a gradient of 0, or one along a boundary found nothing to begin at.
    pub vanished: bool,
}

/// A row, and what was measured there, in the order in which it was asked for.
#[derive(Debug, Clone)]
pub(super) struct Noted {
    pub row: Row,
    pub measured: Vec<f32>,
}

impl Default for Row {
    fn default() -> Self {
        Self {
            id: 0,
            label: 0,
            target: None,
            before: 0,
            after: 0,
            loss: 0.0,
            margin: 0.0,
            magnitude: 0.0,
            queries: 0,
            point: Point::default(),
            weight: None,
            level: None,
            step: None,
            snr: f32::NAN,
            softmax_margin: f32::NAN,
            vanished: false,
        }
    }
}

impl Row {
    /// How digests know it, which stays when types and fields get better names.
    pub(super) fn identity(&self) -> String {
        let Self { id, label, target, before, after, loss, margin, magnitude, queries, point, .. } = self;
        let Self { weight, level, step, snr, softmax_margin, vanished, .. } = self;
        format!(
            "Row {{ id: {id}, label: {label}, target: {target:?}, before: {before}, after: {after}, loss: {loss:?}, margin: {margin:?}, \
             magnitude: {magnitude:?}, queries: {queries}, point: {}, weight: {weight:?}, level: {level:?}, step: {step:?}, \
             snr: {snr:?}, softmax_margin: {softmax_margin:?}, vanished: {vanished} }}",
            point.identity()
        )
    }

    pub fn wrong_before(&self) -> bool {
        self.before != self.label
    }

    pub fn wrong_after(&self) -> bool {
        self.after != self.label
    }

    /// Whether there is anything to look for: right as it stands, and not aimed at the class that it has.
    pub fn may_be_fooled(&self) -> bool {
        !self.wrong_before() && self.target != Some(self.label)
    }

    /// Where the search left it as the objective asks: wrong, or the target, as clearly as it is to be.
    fn met(&self) -> bool {
        self.target.map_or(self.wrong_after(), |target| self.after == target) && self.margin <= 0.0
    }

    /// Right as it stands, and where the search left it as the objective asks.
    pub fn fooled(&self) -> bool {
        self.may_be_fooled() && self.met()
    }

    /// Not as the objective asks, and a gradient of 0, or as good as 0, or the want of a point to begin at kept the search from going on: nothing is
    /// known of what a search that could would have found.
    pub fn stuck(&self) -> bool {
        self.vanished && !self.met()
    }
}

/// Why the rows of a search that describes itself so are `stuck`, where some are.
pub fn why_stuck(search: &str) -> &'static str {
    match search {
        _ if search.starts_with("hopskipjump(") => "nothing to begin at was found",
        _ if search.contains("hopskipjump(") => "gradients vanished, or nothing to begin at was found,",
        _ => "gradients vanished",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_know_a_row_by_words_that_stay() {
        let row = Row {
            id: 3,
            target: Some(2),
            loss: 0.1,
            weight: Some(2.0),
            snr: f32::INFINITY,
            vanished: true,
            ..Row::default()
        };
        assert_eq!(
            row.identity(),
            "Row { id: 3, label: 0, target: Some(2), before: 0, after: 0, loss: 0.1, margin: 0.0, magnitude: 0.0, queries: 0, \
             point: Element(Element([0, 0, 0, 0, 0, 0, 0, 0])), weight: Some(2.0), level: None, step: None, snr: inf, \
             softmax_margin: NaN, vanished: true }"
        );
        let points = [Point::Setting(7), Point::Trajectory].map(Point::identity);
        assert_eq!(points, ["Setting(7)", "Trajectory"]);
    }
}
