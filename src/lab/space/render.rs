//! Views of objects: where the camera and the light are, and what object and backdrop are made of (Shu, Liu, Qiu and Yuille,
//! AAAI 2020). Ranges and the canonical view are this program's own, as the paper does not publish its own.

use std::sync::Arc;

use rayon::prelude::*;

use super::Space;
use super::factor::{self, Domain, Factor, Factored, Originals};
use crate::core::{Cautions, Cx, Error, Result, Tensor, Value, in_parallel, number, on_device, suggestion};
use crate::data::{Dataset, photograph, photograph_without};
use crate::render::{Mesh, Scenery, Span, VIEW_FACTORS, View, ViewFactor, ViewNumbers, is_beside};

/// Some of the factors of a view; the others stay as they are given.
pub struct Render {
    factors: Vec<Factor>,
    /// For every factor its place among all.
    places: Vec<usize>,
    /// For every factor with choices, their places among all choices.
    choices: Vec<Vec<usize>>,
    /// The view from which factors depart.
    at: ViewNumbers,
    scenery: Arc<Scenery>,
}

/// What is to become of one factor of a view.
#[derive(Debug, Clone)]
pub enum FactorChange {
    /// As far as it goes by default.
    Default,
    Range(f64, f64),
    Choices(Vec<String>),
    /// One value, a number or a choice.
    Fixed(Value),
}

impl Render {
    /// From factors by their names, in the order of [`VIEW_FACTORS`]; those that are not named stay canonical.
    pub fn new(wanted: &[(String, FactorChange)], scenery: Scenery) -> Result<Self> {
        let names = || VIEW_FACTORS.iter().map(|factor| factor.name);
        for (i, (name, _)) in wanted.iter().enumerate() {
            if !names().any(|known| known == name) {
                return Err(Error::argument(format!("no factor {name:?} of a view")).hint(suggestion(name, names())));
            }
            if wanted[..i].iter().any(|(earlier, _)| earlier == name) {
                return Err(Error::argument(format!("factor {name:?} is there twice")));
            }
        }
        let alone = scenery.occluders.is_empty();
        if let Some((name, _)) = wanted.iter().find(|(name, _)| alone && name.starts_with("occluder")) {
            return Err(Error::argument(format!("factor {name:?}: nothing is there to stand in front"))
                .hint("space::render(#{ occluders: data::objects(..) })"));
        }
        let scenery = Arc::new(scenery);
        let mut space = Self { factors: vec![], places: vec![], choices: vec![], at: View::canonical(), scenery };
        for (place, known) in VIEW_FACTORS.iter().enumerate() {
            if let Some((_, wanted)) = wanted.iter().find(|(name, _)| name == known.name) {
                space.take(place, known, wanted)?;
            }
        }
        let built_in = |place: usize| match VIEW_FACTORS[place].span {
            Span::Choices(own) => own.len(),
            _ => 0,
        };
        for (option, name, given) in [
            ("backgrounds", "background", !space.scenery.photographs.is_empty()),
            ("occluders", "occluder", !space.scenery.occluders.is_empty()),
        ] {
            let place = Self::place(name).ok_or_else(|| Error::internal("a factor without a place"))?;
            let varies = space.places.iter().position(|&own| own == place);
            let seen = match varies {
                Some(factor) => space.choices[factor].iter().any(|&choice| choice >= built_in(place)),
                None => space.at[place] as usize >= built_in(place),
            };
            if given && !seen {
                return Err(Error::argument(format!(
                    "`{option}` are never seen: the factor {name:?} takes none of them"
                ))
                .hint(format!("name it in `factors`, or leave `{option}` out")));
            }
        }
        match space.factors.is_empty() {
            true => Err(Error::argument("no factor of the view varies").hint("space::render() lets twelve vary")),
            false => Ok(space),
        }
    }

    /// The twelve factors that need not be asked for, in their default ranges.
    pub fn all() -> Result<Self> {
        let wanted: Vec<_> =
            VIEW_FACTORS.iter().filter(|f| !f.asked).map(|f| (f.name.to_string(), FactorChange::Default)).collect();
        Self::new(&wanted, Scenery::default())
    }

    /// The place of a factor among all.
    pub fn place(name: &str) -> Option<usize> {
        VIEW_FACTORS.iter().position(|factor| factor.name == name)
    }

    /// The place of a choice among all that a factor has.
    pub fn choice(&self, name: &str, choice: &str) -> Result<usize> {
        let factor = Self::place(name).map(|place| &VIEW_FACTORS[place]);
        match factor.filter(|factor| matches!(factor.span, Span::Choices(_))) {
            Some(factor) => {
                let all = self.scenery.choices(factor);
                all.iter().position(|known| known == choice).ok_or_else(|| {
                    Error::argument(format!("factor {name:?}: no choice {choice:?}"))
                        .hint(suggestion(choice, all.iter().map(String::as_str)))
                })
            }
            None => Err(Error::argument(format!("factor {name:?} has a range, no choices"))),
        }
    }

    pub fn scenery(&self) -> &Arc<Scenery> {
        &self.scenery
    }

    fn take(&mut self, place: usize, known: &ViewFactor, wanted: &FactorChange) -> Result<()> {
        let problem =
            |text: String, hint: String| Err(Error::argument(format!("factor {:?}: {text}", known.name)).hint(hint));
        let [low, high] = known.limits;
        let limits =
            || format!("it goes from {} to {} {}", number(low), number(high), known.unit).trim_end().to_string();
        let within = |x: f64| x.is_finite() && (low..=high).contains(&x);
        let all = self.scenery.choices(known);
        let (domain, choices) = match (known.span, wanted) {
            (Span::Choices(_), FactorChange::Default) => (None, self.scenery.usual(known)),
            (Span::Choices(_), FactorChange::Choices(names)) => {
                (None, names.iter().map(|name| self.choice(known.name, name)).collect::<Result<Vec<_>>>()?)
            }
            (Span::Choices(_), FactorChange::Fixed(Value::Str(name))) => {
                self.at[place] = self.choice(known.name, name)? as f64;
                return Ok(());
            }
            (Span::Choices(_), _) => {
                let named: Vec<String> = all.iter().map(|name| format!("{name:?}")).collect();
                return problem("it has choices, no range".into(), format!("choose among {}", named.join(", ")));
            }
            (Span::Range { min, max }, FactorChange::Default) => (Some(Domain::Range { min, max }), vec![]),
            (Span::Log { min, max }, FactorChange::Default) => (Some(Domain::Log { min, max }), vec![]),
            (_, &FactorChange::Range(min, max)) if !(within(min) && within(max)) => {
                return problem(format!("[{min:?}, {max:?}] leaves what can be drawn"), limits());
            }
            (_, &FactorChange::Range(min, max)) if min > max && known.unit == "degrees" => {
                let hint = format!("to go past a full turn, begin below 0: [{:?}, {max:?}]", min - 360.0);
                return problem(format!("`min` must be below `max`, got {min:?} and {max:?}"), hint);
            }
            (Span::Range { .. }, &FactorChange::Range(min, max)) => (Some(Domain::Range { min, max }), vec![]),
            (Span::Log { .. }, &FactorChange::Range(min, max)) => (Some(Domain::Log { min, max }), vec![]),
            (_, FactorChange::Fixed(value)) => {
                let x = match value {
                    Value::Int(x) => *x as f64,
                    Value::Float(x) => *x,
                    other => return problem(format!("wanted a number or a range, got {}", other.kind()), limits()),
                };
                if !within(x) {
                    return problem(format!("{x:?} can't be drawn"), limits());
                }
                self.at[place] = x;
                return Ok(());
            }
            (_, FactorChange::Choices(_)) => return problem("it has a range, no choices".into(), limits()),
        };
        let domain = match (domain, known.span) {
            (Some(domain), _) => domain,
            (None, Span::Choices(_)) => {
                Domain::Choices(choices.iter().map(|&choice| Value::Str(all[choice].clone())).collect())
            }
            (None, _) => return Err(Error::internal("a factor without a domain")),
        };
        let factor = Factor::new(known.name, domain);
        factor::check(std::slice::from_ref(&factor))?;
        self.factors.push(factor);
        self.places.push(place);
        self.choices.push(choices);
        Ok(())
    }

    /// A setting as one number for each of all factors.
    pub fn view(&self, setting: &[f64]) -> ViewNumbers {
        let mut view = self.at;
        for ((&x, &place), choices) in setting.iter().zip(&self.places).zip(&self.choices) {
            view[place] = choices.get(x as usize).map_or(x, |&choice| choice as f64);
        }
        view
    }

    /// How far a factor with a range may go from 0.
    fn farthest(&self, name: &str) -> f64 {
        let Some(place) = Self::place(name) else { return 0.0 };
        let varies = self.places.iter().position(|&own| own == place).map(|factor| &self.factors[factor].domain);
        match varies {
            Some(Domain::Range { min, max } | Domain::Log { min, max }) => min.abs().max(max.abs()),
            _ => self.at[place].abs(),
        }
    }

    /// Of one setting for each of these rows of the data whether its picture is the one that it would be without the object.
    pub fn unseen(&self, data: &Dataset, ids: &[usize], settings: &[&[f64]]) -> Result<Vec<bool>> {
        let objects = data.objects(ids).ok_or_else(|| Error::internal("images without objects"))??;
        let size = data.shape()[1];
        let views: Vec<View> = settings.iter().map(|setting| View::of(&self.view(setting))).collect();
        let scenery = &*self.scenery;
        let unseen = |(object, view): (&Arc<Mesh>, &View)| {
            let [mut with, mut without] = [(); 2].map(|()| vec![0f32; 3 * size * size]);
            photograph(object, view, scenery, size, &mut with);
            photograph_without(view, scenery, size, &mut without);
            with == without
        };
        in_parallel(|| objects.par_iter().zip(&views).map(unseen).collect())
    }
}

impl Render {
    /// What a range shrinks to: its canonical number, or its end that is nearest to it.
    fn nearest_to_canonical(&self, factor: usize) -> f64 {
        let axis = self.factors[factor].axis();
        axis.at_share(axis.share(View::canonical()[self.places[factor]]))
    }

    /// The place of the choice that is left below level 1: the canonical one, or the first.
    fn kept_choice(&self, factor: usize) -> usize {
        let canonical = View::canonical()[self.places[factor]];
        self.choices[factor].iter().position(|&choice| choice as f64 == canonical).unwrap_or(0)
    }

    /// What keeps the canonical view out of the space, as a script says it.
    fn beside_canonical(&self) -> Vec<String> {
        let canonical = View::canonical();
        let of = |(place, known): (usize, &ViewFactor)| {
            let own = self.places.iter().position(|&own| own == place);
            let choice = matches!(known.span, Span::Choices(_));
            let here = match own {
                Some(factor) if choice => self.choices[factor][self.kept_choice(factor)] as f64,
                Some(factor) => self.nearest_to_canonical(factor),
                None => self.at[place],
            };
            let said = |x: f64| match choice {
                true => self.scenery.choices(known)[x as usize].clone(),
                false if known.is_without(x) => "none".into(),
                false => format!("{} {}", number(x), known.unit).trim_end().to_string(),
            };
            let apart = (here - canonical[place]).abs() > 1e-9 * canonical[place].abs().max(1.0);
            apart.then(|| format!("{} {} instead of {}", known.name, said(here), said(canonical[place])))
        };
        VIEW_FACTORS.iter().enumerate().filter_map(of).collect()
    }
}

impl Space for Render {
    fn describe(&self) -> String {
        let canonical = View::canonical();
        // What has to be asked for and was not is not mentioned: spaces keep the names that they had without it.
        let mentioned = |place: usize, known: &ViewFactor| {
            !known.asked || self.places.contains(&place) || self.at[place] != canonical[place]
        };
        let said =
            VIEW_FACTORS.iter().enumerate().filter(|(place, known)| mentioned(*place, known)).map(|(place, known)| {
                let value = match self.places.iter().position(|&own| own == place) {
                    Some(i) => match &self.factors[i].domain {
                        Domain::Range { min, max } | Domain::Log { min, max } => format!("[{min:?}, {max:?}]"),
                        Domain::Choices(choices) => {
                            format!(
                                "[{}]",
                                choices.iter().map(|c| format!("{:?}", c.summary())).collect::<Vec<_>>().join(", ")
                            )
                        }
                        _ => String::new(),
                    },
                    None => match known.span {
                        Span::Choices(_) => format!("{:?}", self.scenery.choices(known)[self.at[place] as usize]),
                        _ => format!("{:?}", self.at[place]),
                    },
                };
                format!("{}: {value}", known.name)
            });
        format!("render(#{{ factors: #{{ {} }}{} }})", said.collect::<Vec<_>>().join(", "), self.scenery.about)
    }

    fn cautions(&self, at_levels: bool) -> Cautions {
        let beside = self.beside_canonical();
        let level_0 = (at_levels && !beside.is_empty()).then(|| {
            format!(
                "level 0 is not the canonical view, which the space does not hold, but the nearest that it holds: {}",
                beside.join(", ")
            )
        });
        let stands = Self::place("occluder").is_some_and(|place| self.places.contains(&place) || self.at[place] != 0.0);
        let hides = "what stands in front may hide all of an object: such a view counts as read wrongly, though nobody could read it";
        let leaves =
            ["shift_x", "shift_y"].iter().any(|shift| is_beside(self.farthest("distance"), self.farthest(shift)));
        let misses = "shifts may take an object out of the picture: such a view counts as read wrongly, though nobody could read it";
        let said = [stands.then_some(hides), leaves.then_some(misses)];
        said.into_iter()
            .flatten()
            .map(String::from)
            .chain(self.scenery.noticed.iter().cloned())
            .chain(level_0)
            .collect()
    }

    fn unit(&self) -> &'static str {
        match self.beside_canonical().is_empty() {
            true => "share of the way from the canonical view to the ends of its ranges",
            false => "share of the way from the view nearest to the canonical one to the ends of its ranges",
        }
    }

    fn factored(&self) -> Option<&dyn Factored> {
        Some(self)
    }

    fn needs_originals(&self) -> bool {
        true
    }

    fn render(&self) -> Option<&Render> {
        Some(self)
    }

    fn check(&self, data: &Dataset) -> Result<()> {
        match data.shows_objects() {
            true => Ok(()),
            false => Err(Error::data(format!("{}: nothing says which objects these images show", data.name))
                .hint("space::render draws data::objects(..) as they are, without grey(), centre() and the like")),
        }
    }
}

impl Factored for Render {
    fn factors(&self) -> &[Factor] {
        &self.factors
    }

    fn unit_of(&self, factor: usize) -> &'static str {
        VIEW_FACTORS[self.places[factor]].unit
    }

    /// A level is a share from 0 to 1: every range shrinks towards its canonical value (or its nearest end), and below 1 choices are the
    /// canonical ones where these are among them.
    fn at(&self, level: f64) -> Result<Option<Vec<Factor>>> {
        if level > 1.0 {
            return Err(Error::argument(format!("space::render: level {level} is beyond its limit of 1")));
        }
        let canonical = View::canonical();
        let shrunk = |(i, (factor, &place)): (usize, (&Factor, &usize))| {
            let middle = canonical[place];
            let domain = match &factor.domain {
                Domain::Range { .. } | Domain::Log { .. } => {
                    let at = factor.axis().share(middle);
                    let ends = [at - level * at, at + level * (1.0 - at)].map(|share| factor.axis().at_share(share));
                    match factor.domain {
                        Domain::Log { .. } => Domain::Log { min: ends[0], max: ends[1] },
                        _ => Domain::Range { min: ends[0], max: ends[1] },
                    }
                }
                // A setting counts places, so the choice that is left must keep its own.
                Domain::Choices(_) if level < 1.0 => {
                    let kept = self.kept_choice(i) as i32;
                    Domain::Whole { min: kept, max: kept }
                }
                other => other.clone(),
            };
            Factor::new(factor.name.clone(), domain)
        };
        Ok(Some(self.factors.iter().zip(&self.places).enumerate().map(shrunk).collect()))
    }

    /// The least level that holds it.
    fn magnitude(&self, setting: &[f64]) -> Option<f64> {
        let share = |(i, x): (usize, &f64)| match &self.factors[i].domain {
            Domain::Choices(_) => f64::from(u8::from(*x as usize != self.kept_choice(i))),
            domain => domain.share_from(self.nearest_to_canonical(i), *x).clamp(0.0, 1.0),
        };
        Some(setting.iter().enumerate().map(share).fold(0.0, f64::max))
    }

    fn draw(&self, cx: &Cx, of: &Originals, settings: &[&[f64]]) -> Result<Tensor> {
        let (_, channels, size, width) = of.images.size4()?;
        if channels != 3 || size != width {
            return Err(Error::internal("objects are drawn in three channels on a square"));
        }
        cx.check()?;
        let objects = of.known_data()?.objects(of.ids).ok_or_else(|| Error::internal("images without objects"))??;
        let size = size as usize;
        let mut pixels = vec![0f32; settings.len() * 3 * size * size];
        let views: Vec<View> = settings.iter().map(|setting| View::of(&self.view(setting))).collect();
        let scenery = &*self.scenery;
        in_parallel(|| {
            let jobs = pixels.par_chunks_mut(3 * size * size).zip(&objects).zip(&views);
            jobs.for_each(|((pixels, object), view)| photograph(object, view, scenery, size, pixels));
        })?;
        let side = size as i64;
        let images = Tensor::f_from_slice(&pixels)?.f_reshape([settings.len() as i64, 3, side, side])?;
        on_device(&images, of.images.device())
    }
}
