//! What a test is fixed to before anything is scored, in a file that nobody changes without its digest showing it.

use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::independence::order_seed;
use super::protocol::Protocol;
use crate::core::{Budget, Cautions, Cx, Digest, Error, Object, Result, date, files, number, strict_json};
use crate::data::Dataset;
use crate::model::Model;
use crate::search::{Approach, Search, Transcript};
use crate::space::Space;

/// No registration has more bytes.
const LARGEST: u64 = 1 << 20;

/// Who is asked about what, by name and hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub name: String,
    pub hash: String,
}

/// A way to look that is registered: as scripts write it, and as digests know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredWay {
    pub space: String,
    pub search: String,
    pub identity: String,
}

impl RegisteredWay {
    pub fn of(space: &dyn Space, search: &dyn Search) -> Self {
        let identity = format!("{} {}", space.identity(), search.identity());
        Self { space: space.describe(), search: search.describe(), identity }
    }

    pub fn words(&self) -> String {
        format!("{} over {}", self.search, self.space)
    }

    /// Whether its search draws at random, so that its outcomes depend on a seed.
    fn draws(&self) -> bool {
        self.search.starts_with("blind")
    }
}

/// Everything that a test depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Registration {
    /// The date by the machine's clock.
    pub registered: String,
    pub registered_unix: u64,
    pub viva: String,
    pub model: Identity,
    pub data: Identity,
    pub images: usize,
    pub tests: Vec<RegisteredWay>,
    /// The test that counts.
    pub test: String,
    pub delta: f64,
    pub sides: i64,
    /// The seed of the order of bets: the run's.
    pub order_seed: u64,
    /// The seed of a search's random draws; none where nothing is drawn.
    pub seed: Option<u64>,
    /// What the process that registered knew of earlier scoring.
    pub scored_before: Option<String>,
}

/// Of what is registered or to be compared with a registration.
pub struct Fixed<'a> {
    pub model: (&'a str, Digest),
    pub data: &'a Dataset,
    pub ways: Vec<RegisteredWay>,
    pub protocol: Protocol,
    pub order_seed: u64,
    pub seed: Option<u64>,
    /// Images that are tested.
    pub rows: usize,
}

impl<'a> Fixed<'a> {
    /// Of an examination that is about to be made.
    pub fn of_call(
        cx: &Cx,
        (model, data): (&'a Model, &'a Dataset),
        way: RegisteredWay,
        protocol: Protocol,
        seed: u64,
    ) -> Self {
        let (model, order_seed) = ((model.name.as_str(), model.digest()), order_seed(cx));
        Self { model, data, ways: vec![way], protocol, order_seed, seed: Some(seed), rows: data.len() }
    }

    /// Of one that was made.
    pub fn of_transcript(cx: &Cx, transcript: &'a Transcript, protocol: Protocol) -> Self {
        let of = &transcript.of;
        let way = RegisteredWay { space: of.space.clone(), search: of.search.clone(), identity: of.identity.clone() };
        Self {
            model: (&of.model.0, of.model.1),
            data: &of.data,
            ways: vec![way],
            protocol,
            order_seed: order_seed(cx),
            seed: Some(of.seed),
            rows: transcript.len(),
        }
    }
}

/// Refuses a space and a search without densities on these images: no test follows from them.
pub fn check_densities(data: &Dataset, space: &dyn Space, search: &dyn Search) -> Result<()> {
    let reach = search.approaches().into_iter().find_map(|approach| match approach {
        Approach::Elements(exhaustive) => Some(exhaustive.reach()),
        _ => None,
    });
    match (space.finite(), reach) {
        (Some(finite), Some(reach)) => finite.on(data, reach).map(drop),
        _ => Err(Error::argument(format!("the outcomes of {} over {} have no densities", search.describe(), space.describe()))
            .hint("those of search::strongest, nearest, blind, blind_or_stay, average and average_doubt over space::translate, flip, turn, polarity and their products have")),
    }
}

impl Registration {
    /// Of a test that is to be made, now.
    pub fn of(cx: &Cx, fixed: &Fixed) -> Result<Self> {
        if let Some(way) = fixed.ways.iter().find(|way| way.draws() && fixed.seed.is_none()) {
            return Err(Error::argument(format!(
                "{} draws at random: register the `seed` of its draws as well",
                way.words()
            ))
            .hint("such as `seed: 1`, here and in the call that makes the test"));
        }
        for (i, way) in fixed.ways.iter().enumerate() {
            if fixed.ways[..i].contains(way) {
                return Err(Error::argument(format!("{} is there twice", way.words())).hint("every test once"));
            }
        }
        let (model, data) = (fixed.model.1, fixed.data);
        let scored_before = if cx.was_scored(model, data.digest()) {
            Some("this run had asked the model about these images before it registered the test".to_string())
        } else if cx.was_scored(model, data.source_digest()) {
            Some(
                "this run had asked the model about images of the same source before it registered the test"
                    .to_string(),
            )
        } else {
            None
        };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Ok(Self {
            registered: date(now as i64),
            registered_unix: now,
            viva: env!("CARGO_PKG_VERSION").into(),
            model: Identity { name: fixed.model.0.into(), hash: model.hex() },
            data: Identity { name: data.name.clone(), hash: data.digest().hex() },
            images: data.len(),
            tests: fixed.ways.clone(),
            test: fixed.protocol.test.word().into(),
            delta: fixed.protocol.delta,
            sides: fixed.protocol.sides.count(),
            order_seed: fixed.order_seed,
            seed: fixed.seed,
            scored_before,
        })
    }

    /// The registration of a file where this one would be written, and the digest that seals it; refused if it registers another test.
    fn there(&self, path: &Path) -> Result<(Self, String)> {
        let (there, digest) = Self::read(path)?;
        let others = there.others(self);
        match others.is_empty() {
            true => Ok((there, digest)),
            false => Err(Error::file(path, format!("another registration is there: {}", others.join("; ")))
                .hint("a registration is not replaced: register under another name")),
        }
    }

    /// Writes it, unless it is there already: a registration is not replaced. What is put together from shards was registered when the first
    /// of them was, and what is verified when it was. The registration that then is in the file.
    pub fn write(self, cx: &Cx, target: &Path) -> Result<(Self, String)> {
        if std::fs::symlink_metadata(target).is_ok() {
            return self.there(target);
        }
        let earlier: Vec<(Self, String)> =
            cx.written_earlier(target).iter().map(|path| self.there(path)).collect::<Result<_>>()?;
        let first = earlier.into_iter().map(|(there, _)| there).min_by_key(|there| there.registered_unix);
        let text = files::sealed(first.as_ref().unwrap_or(&self));
        let fill = |temporary: &Path| std::fs::write(temporary, &text).map_err(|error| Error::file(target, error));
        cx.write_with(target, fill)?;
        // What is quoted is what a reader of the file finds.
        Self::read(target)
    }

    /// The registration of a file, and the digest that seals it.
    pub fn read(path: &Path) -> Result<(Self, String)> {
        let none = "give the file that risk::register wrote";
        let text = String::from_utf8(files::read(path, LARGEST).map_err(|e| e.hint(none))?)
            .map_err(|_| Error::file(path, "no registration").hint(none))?;
        let budget = Budget::unwatched(text.len() as u64, Budget::PLAIN);
        let told =
            strict_json(text.as_bytes(), &budget, |e| Error::file(path, format!("no registration: {e}")).hint(none))
                .map_err(|e| e.at(path))?;
        let digest = told["sha256"].as_str().unwrap_or_default().to_string();
        if told["tests"].is_null() || told["order_seed"].is_null() {
            return Err(Error::file(path, "no registration of a test").hint(none));
        }
        if files::broken_seal(&text).is_some() {
            return Err(Error::file(
                path,
                "changed or damaged: what the registration says is not what its digest was made of",
            )
            .hint("take the file as it was written; a test that was changed is not the registered one"));
        }
        let registration: Self =
            serde_json::from_value(told).map_err(|e| Error::file(path, format!("no registration: {e}")).hint(none))?;
        if registration.tests.is_empty() {
            return Err(Error::file(path, "a registration of no test").hint(none));
        }
        Ok((registration, digest))
    }

    /// What another registration says otherwise, but for when it was made.
    fn others(&self, other: &Self) -> Vec<String> {
        let mut found = self.differences(&DependsOn {
            model: (&other.model.name, &other.model.hash),
            data: (&other.data.name, &other.data.hash, other.images),
            test: &other.test,
            delta: other.delta,
            sides: other.sides,
            order_seed: other.order_seed,
        });
        let ways = |all: &[RegisteredWay]| all.iter().map(RegisteredWay::words).collect::<Vec<_>>().join(", ");
        if self.tests != other.tests {
            found.push(format!("registered is {}, this is {}", ways(&self.tests), ways(&other.tests)));
        }
        if self.seed != other.seed {
            let words = |seed: Option<u64>| seed.map_or("no seed".into(), |seed| format!("seed {}", seed as i64));
            found.push(format!("registered is {}, this is {}", words(self.seed), words(other.seed)));
        }
        found
    }

    fn differences(&self, now: &DependsOn) -> Vec<String> {
        let mut found = vec![];
        let mut see = |same: bool, registered: String, this: String| {
            if !same {
                found.push(format!("registered is {registered}, this test has {this}"));
            }
        };
        see(
            self.viva == env!("CARGO_PKG_VERSION"),
            format!("viva {}", self.viva),
            format!("viva {}", env!("CARGO_PKG_VERSION")),
        );
        let short = |hash: &str| hash.get(..12).unwrap_or(hash).to_string();
        let known = |what: &str, name: &str, hash: &str| format!("{what} {name} (hash {}...)", short(hash));
        see(
            self.model.hash == now.model.1,
            known("model", &self.model.name, &self.model.hash),
            known("model", now.model.0, now.model.1),
        );
        let data = |name: &str, hash: &str, images: usize| format!("{images} images of {}", known("data", name, hash));
        see(
            self.data.hash == now.data.1,
            data(&self.data.name, &self.data.hash, self.images),
            data(now.data.0, now.data.1, now.data.2),
        );
        see(self.test == now.test, format!("the {} test", self.test), format!("the {} test", now.test));
        // JSON may round the last digit.
        let same = (self.delta - now.delta).abs() <= 4.0 * f64::EPSILON * self.delta.abs();
        see(same, format!("delta {}", number(self.delta)), format!("delta {}", number(now.delta)));
        see(self.sides == now.sides, format!("sides {}", self.sides), format!("sides {}", now.sides));
        see(
            self.order_seed == now.order_seed,
            format!("the run's seed {}, which orders the bets", self.order_seed),
            format!("{}", now.order_seed),
        );
        found
    }

    /// Refuses another test than the registered one, by what is another. Which of the registered tests it is.
    pub fn check(&self, fixed: &Fixed) -> Result<usize> {
        let (hash, data_hash) = (fixed.model.1.hex(), fixed.data.digest().hex());
        let mut found = self.differences(&DependsOn {
            model: (fixed.model.0, &hash),
            data: (&fixed.data.name, &data_hash, fixed.data.len()),
            test: fixed.protocol.test.word(),
            delta: fixed.protocol.delta,
            sides: fixed.protocol.sides.count(),
            order_seed: fixed.order_seed,
        });
        let way = fixed.ways.first();
        let place = way.and_then(|way| self.tests.iter().position(|known| known.identity == way.identity));
        if let (None, Some(way)) = (place, way) {
            let known: Vec<String> = self.tests.iter().map(RegisteredWay::words).collect();
            found.push(format!("registered is {}, this test has {}", known.join(" and "), way.words()));
        }
        if let Some(seed) = self.seed
            && fixed.seed != Some(seed)
        {
            let here = fixed.seed.map_or("none".into(), |seed| (seed as i64).to_string());
            let seed = seed as i64;
            found.push(format!("registered is seed {seed} of the search's draws, this test has {here}"));
        }
        if fixed.rows != self.images {
            found.push(format!("registered is a test on all {} images, this one is on {}", self.images, fixed.rows));
        }
        match (place, found.is_empty()) {
            (Some(place), true) => Ok(place),
            _ => Err(Error::argument(format!("this is not the registered test: {}", found.join("; "))).hint(
                "make the registered test, or leave `registered` out: then the report says nothing of a registration",
            )),
        }
    }
}

/// What one test depends on.
struct DependsOn<'a> {
    model: (&'a str, &'a str),
    data: (&'a str, &'a str, usize),
    test: &'a str,
    delta: f64,
    sides: i64,
    order_seed: u64,
}

/// A registration that a report was found to be of.
#[derive(Debug, Clone)]
pub struct Registered {
    /// The file's name, as it was given.
    pub file: String,
    pub sha256: String,
    pub registration: Registration,
    /// Which of its tests.
    pub place: usize,
}

impl Registered {
    /// Checks that a test is what a file registered.
    pub fn check(cx: &Cx, given: &str, fixed: &Fixed) -> Result<Self> {
        let (registration, sha256) = Registration::read(&cx.find(given)?)?;
        let place = registration.check(fixed)?;
        Ok(Self { file: given.into(), sha256, registration, place })
    }

    /// How many tests were registered together.
    pub fn tests(&self) -> usize {
        self.registration.tests.len()
    }

    pub fn short(&self) -> String {
        format!(
            "registered {}, SHA-256 {}...",
            self.registration.registered,
            self.sha256.get(..12).unwrap_or(&self.sha256)
        )
    }

    /// What the file shows, and no more.
    pub fn sentence(&self) -> String {
        let of = match self.tests() {
            1 => String::new(),
            n => format!(", one of {n} tests"),
        };
        format!(
            "this test was registered{of}: {} (SHA-256 {}), dated {} by the clock of the machine that wrote it. The file shows that \
             nothing in it was changed since, not that nothing was scored before",
            self.file, self.sha256, self.registration.registered
        )
    }

    /// Why it may be worth less than it seems.
    pub fn cautions(&self) -> Cautions {
        self.registration.scored_before.iter().map(String::as_str).collect()
    }
}
