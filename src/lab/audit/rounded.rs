//! Images that fail, as a file with 8 bits per channel would hold them.

use super::Check;
use super::attack::Attacked;
use super::finding::{Finding, Verdict, images};
use crate::core::{Cx, Result, Tensor};
use crate::model::Inputs;
use crate::search::Row;

pub struct Rounded;

/// Images that are rounded, at most.
const MOST: usize = 256;

impl Check for Rounded {
    fn name(&self) -> &'static str {
        "failing images rounded to 8 bits"
    }

    fn run(&self, cx: &Cx, of: &mut Attacked) -> Result<Finding> {
        let Some(bounds) = of.attack.space.bounds().filter(|bounds| bounds.within_unit()) else {
            return Ok(Finding::not_asked("pixels are not kept within [0, 1]: `bounds: [0, 1]` of the space does"));
        };
        if of.attack.search.finds_least() {
            return Ok(Finding::not_asked("the search stops where failing begins, and there rounding decides"));
        }
        let mut last = None;
        let one_each = |row: &Row| !row.wrong_before() && row.wrong_after() && last.replace(row.id) != Some(row.id);
        let places: Vec<usize> = of
            .transcript
            .rows
            .iter()
            .map(one_each)
            .enumerate()
            .filter(|row| row.1)
            .map(|row| row.0)
            .take(MOST)
            .collect();
        if places.is_empty() {
            return Ok(Finding::not_asked("no image fails"));
        }
        let failing = of.transcript.select(&places);
        let changed = failing.images(cx, true)?;
        let rounded = bounds.clamp(&changed.f_mul_scalar(255.0)?.f_round()?.f_div_scalar(255.0)?)?;
        let model = &of.attack.model;
        let right_of = |pixels: &Tensor| -> Result<Vec<bool>> {
            let answers = model.predictions(cx, &Inputs::Images(pixels))?;
            Ok(answers.iter().zip(&failing.rows).map(|(answer, row)| *answer == i64::from(row.label)).collect())
        };
        let (anew, rounded) = (right_of(&changed)?, right_of(&rounded)?);
        let turned = anew.iter().filter(|right| **right).count();
        if turned == failing.len() || (turned > 0 && model.draws()) {
            return Ok(Finding::not_asked(format!(
                "{} right as soon as they are asked about once more, with nothing rounded",
                images(turned)
            )));
        }
        let tried = failing.len() - turned;
        let right = rounded.iter().zip(&anew).filter(|(rounded, anew)| **rounded && !**anew).count();
        let mut says: String = match right {
            0 => "all of them fail as files, too".into(),
            n => format!("{} right again: they fail by less than a file can hold", images(n)),
        };
        if turned > 0 {
            says += &format!("; of {} that are right in another batch nothing is said", images(turned));
        }
        let found = Finding::new(Verdict::against(right, of.images()), (right, tried), says);
        Ok(Finding { too_much: true, ..found })
    }
}
