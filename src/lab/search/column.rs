//! The columns that every transcript has, each with how it follows from a row. What else was asked for stands in `measure`.

use super::row::Row;
use crate::core::Value;
use crate::space::Point;

pub(super) struct Column {
    pub name: &'static str,
    /// The closure says what a point means.
    pub of: fn(&Row, &dyn Fn(Point) -> Value) -> Value,
}

const fn column(name: &'static str, of: fn(&Row, &dyn Fn(Point) -> Value) -> Value) -> Column {
    Column { name, of }
}

pub(super) const ALL: [Column; 17] = [
    column("id", |row, _| Value::Int(row.id.into())),
    column("label", |row, _| Value::Int(row.label.into())),
    column("target", |row, _| row.target.map_or(Value::Unit, |target| Value::Int(target.into()))),
    column("before", |row, _| Value::Int(row.before.into())),
    column("after", |row, _| Value::Int(row.after.into())),
    column("fooled", |row, _| Value::Bool(row.fooled())),
    column("level", |row, _| row.level.map_or(Value::Unit, Value::Float)),
    column("step", |row, _| row.step.map_or(Value::Unit, |step| Value::Int(step.into()))),
    column("snr", |row, _| known(row.snr)),
    column("magnitude", |row, _| known(row.magnitude)),
    column("loss", |row, _| Value::Float(row.loss.into())),
    column("margin", |row, _| Value::Float(row.margin.into())),
    column("softmax_margin", |row, _| known(row.softmax_margin)),
    column("vanished", |row, _| Value::Bool(row.vanished)),
    column("queries", |row, _| Value::Int(row.queries.into())),
    column("point", |row, point| point(row.point)),
    column("weight", |row, _| row.weight.map_or(Value::Unit, Value::Float)),
];

/// Their names: the keys of every row.
pub const COLUMNS: [&str; ALL.len()] = {
    let mut names = [""; ALL.len()];
    let mut place = 0;
    while place < names.len() {
        names[place] = ALL[place].name;
        place += 1;
    }
    names
};

/// A number of a column, where it was measured.
fn known(x: f32) -> Value {
    if x.is_nan() { Value::Unit } else { Value::Float(x.into()) }
}
