//! What the owner of a task sees while it is asked: progress, whether known answers are right, and how far people agree. Workers never do.

use std::rc::Rc;
use std::sync::Arc;

use maud::{DOCTYPE, Markup, html};

use crate::core::{Cx, Result, significant};
use crate::estimate::tolerance::Resampling;
use crate::people::{ANSWERS_LOG, PeopleTask, TaskAnswers, read_answers};

/// What the log says so far.
fn answers(cx: &Cx, task: &PeopleTask) -> Result<TaskAnswers> {
    let (found, _) = read_answers(cx, task, &task.folder.join(ANSWERS_LOG))?;
    TaskAnswers::new(Rc::new(task.clone()), &[found])
}

/// What is shown: taken from the desk at once, and worked out while workers go on.
pub(super) struct Overview {
    pub task: Arc<PeopleTask>,
    /// As of Desk::progress.
    pub progress: Vec<(bool, usize, usize, Option<f64>)>,
    /// As of Desk::trouble.
    pub trouble: Vec<String>,
}

fn percent([yes, of]: [usize; 2]) -> String {
    if of == 0 { "–".into() } else { format!("{yes} of {of}") }
}

/// `address`: its own. One that stands still asks for itself no more, so that it can be read in peace.
pub(super) fn page(cx: &Cx, of: &Overview, address: &str, still: bool, style: &str) -> String {
    let Overview { task, progress, trouble } = of;
    let text = &task.text;
    let joined = progress.iter().filter(|place| place.0).count();
    let done = progress.iter().filter(|place| place.1 == place.2).count();
    let idle = progress.iter().filter(|place| place.0 && place.1 == 0).count();
    let answered: usize = progress.iter().map(|place| place.1).sum();
    let found = answers(cx, task).ok();
    let agreement = found.as_ref().and_then(|found| {
        let how = Resampling { replicates: 60, delta: 0.05, seed: 0 };
        found.raw.agreement(cx, &how).ok()
    });
    let known = found.as_ref().map_or([0, 0], |found| {
        let each = found.workers.iter().map(|worker| worker.conduct.gold);
        each.fold([0, 0], |all, own| [all[0] + own[0], all[1] + own[1]])
    });
    let bounded = |bounded: crate::people::Bounded| match bounded.lo.is_nan() {
        true => significant(bounded.value, 3),
        false => {
            format!(
                "{} ({} to {})",
                significant(bounded.value, 3),
                significant(bounded.lo, 3),
                significant(bounded.hi, 3)
            )
        }
    };
    let row = |(seat, place): (usize, &(bool, usize, usize, Option<f64>))| -> Markup {
        let conduct =
            found.as_ref().and_then(|found| found.workers.iter().find(|worker| worker.worker == seat.to_string()));
        html! {
            tr {
                th scope="row" { (seat) }
                td { (place.1) " of " (place.2) }
                td { (conduct.map_or("–".into(), |worker| percent(worker.conduct.checks))) }
                td { (conduct.map_or("–".into(), |worker| percent(worker.conduct.gold))) }
                td { (conduct.and_then(|worker| worker.conduct.median_seconds()).map_or("–".into(), |x| significant(x, 2))) }
                td { (conduct.map_or(String::new(), |worker| worker.verdict.fallen.join(", "))) }
                td { (place.3.map_or("–".into(), |seconds| format!("{seconds:.0} s"))) }
            }
        }
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                @if !still { meta http-equiv="refresh" content="5"; }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Progress" }
                style { (maud::PreEscaped(style)) }
            }
            body.owner {
                main {
                    h1 { "Progress of task " (task.mark()) }
                    p { (text.question) }
                    @for said in trouble { p role="alert" { strong { (said) "." } } }
                    @if still {
                        p { "As it was when you opened it. " a href=(format!("{address}/still")) { "Look again" } ", or " a href=(address) { "follow it" } "." }
                    } @else {
                        p { "New every five seconds. " a href=(format!("{address}/still")) { "Stand still" } "." }
                    }
                    dl {
                        dt { "Workers" } dd { (joined) " of " (progress.len()) " places taken, " (done) " finished" @if idle > 0 { ", " (idle) " without an answer" } }
                        dt { "Answers" } dd { (answered) " of " (task.questions()) }
                        dt { "Known answers right" } dd { (percent(known)) }
                        dt { "Pairs that agree" } dd { (agreement.as_ref().map_or("–".into(), |found| bounded(found.percent))) }
                        dt { "Krippendorff's alpha" }
                        dd { (agreement.as_ref().and_then(|found| found.alpha).map_or("–".into(), bounded)) }
                    }
                    // Scrolled by keyboard where it is wider than the screen.
                    div.wide role="region" aria-label="Workers" tabindex="0" {
                        table {
                            caption { "Intervals at 95%, for other workers and other items; not shown to workers" }
                            thead { tr {
                                th scope="col" { "Worker" } th scope="col" { "Answered" } th scope="col" { "Instructed" }
                                th scope="col" { "Known" } th scope="col" { "Seconds" } th scope="col" { "Would fall to" }
                                th scope="col" { "Silent" }
                            } }
                            tbody { @for place in progress.iter().enumerate().filter(|(_, place)| place.0) { (row(place)) } }
                        }
                    }
                }
            }
        }
    };
    page.into_string()
}
