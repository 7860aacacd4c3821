//! A transcript as scripts, tables and files show it.

use std::ops::Range;

use rayon::prelude::*;
use serde_json::json;

use super::Transcript;
use crate::core::{
    Cx, Digest, Error, LongRows, LongTable, Object, Result, Table, Tensor, Value, cut, in_parallel, number,
};
use crate::search::exhaustive::Contrast;
use crate::search::parts::{MemberTally, Outcomes};
use crate::search::row::Row;
use crate::space::Render;

impl Transcript {
    fn in_rows(&self) -> LongRows<'_> {
        let of = &self.of;
        let mut head = json!({
            "model": of.model.0, "model_hash": of.model.1.hex(), "data": of.data.json(), "space": of.space,
            "search": of.search, "objective": of.objective.describe(), "seed": of.seed as i64, "version": env!("CARGO_PKG_VERSION"), "examined": of.rows,
            "success_rate": Value::Float(self.success_rate()).json(), "cautions": of.cautions.json(), "rows": null,
        });
        if let Some(guarded) = &of.guarded {
            head["precision"] = "bfloat16".into();
            head["guarded"] = guarded.value().json();
        }
        if let Some(members) = self.members() {
            head["members"] = members.iter().map(|member| member.value().json()).collect();
        }
        let row = |index| {
            let cells = self.cells(index).map(|(name, value)| (name, value.json()));
            serde_json::Value::Object(cells.collect())
        };
        LongRows { head, key: "rows", len: self.len(), row: Box::new(row) }
    }

    /// What its rows are of.
    fn rows_name(&self) -> &'static str {
        let several = self.of.rows > self.of.data.len() || self.rows.windows(2).any(|pair| pair[0].id == pair[1].id);
        match several {
            true => "rows",
            false => "images",
        }
    }

    /// The first and the last rows, `rows` in all.
    fn ends(&self, rows: usize) -> Table {
        let tail = self.len().saturating_sub(rows - rows / 2).max(rows / 2);
        let kept: Vec<usize> = (0..self.len().min(rows / 2)).chain(tail..self.len()).collect();
        let part = self.select(&kept);
        self.columns().fold(Table::default(), |table, name| table.column(name, part.column(name).unwrap_or_default()))
    }

    /// How many rows these are, of all where they are a part.
    fn count(&self) -> String {
        match self.len() == self.of.rows {
            true => self.len().to_string(),
            false => format!("{} of {}", self.len(), self.of.rows),
        }
    }
}

impl Outcomes for Transcript {
    fn row(&self, place: usize) -> Option<&Row> {
        self.rows.get(place)
    }

    fn shown(&self, row: &Row) -> Value {
        self.of.points.value(row.point)
    }

    fn images(&self, cx: &Cx, rows: &[usize]) -> Result<Tensor> {
        self.select(rows).images(cx, true)
    }

    fn goes_again(&self, row: &Row) -> bool {
        self.of.points.goes_again(row.point)
    }

    fn view(&self, row: &Row) -> Option<(&Render, &[f64])> {
        self.of.points.view(row.point)
    }

    fn digest(&self) -> Digest {
        Object::digest(self)
    }
}

impl LongTable for Transcript {
    fn rows(&self) -> usize {
        self.len()
    }

    fn part(&self, rows: Range<usize>) -> Table {
        let part = self.select(&rows.collect::<Vec<_>>());
        let column = |name: &str| part.column(name).unwrap_or_default();
        self.of.cautions.beside(self.columns().fold(Table::default(), |table, name| table.column(name, column(name))))
    }
}

impl Object for Transcript {
    fn kind(&self) -> &'static str {
        "Transcript"
    }

    fn summary(&self) -> String {
        let fooled = self.rows.iter().filter(|row| row.fooled()).count();
        let wrong = self.rows.iter().filter(|row| row.wrong_before()).count();
        let rows = self.rows_name();
        let averaged = self.of.density.as_ref().is_some_and(|density| density.compared != Contrast::Outcome);
        let fooled =
            if averaged { "none moved: averaged over their changes".into() } else { format!("{fooled} fooled") };
        format!(
            "transcript: {} {rows}, {wrong} wrong as they stand, {fooled}{}",
            self.count(),
            self.of.cautions.ending()
        )
    }

    fn details(&self, width: usize) -> String {
        const SHOWN: usize = 12;
        let of = &self.of;
        let lines = [
            self.summary(),
            format!(
                "{} on {}: {} over {}, {}",
                of.model.0,
                of.data.name,
                of.search,
                of.space,
                cut(&of.objective.describe(), 120)
            ),
            format!("success rate {}", number(self.success_rate())),
            self.ends(SHOWN).text_of_ends(width, self.len()),
        ];
        lines.join("\n")
    }

    fn fields(&self) -> &'static [&'static str] {
        &["space", "search", "objective", "examined", "members", "cautions"]
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        Ok(Some(match name {
            "space" => Value::Str(self.of.space.clone()),
            "search" => Value::Str(self.of.search.clone()),
            "objective" => Value::Str(self.of.objective.describe()),
            "examined" => Value::Int(self.of.rows as i64),
            "members" => match self.members() {
                Some(members) => Value::Array(members.iter().map(MemberTally::value).collect()),
                None => Value::Unit,
            },
            "cautions" => self.of.cautions.value(),
            _ => return Ok(None),
        }))
    }

    fn element_keys(&self) -> Vec<&'static str> {
        self.columns().collect()
    }

    fn element(&self, index: i64) -> Option<Result<Value>> {
        let place = if index < 0 { index + self.len() as i64 } else { index };
        let found = usize::try_from(place).ok().and_then(|place| self.row(place));
        Some(found.ok_or_else(|| Error::argument(format!("row {index} of a transcript of {} rows", self.len()))))
    }

    fn digest(&self) -> Digest {
        let of = &self.of;
        let precision = if of.guarded.is_some() { " bfloat16" } else { "" };
        let what = format!("{} {} {}{precision}", of.identity, of.objective.identity(), of.seed);
        let mut rows = Digest::of(&[]);
        for part in self.rows.chunks(4096) {
            let said = in_parallel(|| part.par_iter().map(Row::identity).collect::<Vec<_>>());
            // Without threads of its own, in this one.
            let said = said.unwrap_or_else(|_| part.iter().map(Row::identity).collect());
            rows = Digest::of_parts(&[&rows.0, format!("[{}]", said.join(", ")).as_bytes()]);
        }
        let whole =
            Digest::of_parts(&[&of.model.1.0, &of.data.digest().0, what.as_bytes(), &rows.0, &of.points.digest().0]);
        match self.measured.digest() {
            Some(measured) => Digest::of_parts(&[&whole.0, &measured.0]),
            None => whole,
        }
    }

    fn is_made(&self) -> bool {
        true
    }

    /// What was asked and of which images, without the answers, whose last digits are a device's own.
    fn made_by(&self) -> Option<Digest> {
        let of = &self.of;
        let what = format!("{} {} {}", of.identity, of.objective.identity(), of.seed);
        let mut rows = Digest::of(&[]);
        for part in self.rows.chunks(4096) {
            let of =
                |row: &Row| format!("{} {:?} {:?} {:?};", row.id, row.target, row.level.map(f64::to_bits), row.step);
            rows = Digest::of_parts(&[&rows.0, part.iter().map(of).collect::<String>().as_bytes()]);
        }
        Some(Digest::of_parts(&[b"examined", &of.made_by.0, &of.data.digest().0, what.as_bytes(), &rows.0]))
    }

    fn json(&self) -> serde_json::Value {
        self.in_rows().whole()
    }

    fn long_rows(&self) -> Option<LongRows<'_>> {
        Some(self.in_rows())
    }

    fn long_table(&self) -> Option<&dyn LongTable> {
        Some(self)
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["csv"]
    }
}
