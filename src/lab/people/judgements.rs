//! Judgements as a table: who said what of which item.

use std::collections::BTreeMap;

use crate::core::{Cautions, Digest, Error, Object, Result, Table, Value, json_of_fields, nearest, significant};

pub const FIELDS: [&str; 8] =
    ["judgements", "workers", "items", "answers", "unanswered", "repeated", "columns", "cautions"];

/// What one worker said of one item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    pub worker: u32,
    pub item: u32,
    /// The number of a word; none where the question was left unanswered.
    pub answer: Option<u32>,
    pub seconds: Option<f64>,
}

/// A judgement as it comes from a file or a script.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GivenAnswer {
    pub worker: String,
    pub item: String,
    pub answer: Option<String>,
    pub seconds: Option<f64>,
    /// What is known of the item, by column.
    pub about: BTreeMap<String, String>,
}

/// What is known of an item: the answer that its maker intended, and what it is grouped by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemFacts(pub BTreeMap<String, String>);

/// What stands for the answer that was intended.
pub const INTENDED: &str = "intended";

/// Who said what of which item, each worker of each item once.
#[derive(Debug, Clone)]
pub struct Judgements {
    pub workers: Vec<String>,
    pub items: Vec<String>,
    /// The answers that could be given.
    pub words: Vec<String>,
    pub rows: Vec<Judgement>,
    /// Of each item.
    pub facts: Vec<ItemFacts>,
    /// What items may be grouped by.
    pub columns: Vec<String>,
    /// Judgements that were there already, and were not counted again.
    pub repeated: usize,
    pub cautions: Cautions,
}

/// The answered judgements of some items, with workers and items numbered from 0.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    pub workers: usize,
    pub items: usize,
    /// Worker, item and answer, item by item.
    pub rows: Vec<[u32; 3]>,
    /// Which item each is among all.
    pub of: Vec<u32>,
}

impl Part {
    /// The rows of each item.
    pub fn by_item(&self) -> impl Iterator<Item = &[[u32; 3]]> {
        self.rows.chunk_by(|a, b| a[1] == b[1])
    }
}

/// Numbers for names in the order in which they come.
#[derive(Default)]
struct Numbered {
    names: Vec<String>,
    known: BTreeMap<String, u32>,
}

impl Numbered {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let number = self.names.len() as u32;
        self.names.push(name.into());
        self.known.insert(name.into(), number);
        number
    }
}

impl Judgements {
    /// `words` are the answers that could be given; where none are named, those that were, and those that were intended.
    pub fn new(given: &[GivenAnswer], words: Option<Vec<String>>) -> Result<Self> {
        if given.is_empty() {
            return Err(Error::data("there are no judgements"));
        }
        let named = words.is_some();
        let words = match words {
            Some(words) => words,
            None => {
                let said = given.iter().flat_map(|row| row.answer.iter().chain(row.about.get(INTENDED)));
                let all: std::collections::BTreeSet<&String> = said.collect();
                all.into_iter().cloned().collect()
            }
        };
        let (mut workers, mut items) = (Numbered::default(), Numbered::default());
        let mut about: Vec<Vec<&BTreeMap<String, String>>> = vec![];
        let mut rows: Vec<Judgement> = vec![];
        let mut seen: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        let (mut repeated, mut otherwise) = (0, 0);
        for (place, row) in given.iter().enumerate() {
            if row.worker.is_empty() || row.item.is_empty() {
                return Err(Error::data(format!("judgement {place} has no worker or no item")));
            }
            if row.seconds.is_some_and(|seconds| !(seconds.is_finite() && seconds >= 0.0)) {
                return Err(Error::data(format!("judgement {place}: {:?} seconds", row.seconds.unwrap_or_default())));
            }
            let answer = row.answer.as_ref().map(|answer| Self::word(&words, answer, place)).transpose()?;
            let (worker, item) = (workers.number(&row.worker), items.number(&row.item));
            about.resize(items.names.len(), vec![]);
            about[item as usize].push(&row.about);
            match seen.get(&(worker, item)) {
                Some(&first) => {
                    repeated += 1;
                    otherwise += usize::from(rows[first].answer != answer);
                }
                None => {
                    seen.insert((worker, item), rows.len());
                    rows.push(Judgement { worker, item, answer, seconds: row.seconds });
                }
            }
        }
        let (facts, columns) = facts(&items.names, &about, &words)?;
        let mut cautions = Cautions::default();
        if otherwise > 0 {
            cautions.add(format!(
                "{otherwise} of {repeated} judgements that came again were other ones; the first of each counts"
            ));
        }
        if let Some(caution) = too_much_alike(&rows, &workers.names) {
            cautions.add(caution);
        }
        let counts = |of: &dyn Fn(&Judgement) -> Option<u32>, n: usize| {
            let mut counts = vec![0; n];
            rows.iter().filter_map(of).for_each(|k| counts[k as usize] += 1);
            counts
        };
        let answers = counts(&|row| row.answer, words.len());
        for (what, names, counts) in [
            ("answers", &words, &answers),
            ("workers", &workers.names, &counts(&|row| Some(row.worker), workers.names.len())),
        ] {
            if let Some(pairs) = spelt_alike(names, counts) {
                cautions.add(format!("{what} differ by case or blanks alone, and each counts by itself: {pairs}"));
            }
        }
        let none: Vec<String> = words
            .iter()
            .zip(&answers)
            .filter(|(word, n)| !named && is_none(word) && **n > 0)
            .map(|(word, _)| format!("{word:?}"))
            .collect();
        if !none.is_empty() {
            cautions.add(format!("{} count as answers: what says that there is none is to be ()", none.join(", ")));
        }
        Ok(Self { workers: workers.names, items: items.names, words, rows, facts, columns, repeated, cautions })
    }

    fn word(words: &[String], answer: &str, place: usize) -> Result<u32> {
        match words.iter().position(|word| word == answer) {
            Some(number) => Ok(number as u32),
            None => {
                let near = nearest(answer, words.iter().map(String::as_str));
                let hint =
                    near.map_or(format!("known: {}", words.join(", ")), |word| format!("did you mean `{word}`?"));
                Err(Error::data(format!("judgement {place}: {answer:?} is none of the answers that could be given"))
                    .hint(hint))
            }
        }
    }

    /// The number of a word.
    pub fn number_of(&self, word: &str) -> Result<u32> {
        let known = self.words.iter().position(|known| known == word);
        known.map(|number| number as u32).ok_or_else(|| {
            Error::argument(format!("{word:?} is none of the answers"))
                .hint(format!("known: {}", self.words.join(", ")))
        })
    }

    /// The answer that was intended of an item.
    pub fn intended(&self, item: u32) -> Option<u32> {
        let word = self.facts[item as usize].0.get(INTENDED)?;
        self.words.iter().position(|known| known == word).map(|number| number as u32)
    }

    pub fn answered(&self) -> usize {
        self.rows.len() - self.unanswered()
    }

    /// Workers who answered anything.
    pub fn answering(&self) -> usize {
        self.whole().workers
    }

    pub fn unanswered(&self) -> usize {
        self.rows.iter().filter(|row| row.answer.is_none()).count()
    }

    /// What these items are grouped by, in the order of the groups: numbers in theirs.
    pub(super) fn groups(&self, by: &[String]) -> Result<BTreeMap<Vec<GroupKey>, Vec<u32>>> {
        for column in by {
            if !self.columns.contains(column) {
                let known = match self.columns.is_empty() {
                    true => "nothing that items could be grouped by came with these judgements".into(),
                    false => format!("items have {}", self.columns.join(", ")),
                };
                return Err(Error::argument(format!("items can't be grouped by {column:?}"))
                    .hint(format!("{known}; a column counts where all rows of an item say the same in it")));
            }
        }
        let mut groups: BTreeMap<Vec<GroupKey>, Vec<u32>> = BTreeMap::new();
        for (item, facts) in self.facts.iter().enumerate() {
            let key = by.iter().map(|column| GroupKey::of(facts.0.get(column).map_or("", String::as_str)));
            groups.entry(key.collect()).or_default().push(item as u32);
        }
        Ok(groups)
    }

    /// The answered judgements of some items.
    pub(super) fn part(&self, items: &[u32]) -> Part {
        let mut place = vec![None; self.items.len()];
        items.iter().for_each(|&item| place[item as usize] = Some(()));
        let mut rows: Vec<[u32; 3]> = self
            .rows
            .iter()
            .filter(|row| place[row.item as usize].is_some())
            .filter_map(|row| Some([row.worker, row.item, row.answer?]))
            .collect();
        rows.sort_by_key(|row| row[1]);
        let mut of: Vec<u32> = rows.iter().map(|row| row[1]).collect();
        of.dedup();
        let mut workers: Vec<u32> = rows.iter().map(|row| row[0]).collect();
        workers.sort_unstable();
        workers.dedup();
        for row in &mut rows {
            row[0] = workers.binary_search(&row[0]).unwrap_or_default() as u32;
            row[1] = of.binary_search(&row[1]).unwrap_or_default() as u32;
        }
        Part { workers: workers.len(), items: of.len(), rows, of }
    }

    pub(super) fn whole(&self) -> Part {
        self.part(&(0..self.items.len() as u32).collect::<Vec<_>>())
    }

    /// A row per judgement.
    pub fn rows_as_table(&self) -> Table {
        let text = |of: &dyn Fn(&Judgement) -> Value| self.rows.iter().map(of).collect::<Vec<Value>>();
        let table = Table::default()
            .column("worker", text(&|row| Value::Str(self.workers[row.worker as usize].clone())))
            .column("item", text(&|row| Value::Str(self.items[row.item as usize].clone())))
            .column(
                "answer",
                text(&|row| row.answer.map_or(Value::Unit, |answer| Value::Str(self.words[answer as usize].clone()))),
            )
            .column("seconds", text(&|row| row.seconds.map_or(Value::Unit, Value::Float)));
        self.columns.iter().fold(table, |table, column| {
            let cell = |row: &Judgement| {
                let fact = self.facts[row.item as usize].0.get(column);
                fact.map_or(Value::Unit, |fact| Value::Str(fact.clone()))
            };
            table.column(column.clone(), text(&cell))
        })
    }
}

/// A part of a group's name; whole numbers stand in their order, before words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GroupKey {
    Number(i64),
    Word(String),
}

impl GroupKey {
    fn of(text: &str) -> Self {
        let number = text.parse::<i64>().ok().filter(|number| number.to_string() == text);
        number.map_or_else(|| Self::Word(text.into()), Self::Number)
    }

    pub fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Word(word) => word.clone(),
        }
    }
}

/// Names that differ by case or blanks alone, the first few, with how often each occurs.
fn spelt_alike(names: &[String], counts: &[usize]) -> Option<String> {
    const SHOWN: usize = 3;
    let mut plain: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (k, name) in names.iter().enumerate().filter(|(k, _)| counts[*k] > 0) {
        let letters = name.chars().filter(|letter| !letter.is_whitespace()).flat_map(char::to_lowercase);
        plain.entry(letters.collect()).or_default().push(k);
    }
    let told: Vec<String> = plain
        .values()
        .filter(|alike| alike.len() > 1)
        .take(SHOWN)
        .map(|alike| {
            let each = alike.iter().map(|&k| format!("{:?} ({} times)", names[k], counts[k]));
            each.collect::<Vec<_>>().join(" and ")
        })
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// What programs write where there is no answer.
fn is_none(word: &str) -> bool {
    ["na", "n/a", "nan", "null"].contains(&word.trim().to_lowercase().as_str())
}

/// Workers of whom two gave one answer to all that they both judged, which others who judged the same items hardly ever do: one person under
/// several names, or answers that were copied, count as several.
fn too_much_alike(rows: &[Judgement], names: &[String]) -> Option<String> {
    /// So rare a pair is not told of among all pairs by chance.
    const RARE: f64 = 0.01;
    /// A second or two.
    const MOST_LOOKS: usize = 20_000_000;
    const MOST_PAIRS: usize = 2000;
    let mut by_item: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    let answered = rows.iter().filter_map(|row| Some((row, row.answer?)));
    answered.for_each(|(row, answer)| by_item.entry(row.item).or_default().push((row.worker, answer)));
    let looks: usize = by_item.values().map(|judged| judged.len() * judged.len() / 2).sum();
    if looks > MOST_LOOKS {
        return Some(format!("{looks} pairs of answers are too many to look for workers who are one person among"));
    }
    let mut pairs: BTreeMap<(u32, u32), [u32; 2]> = BTreeMap::new();
    for judged in by_item.values() {
        for (i, &(a, said)) in judged.iter().enumerate() {
            for &(b, other) in &judged[i + 1..] {
                let [common, alike] = pairs.entry((a.min(b), a.max(b))).or_default();
                *common += 1;
                *alike += u32::from(said == other);
            }
        }
    }
    let (same, apart): (Vec<_>, Vec<_>) = pairs.iter().partition(|(_, [common, alike])| common == alike);
    if apart.is_empty() {
        return None;
    }
    let words = rows.iter().filter_map(|row| row.answer).collect::<std::collections::BTreeSet<_>>().len();
    let independent = IndependentAgreement::of(&pairs, names.len(), words);
    let rare = |expected: f64, common: u32| expected.powf(f64::from(common)) * (pairs.len() as f64) < RARE;
    let enough = same.into_iter().filter(|(_, [common, _])| rare(independent.chance, *common)).take(MOST_PAIRS);
    let told: Vec<_> = enough
        .map(|(&(a, b), &[common, _])| (a, b, common, independent.of_pair(a, b)))
        .filter(|&(.., common, expected)| rare(expected, common))
        .collect();
    let &(a, b, common, expected) = told.first()?;
    let (a, b) = (&names[a as usize], &names[b as usize]);
    Some(format!(
        "{} of workers answered all alike that they both judged, {}{a} and {b} on {common} items, where {:.0}% are what two would that \
         agree with others as they do: if they copied, or are one person, they count as independent of each other all the same",
        if told.len() == 1 { "a pair".into() } else { format!("{} pairs", told.len()) },
        if told.len() == 1 { "" } else { "the first of them " },
        100.0 * expected
    ))
}

/// How often two workers agree who answer independently, by how often each agrees with others: beyond chance, agreement is the product of two
/// workers' skills (Dalvi, Dasgupta, Kumar and Rastogi 2013).
struct IndependentAgreement<'a> {
    pairs: &'a BTreeMap<(u32, u32), [u32; 2]>,
    workers: u32,
    chance: f64,
}

impl<'a> IndependentAgreement<'a> {
    fn of(pairs: &'a BTreeMap<(u32, u32), [u32; 2]>, workers: usize, words: usize) -> Self {
        Self { pairs, workers: workers as u32, chance: 1.0 / words.max(2) as f64 }
    }

    /// Answers in common, and how many were alike.
    fn counts(&self, a: u32, b: u32) -> [f64; 2] {
        self.pairs.get(&(a.min(b), a.max(b))).map_or([0.0; 2], |counts| counts.map(f64::from))
    }

    fn of_pair(&self, a: u32, b: u32) -> f64 {
        /// So many tell enough.
        const OTHERS: usize = 40;
        let differs = |[common, alike]: [f64; 2]| common > alike;
        // Whoever answers all as one of them does may be one with them.
        let others: Vec<u32> = (0..self.workers)
            .filter(|&c| c != a && c != b && differs(self.counts(a, c)) && differs(self.counts(b, c)))
            .take(OTHERS)
            .collect();
        let skill = |counts: &mut dyn Iterator<Item = [f64; 2]>| {
            let [common, alike] = counts.fold([0.0; 2], |sums, own| [sums[0] + own[0], sums[1] + own[1]]);
            (alike / common - self.chance) / (1.0 - self.chance)
        };
        let of_a = skill(&mut others.iter().map(|&c| self.counts(a, c)));
        let of_b = skill(&mut others.iter().map(|&c| self.counts(b, c)));
        let among = others.iter().enumerate().flat_map(|(k, &c)| others[..k].iter().map(move |&d| (c, d)));
        let of_others = skill(&mut among.map(|(c, d)| self.counts(c, d)));
        let product = of_a * of_b / of_others;
        // Of others who agree by chance alone, or are none, nothing follows.
        if product.is_finite() && of_others > 0.0 {
            return self.chance + (1.0 - self.chance) * product.clamp(0.0, 1.0);
        }
        let apart = self.pairs.values().filter(|[common, alike]| common > alike);
        let [common, alike] =
            apart.fold([0.0; 2], |sums, own| [sums[0] + f64::from(own[0]), sums[1] + f64::from(own[1])]);
        alike / common
    }
}

/// What all rows of an item say alike; a column in which they differ is of judgements, and no item is grouped by it.
fn facts(
    items: &[String],
    about: &[Vec<&BTreeMap<String, String>>],
    words: &[String],
) -> Result<(Vec<ItemFacts>, Vec<String>)> {
    let names: std::collections::BTreeSet<&String> = about.iter().flatten().flat_map(|row| row.keys()).collect();
    let differs =
        |name: &String| about.iter().position(|rows| rows.iter().any(|row| row.get(name) != rows[0].get(name)));
    let mut columns = vec![];
    for name in names {
        match differs(name) {
            None => columns.push(name.clone()),
            Some(item) if name == INTENDED => {
                return Err(Error::data(format!(
                    "item {:?} was intended as one answer here and as another there",
                    items[item]
                ))
                .hint("an item is one picture with one question: other pictures need other ids"));
            }
            Some(_) => {}
        }
    }
    let mut facts = vec![];
    for (item, rows) in items.iter().zip(about) {
        let known = columns.iter().filter_map(|name| Some((name.clone(), rows.first()?.get(name)?.clone())));
        let known: BTreeMap<String, String> = known.collect();
        if let Some(intended) = known.get(INTENDED)
            && !words.contains(intended)
        {
            return Err(Error::data(format!("item {item:?} was intended as {intended:?}, which is no answer"))
                .hint(format!("known: {}", words.join(", "))));
        }
        facts.push(ItemFacts(known));
    }
    Ok((facts, columns))
}

impl Object for Judgements {
    fn kind(&self) -> &'static str {
        "Judgements"
    }

    fn summary(&self) -> String {
        let each = self.rows.len() as f64 / self.items.len() as f64;
        let unanswered = match self.unanswered() {
            0 => String::new(),
            n => format!(", {n} of them unanswered"),
        };
        format!(
            "{} judgements{unanswered}: {} workers, {} items with {} each, answers {}{}",
            self.rows.len(),
            self.workers.len(),
            self.items.len(),
            significant(each, 3),
            self.words.join(", "),
            self.cautions.ending()
        )
    }

    fn details(&self, width: usize) -> String {
        const SHOWN: usize = 12;
        format!("{}\n{}", crate::core::wrapped(&self.summary(), width), self.rows_as_table().text(width, SHOWN))
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        let words = |words: &[String]| Value::Array(words.iter().cloned().map(Value::Str).collect());
        Ok(Some(match name {
            "judgements" => Value::Int(self.rows.len() as i64),
            "workers" => Value::Int(self.workers.len() as i64),
            "items" => Value::Int(self.items.len() as i64),
            "answers" => words(&self.words),
            "unanswered" => Value::Int(self.unanswered() as i64),
            "repeated" => Value::Int(self.repeated as i64),
            "columns" => words(&self.columns),
            "cautions" => self.cautions.value(),
            _ => return Ok(None),
        }))
    }

    fn digest(&self) -> Digest {
        Digest::of(self.rows_as_table().csv().as_bytes())
    }

    fn json(&self) -> serde_json::Value {
        json_of_fields(self, [("version", serde_json::json!(env!("CARGO_PKG_VERSION")))])
    }

    fn table(&self) -> Option<Table> {
        Some(self.cautions.beside(self.rows_as_table()))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
