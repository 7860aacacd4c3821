//! Several searches for one answer, each on what those before it left: the worst case over an ensemble, image by image (Croce and Hein 2020,
//! Section 5). Over levels it is the lower envelope of their curves.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::cautions::{moved_too_little, radius};
use super::ground::FactorGround;
use super::parts::{MemberTally, Origin, Outcomes, Parts};
use super::propose::rooms;
use super::row::{Noted, Row};
use super::slopes::Ways;
use super::transcript::Transcript;
use super::{Approach, Examination, Search, Variation, gradient_search, pairing};
use crate::core::{Cx, Error, ErrorKind, Result};
use crate::objective::{Aim, Objective, judge};
use crate::space::Point;

/// A search of an ensemble.
#[derive(Clone)]
pub struct Member {
    /// What columns and tables call it.
    pub name: String,
    pub search: Rc<dyn Search>,
    /// What it looks for, where that is not the examination's: another wrong class, another loss.
    pub objective: Option<Objective>,
}

/// Searches one after another.
pub struct Worst {
    members: Vec<Member>,
}

impl Worst {
    /// At least one member, none of them an ensemble itself, each with a name of its own.
    pub fn new(members: Vec<Member>) -> Result<Self> {
        if members.is_empty() {
            return Err(Error::argument("search::worst: no searches"));
        }
        if members.iter().any(|member| member.search.members().is_some()) {
            return Err(
                Error::argument("search::worst: a member is itself search::worst").hint("put its members in one list")
            );
        }
        let mut named: Vec<Member> = vec![];
        for member in members {
            let taken = |name: &str| named.iter().any(|known| known.name == name);
            let numbered = (2..).map(|k| format!("{} {k}", member.name));
            let name = std::iter::once(member.name.clone()).chain(numbered).find(|name| !taken(name));
            named.push(Member { name: name.unwrap_or_default(), ..member });
        }
        Ok(Self { members: named })
    }

    fn written(&self, of: impl Fn(&Member) -> String) -> String {
        format!("worst([{}])", self.members.iter().map(of).collect::<Vec<_>>().join(", "))
    }
}

impl Search for Worst {
    fn describe(&self) -> String {
        self.written(|member| match &member.objective {
            None => member.search.describe(),
            Some(objective) => format!("{} for {}", member.search.describe(), objective.describe()),
        })
    }

    fn identity(&self) -> String {
        self.written(|Member { name, search, objective }| {
            let objective = objective.as_ref().map_or(String::new(), Objective::identity);
            format!("{name} {} {objective}", search.identity())
        })
    }

    fn finds_least(&self) -> bool {
        self.members.iter().any(|member| member.search.finds_least())
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![]
    }

    fn members(&self) -> Option<&[Member]> {
        Some(&self.members)
    }

    /// Of members that have none of that kind, themselves.
    fn varied(&self, how: Variation) -> Option<Rc<dyn Search>> {
        let varied: Vec<Option<Rc<dyn Search>>> = self.members.iter().map(|member| member.search.varied(how)).collect();
        if varied.iter().all(Option::is_none) {
            return None;
        }
        let members = self.members.iter().zip(varied);
        let member = |(member, varied): (&Member, Option<Rc<dyn Search>>)| Member {
            search: varied.unwrap_or_else(|| member.search.clone()),
            ..member.clone()
        };
        Some(Rc::new(Self { members: members.map(member).collect() }))
    }
}

/// What a member found on rows of the data.
struct Part {
    member: usize,
    rows: Vec<usize>,
    transcript: Rc<Transcript>,
}

/// An image, a target where the examination aims at some, and a level.
type Key = (u32, Option<i32>, Option<u64>);

/// The worst that is known of a case.
struct Case {
    row: Row,
    measured: Vec<f32>,
    origin: Origin,
    /// Of all members.
    queries: u32,
}

/// One row per image, aim and level: the first member's that made it fail, or else the one that came nearest.
/// `examine`: how one of them is asked.
pub(super) fn examine_all(
    cx: &Cx,
    plan: &Examination,
    members: &[Member],
    examine: &dyn Fn(&Cx, &Examination) -> Result<Transcript>,
) -> Result<Transcript> {
    check(cx, plan, members)?;
    let mut cases: BTreeMap<Key, Case> = BTreeMap::new();
    let mut parts: Vec<Part> = vec![];
    for (number, member) in members.iter().enumerate() {
        let left: Option<BTreeSet<Key>> = (number > 0).then(|| standing(&cases).collect());
        for (levels, rows) in calls(plan, member, left.as_ref()) {
            let data = match left {
                Some(_) => Cow::Owned(plan.data.select(&rows)?),
                None => Cow::Borrowed(plan.data),
            };
            let own = Examination {
                data: &data,
                space: plan.space.clone(),
                search: member.search.clone(),
                objective: member.objective.clone().unwrap_or_else(|| plan.objective.clone()),
                measures: plan.measures.clone(),
                levels,
                steps: vec![],
                ..*plan
            };
            let transcript = Rc::new(examine(cx, &own)?);
            parts.push(Part { member: number, rows, transcript });
            take((members, &parts), left.as_ref(), &mut cases);
        }
    }
    rejudge(cx, plan, (members, &parts), &mut cases)?;
    let within = radius(plan);
    let tallies = tallies(members, &parts, &cases, within);
    let mut rows = vec![];
    let mut origins = vec![];
    for case in cases.into_values() {
        let row = Row { queries: case.queries, point: Point::Setting(rows.len() as u32), ..case.row };
        rows.push(Noted { row, measured: case.measured });
        origins.push(case.origin);
    }
    let parts = parts.into_iter().map(|part| part.transcript as Rc<dyn Outcomes>).collect();
    Ok(Transcript::of_parts(plan, Parts { parts, origins, members: tallies }, rows))
}

/// Refuses members that can't look for what is asked, before any of them works.
fn check(cx: &Cx, plan: &Examination, members: &[Member]) -> Result<()> {
    if !plan.steps.is_empty() {
        return Err(Error::argument("examine: search::worst has no `at_steps`: its members end where they fail")
            .hint("examine with one of them to see its way"));
    }
    let own = members.iter().find_map(|member| member.objective.as_ref());
    if let Some(own) = own
        && !(plan.objective.failure.any_wrong() && plan.objective.lead == 0.0)
    {
        let (own, objective) = (own.describe(), plan.objective.describe());
        return Err(Error::new(
            ErrorKind::Pairing,
            format!("examine: a member of search::worst looks for {own}, and the examination for {objective}"),
        )
        .hint("members with an objective of their own look for any wrong answer: leave `objective` of examine out"));
    }
    for member in members {
        let objective = member.objective.clone().unwrap_or_else(|| plan.objective.clone());
        let own = Examination {
            search: member.search.clone(),
            space: plan.space.clone(),
            measures: vec![],
            levels: plan.levels.clone(),
            steps: vec![],
            objective,
            ..*plan
        };
        match pairing::way(&own)? {
            Approach::Gradients(search) => {
                let ways = Ways::of(cx, &own)?;
                search.check(&own, ways.as_ref().map(Ways::points), plan.model.classes().unwrap_or_default())?;
            }
            Approach::Settings(search) => {
                FactorGround::of(&own)?.map(|ground| rooms(&own, &ground, search)).transpose()?;
            }
            Approach::Elements(_) | Approach::Changes(_) => {}
        }
    }
    Ok(())
}

/// Cases that are right as they stand, and that nothing made fail.
fn standing(cases: &BTreeMap<Key, Case>) -> impl Iterator<Item = Key> + '_ {
    cases.iter().filter(|(_, case)| case.row.may_be_fooled() && case.origin.by.is_none()).map(|(key, _)| *key)
}

/// The examinations that a member is asked for: levels, and rows of the data. `left`: what those before it left.
fn calls(plan: &Examination, member: &Member, left: Option<&BTreeSet<Key>>) -> Vec<(Vec<f64>, Vec<usize>)> {
    let Some(left) = left else { return vec![(plan.levels.clone(), (0..plan.data.len()).collect())] };
    let rows = |at: Option<u64>| {
        let ids: BTreeSet<usize> =
            left.iter().filter(|(.., level)| at.is_none() || *level == at).map(|(id, ..)| *id as usize).collect();
        ids.into_iter().collect::<Vec<_>>()
    };
    // One way tells of all levels.
    let one_way = gradient_search(&*member.search).is_some_and(|search| !search.level_by_level());
    let mut calls = match plan.levels.is_empty() || one_way {
        true => vec![(plan.levels.clone(), rows(None))],
        false => plan.levels.iter().map(|level| (vec![*level], rows(Some(level.to_bits())))).collect(),
    };
    calls.retain(|(_, rows)| !rows.is_empty());
    calls
}

/// Takes up what the last part found.
fn take((members, parts): (&[Member], &[Part]), left: Option<&BTreeSet<Key>>, cases: &mut BTreeMap<Key, Case>) {
    let Some((number, part)) = parts.iter().enumerate().next_back() else { return };
    let own = members[part.member].objective.is_some();
    for (place, found) in part.transcript.rows.iter().enumerate() {
        let id = part.rows[found.id as usize] as u32;
        let key = (id, if own { None } else { found.target }, found.level.map(f64::to_bits));
        if left.is_some_and(|left| !left.contains(&key)) {
            continue;
        }
        let row = Row { id, target: key.1, ..*found };
        let failed = row.may_be_fooled() && if own { row.wrong_after() } else { row.fooled() };
        let measured = || part.transcript.measured.row(place);
        let origin = Origin { part: number, row: place, by: failed.then_some(part.member) };
        let Some(case) = cases.get_mut(&key) else {
            cases.insert(key, Case { queries: row.queries, row, measured: measured(), origin });
            continue;
        };
        case.queries = case.queries.saturating_add(row.queries);
        // What one of them could look at was looked at.
        let vanished = case.row.vanished && row.vanished;
        let row = Row { vanished, ..row };
        case.row.vanished = vanished;
        let same_measure = !own && members[parts[case.origin.part].member].objective.is_none();
        let nearer = same_measure && row.margin < case.row.margin;
        if case.origin.by.is_none() && (failed || nearer) {
            *case = Case { queries: case.queries, row, measured: measured(), origin };
        }
    }
}

/// Images at a time whose scores are asked for again.
const AGAIN: usize = 64;

/// Judges rows of members that look for something of their own by what the examination asks for.
fn rejudge(
    cx: &Cx,
    plan: &Examination,
    (members, parts): (&[Member], &[Part]),
    cases: &mut BTreeMap<Key, Case>,
) -> Result<()> {
    for (number, part) in parts.iter().enumerate() {
        if members[part.member].objective.is_none() {
            continue;
        }
        let mut own: Vec<&mut Case> = cases.values_mut().filter(|case| case.origin.part == number).collect();
        for some in own.chunks_mut(AGAIN) {
            cx.check()?;
            let rows: Vec<usize> = some.iter().map(|case| case.origin.row).collect();
            let labels: Vec<i64> = some.iter().map(|case| case.row.label.into()).collect();
            let images = Outcomes::images(&*part.transcript, cx, &rows)?;
            let scores = tch::no_grad(|| plan.model.logits(&images))?;
            let verdicts = judge(&scores, &labels, &vec![Aim::Away; labels.len()], &plan.objective)?;
            for (case, verdict) in some.iter_mut().zip(verdicts.of) {
                case.row.after = verdict.predicted;
                case.row.loss = plan.objective.loss(verdict.followed);
                case.row.margin = -verdict.excess;
                case.row.softmax_margin = verdict.softmax_margin;
                case.origin.by = case.origin.by.filter(|_| case.row.wrong_after());
            }
        }
    }
    Ok(())
}

/// What each member tried, made fail and left.
fn tallies(members: &[Member], parts: &[Part], cases: &BTreeMap<Key, Case>, within: Option<f64>) -> Vec<MemberTally> {
    let mut left = cases.values().filter(|case| case.row.may_be_fooled()).count();
    let still: BTreeSet<Key> = standing(cases).collect();
    let tally = |(number, member): (usize, &Member)| {
        let tried = left;
        let fooled = cases.values().filter(|case| case.origin.by == Some(number)).count();
        left -= fooled;
        let own = member.objective.is_some();
        let left_by = |is: &dyn Fn(&Row) -> bool| {
            let of_part = |part: &'_ Part| -> Vec<Key> {
                let rows = part.transcript.rows.iter().filter(|row| is(row));
                let key = |row: &Row| {
                    let id = part.rows[row.id as usize] as u32;
                    (id, if own { None } else { row.target }, row.level.map(f64::to_bits))
                };
                rows.map(key).collect()
            };
            let parts = parts.iter().filter(|part| part.member == number);
            parts.flat_map(of_part).collect::<BTreeSet<Key>>().intersection(&still).count()
        };
        let vanished = left_by(&Row::stuck);
        let of_gradients = gradient_search(&*member.search).is_some();
        let near = left_by(&|row| of_gradients && moved_too_little(row, within).is_some());
        let objective = member.objective.as_ref().map(Objective::describe);
        let (name, search) = (member.name.clone(), member.search.describe());
        let by_gradient = of_gradients;
        MemberTally { name, search, objective, tried, fooled, left, vanished, near, by_gradient }
    };
    members.iter().enumerate().map(tally).collect()
}
