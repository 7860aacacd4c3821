//! The attack with four times as many steps.

use super::Check;
use super::attack::Attacked;
use super::finding::{Finding, Verdict, images};
use crate::core::{Cx, Result};
use crate::search::Variation;

pub struct Longer;

const TIMES: u32 = 4;

impl Check for Longer {
    fn name(&self) -> &'static str {
        "four times as many steps"
    }

    fn run(&self, cx: &Cx, of: &mut Attacked) -> Result<Finding> {
        let Some(search) = of.attack.search.varied(Variation::Longer(TIMES)) else {
            return Ok(Finding::not_asked("the search has no number of steps"));
        };
        let found = of.tried(cx, &of.right, of.with_search(search))?;
        of.fooled_by_any.extend(&found);
        let (more, fewer) = (of.missed(&found).count(), of.fooled.difference(&found).count());
        let verdict = Verdict::against(more.max(fewer.saturating_sub(more)), of.images());
        let says = match (more, fewer) {
            (0, 0) => "they find the same".into(),
            (more, fewer) if fewer > more => {
                format!("they find {} fewer: the attack does not go up its own loss", images(fewer - more))
            }
            (more, _) => {
                format!("they make {} fail that the attack left right: it was stopped too early", images(more))
            }
        };
        Ok(Finding::new(verdict, (more.max(fewer.saturating_sub(more)), of.right.len()), says)
            .left(of.accuracy(&found)))
    }
}
