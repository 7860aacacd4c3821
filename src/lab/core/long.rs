//! The long forms of plain values: arrays, maps and tensors as text for a terminal of so many columns.

use std::collections::BTreeMap;

use tch::Kind;

use super::lines::{CAUTION, aligned, columns_of, cut, elided, quoted};
use super::{Object, Result, Table, Tensor, Value, is_whole};

/// Rows of a table or a matrix that are shown: the first and the last ones.
const ROWS: usize = 40;

/// Numbers of an array, elements of a list and entries of a map that are shown.
const NUMBERS: usize = 400;

/// Objects of an array that are shown in full; more of them get a line each.
const IN_FULL: usize = 4;

/// Deeper values are shown in one line.
const DEEPEST: usize = 6;

pub(super) fn of(value: &Value, width: usize) -> String {
    match value {
        Value::Str(text) => text.clone(),
        other => nested(other, width.max(20), 0),
    }
}

fn nested(value: &Value, width: usize, depth: usize) -> String {
    match value {
        Value::Str(_) => line(value),
        Value::Array(values) if depth < DEEPEST => array(value, values, width, depth),
        Value::Map(map) if depth < DEEPEST => entries(map, width, depth),
        Value::Tensor(tensor) => self::tensor(tensor, width),
        Value::Object(object) if depth == 0 => object.details(width),
        Value::Object(object) => in_short(&**object, width),
        other => cut(&line(other), width),
    }
}

/// An object in one line, and a line for each of its cautions where these would be cut off.
fn in_short(object: &dyn Object, width: usize) -> String {
    let summary = object.summary();
    let (said, cautions) = match summary.split_once(CAUTION) {
        Some((said, _)) if columns_of(&summary) > width => (said, object.field("cautions").ok().flatten()),
        _ => (summary.as_str(), None),
    };
    let mut text = cut(said, width);
    match cautions {
        Some(Value::Array(cautions)) => {
            cautions.iter().for_each(|caution| text += &format!("\ncaution: {}", caution.summary()));
        }
        _ => text += &summary[said.len()..].replacen(CAUTION, "\ncaution: ", 1),
    }
    text
}

/// A value in one line, its strings in quotes.
fn line(value: &Value) -> String {
    match value {
        Value::Str(text) => quoted(text),
        Value::Array(values) => {
            let shown: Vec<String> = values.iter().take(8).map(line).collect();
            let rest = if values.len() > 8 { format!(", … {} in all", values.len()) } else { String::new() };
            format!("[{}{rest}]", shown.join(", "))
        }
        Value::Map(map) => {
            let shown: Vec<String> =
                map.iter().take(12).map(|(key, value)| format!("{key}: {}", line(value))).collect();
            let rest = if map.len() > 12 { format!(", … {} in all", map.len()) } else { String::new() };
            format!("#{{{}{rest}}}", shown.join(", "))
        }
        other => other.summary(),
    }
}

fn indented(text: &str, by: usize) -> String {
    let margin = " ".repeat(by);
    text.lines().map(|line| format!("{margin}{line}").trim_end().to_string()).collect::<Vec<_>>().join("\n")
}

fn array(whole: &Value, values: &[Value], width: usize, depth: usize) -> String {
    if values.is_empty() {
        return "[]".into();
    }
    if values.len() <= NUMBERS {
        let all = format!("[{}]", values.iter().map(line).collect::<Vec<_>>().join(", "));
        let plain = |v: &Value| !matches!(v, Value::Map(_) | Value::Object(_) | Value::Tensor(_));
        if columns_of(&all) <= width && !all.contains('…') && values.iter().all(plain) {
            return all;
        }
    }
    if let Some(numbers) = floats(values) {
        let integer = values.iter().all(|v| matches!(v, Value::Int(_)));
        return numbers_wrapped(&numbers, integer, width);
    }
    if let Some(table) = Table::from_rows(whole).filter(|_| same_keys(values)) {
        return table.text(width, ROWS);
    }
    if let Some(matrix) = matrix(values) {
        return matrix_text(&matrix, width);
    }
    if values.len() <= IN_FULL && depth == 0 && values.iter().any(|v| matches!(v, Value::Object(_))) {
        return values.iter().map(|v| nested(v, width, 0)).collect::<Vec<_>>().join("\n\n");
    }
    let mut lines = Vec::new();
    let last = values.len() - 1;
    let wide = last.to_string().len();
    for (i, value) in values.iter().enumerate() {
        if elided(i, values.len(), ROWS) {
            if i == ROWS / 2 {
                lines.push(format!("{:>wide$}  {} more", "…", values.len() - ROWS));
            }
            continue;
        }
        let room = width.saturating_sub(wide + 2).max(20);
        let text = nested(value, room, depth + 1);
        let mut parts = text.lines();
        lines.push(format!("{i:>wide$}  {}", parts.next().unwrap_or("")));
        lines.extend(parts.map(|part| format!("{:wide$}  {part}", "")));
    }
    lines.join("\n")
}

fn same_keys(values: &[Value]) -> bool {
    let Some(Value::Map(first)) = values.first() else { return false };
    !first.is_empty()
        && values
            .iter()
            .all(|v| matches!(v, Value::Map(map) if map.len() == first.len() && map.keys().eq(first.keys())))
}

fn floats(values: &[Value]) -> Option<Vec<f64>> {
    values
        .iter()
        .map(|v| match v {
            Value::Int(i) => Some(*i as f64),
            Value::Float(x) => Some(*x),
            _ => None,
        })
        .collect()
}

/// Rows of equal length of numbers, with whether all are integers.
type Matrix = (Vec<Vec<f64>>, bool);

fn matrix(values: &[Value]) -> Option<Matrix> {
    let mut rows = Vec::new();
    let mut integer = true;
    for value in values {
        let Value::Array(row) = value else { return None };
        integer &= row.iter().all(|v| matches!(v, Value::Int(_)));
        rows.push(floats(row)?);
    }
    let same = rows.iter().all(|row| row.len() == rows[0].len() && !row.is_empty());
    same.then_some((rows, integer))
}

fn as_text(values: &[f64], integer: bool) -> Vec<String> {
    if integer { values.iter().map(|x| format!("{x}")).collect() } else { aligned(values) }
}

/// Numbers in brackets, as many to a line as fit, in columns.
fn numbers_wrapped(values: &[f64], integer: bool, width: usize) -> String {
    let n = values.len();
    let kept: Vec<f64> = values.iter().enumerate().filter(|(i, _)| !elided(*i, n, NUMBERS)).map(|(_, x)| *x).collect();
    let texts = as_text(&kept, integer);
    let wide = texts.iter().map(String::len).max().unwrap_or(1);
    let per_line = ((width.saturating_sub(2)) / (wide + 2)).max(1);
    let lines_of = |texts: &[String]| -> Vec<String> {
        texts
            .chunks(per_line)
            .map(|chunk| chunk.iter().map(|text| format!("{text:>wide$}")).collect::<Vec<_>>().join(", "))
            .collect()
    };
    let lines = if n > kept.len() {
        // Whole lines at both ends of the gap.
        let half = (NUMBERS / 2 / per_line).clamp(1, 5) * per_line;
        let half = half.min(kept.len() / 2);
        let mut lines = lines_of(&texts[..half]);
        lines.push(format!("… {} more …", n - 2 * half));
        lines.extend(lines_of(&texts[kept.len() - half..]));
        lines
    } else {
        lines_of(&texts)
    };
    let body: Vec<String> =
        lines.iter().enumerate().map(|(i, l)| format!("{}{l}", if i == 0 { "[" } else { " " })).collect();
    body.join(",\n").replace("…,\n", "…\n").replace(",\n …", "\n …") + "]"
}

fn matrix_text((rows, integer): &Matrix, width: usize) -> String {
    let n = rows.len();
    let shown: Vec<&Vec<f64>> = rows.iter().enumerate().filter(|(i, _)| !elided(*i, n, ROWS)).map(|(_, r)| r).collect();
    let texts = as_text(&shown.iter().flat_map(|row| row.iter().copied()).collect::<Vec<_>>(), *integer);
    let columns = rows[0].len();
    let wide = texts.iter().map(String::len).max().unwrap_or(1);
    let fit = (width.saturating_sub(4) / (wide + 2)).max(2);
    let gap = (n > ROWS).then_some(ROWS / 2);
    let mut lines = Vec::new();
    for (i, row) in texts.chunks(columns).enumerate() {
        if gap == Some(i) {
            lines.push(format!(" … {} more rows", n - shown.len()));
        }
        let cell = |text: &String| format!("{text:>wide$}");
        let row = if columns > fit {
            let head = fit.saturating_sub(1).div_ceil(2).max(1);
            let tail = (fit.saturating_sub(1) / 2).max(1);
            let mut cells: Vec<String> = row[..head].iter().map(cell).collect();
            cells.push("…".into());
            cells.extend(row[columns - tail..].iter().map(cell));
            cells
        } else {
            row.iter().map(cell).collect()
        };
        lines.push(format!("{}[{}]", if i == 0 { "[" } else { " " }, row.join(", ")));
    }
    lines.join("\n") + "]"
}

/// `key  value` in two columns; what does not fit beside its key stands below it.
fn entries(map: &BTreeMap<String, Value>, width: usize, depth: usize) -> String {
    if map.is_empty() {
        return "#{}".into();
    }
    if depth > 0 {
        let flat = map.values().all(|v| !matches!(v, Value::Map(_) | Value::Tensor(_) | Value::Object(_)));
        let one =
            format!("#{{{}}}", map.iter().map(|(k, v)| format!("{k}: {}", line(v))).collect::<Vec<_>>().join(", "));
        if flat && columns_of(&one) <= width && !one.contains('…') {
            return one;
        }
    }
    let wide = map.keys().map(|key| columns_of(key)).max().unwrap_or(0).min(32);
    let mut lines = Vec::new();
    for (i, (key, value)) in map.iter().enumerate() {
        if i == NUMBERS {
            lines.push(format!("… {} more entries", map.len() - NUMBERS));
            break;
        }
        let room = width.saturating_sub(wide + 2).max(20);
        let beside = nested(value, room, depth + 1);
        let padding = " ".repeat(wide.saturating_sub(columns_of(key)));
        if let (Value::Object(_), Some((said, cautions))) = (value, beside.split_once('\n')) {
            lines.push(format!("{key}{padding}  {said}"));
            lines.push(indented(cautions, 2));
        } else if beside.contains('\n') {
            lines.push(key.clone());
            lines.push(indented(&nested(value, width.saturating_sub(2), depth + 1), 2));
        } else {
            lines.push(format!("{key}{padding}  {beside}").trim_end().to_string());
        }
    }
    lines.join("\n")
}

/// What it is in one line; its numbers below it if there are few.
fn tensor(tensor: &Tensor, width: usize) -> String {
    let summary = Value::tensor(tensor.shallow_clone()).summary();
    let mut head = match tensor.device() {
        tch::Device::Cpu => summary,
        tch::Device::Cuda(n) => format!("{summary}, on cuda:{n}"),
        other => format!("{summary}, on {other:?}"),
    };
    if tensor.numel() == 0 || tensor.numel() > NUMBERS || tensor.dim() == 0 {
        return head;
    }
    match tensor_numbers(tensor, width) {
        Ok(text) => {
            head.push('\n');
            head.push_str(&text);
            head
        }
        Err(_) => head,
    }
}

fn tensor_numbers(tensor: &Tensor, width: usize) -> Result<String> {
    let integer = is_whole(tensor.kind());
    let flat = tensor.f_to_device(tch::Device::Cpu)?.f_to_kind(Kind::Double)?.f_contiguous()?.f_reshape([-1])?;
    let mut values = vec![0f64; flat.numel()];
    flat.f_copy_data(&mut values, flat.numel())?;
    let size: Vec<usize> = tensor.size().iter().map(|&d| d as usize).collect();
    let [outer @ .., rows, columns] = &size[..] else { return Ok(numbers_wrapped(&values, integer, width)) };
    let mut blocks = Vec::new();
    for (i, block) in values.chunks(rows * columns).enumerate() {
        let matrix = (block.chunks(*columns).map(<[f64]>::to_vec).collect(), integer);
        let mut place = Vec::new();
        let mut rest = i;
        for dimension in outer.iter().rev() {
            place.push((rest % dimension).to_string());
            rest /= dimension;
        }
        place.reverse();
        let text = matrix_text(&matrix, width);
        blocks.push(if outer.is_empty() { text } else { format!("[{}]\n{text}", place.join(", ")) });
    }
    Ok(blocks.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(&str, Value)]) -> Value {
        Value::Map(entries.iter().map(|(key, value)| ((*key).to_string(), value.clone())).collect())
    }

    #[test]
    fn arrays_of_numbers_wrap_in_columns_and_leave_out_the_middle() {
        assert_eq!(of(&Value::floats([1.5, 2.0]), 80), "[1.5, 2.0]");
        assert_eq!(of(&Value::ints(8..13), 20), "[8, 9, 10, 11, 12]");
        let wrapped = of(&Value::floats([0.5, 0.25, 10.0, 3.125]), 20);
        assert_eq!(wrapped, "[ 0.500,  0.250,\n 10.000,  3.125]");
        let long = of(&Value::ints(0..100_000), 80);
        assert!(long.lines().count() < 20 && long.starts_with("[") && long.ends_with("99999]"), "{long}");
        assert!(long.contains("more …"), "{long}");
        assert!(long.lines().all(|line| columns_of(line) <= 80), "{long}");
    }

    struct Doubted;

    impl Object for Doubted {
        fn kind(&self) -> &'static str {
            "Doubted"
        }

        fn summary(&self) -> String {
            format!("a curve of a model whose name is long{}", self.cautions().ending())
        }

        fn field(&self, name: &str) -> Result<Option<Value>> {
            Ok((name == "cautions").then(|| self.cautions().value()))
        }
    }

    impl Doubted {
        fn cautions(&self) -> crate::core::Cautions {
            ["gradients vanished", "too few images"].into_iter().collect()
        }
    }

    #[test]
    fn what_must_be_known_of_an_object_is_never_cut_off() {
        let inside = map(&[("curve", Value::object(Doubted)), ("n", Value::Int(3))]);
        assert_eq!(
            of(&inside, 40),
            "curve  a curve of a model whose name is…\n  caution: gradients vanished\n  caution: too few images\nn      3"
        );
        let rows: Vec<Value> = (0..6).map(|_| Value::object(Doubted)).collect();
        assert_eq!(of(&Value::Array(rows), 40).matches("too few images").count(), 6);
    }

    #[test]
    fn maps_align_and_nest() {
        let inner = map(&[("deep", Value::ints(0..60)), ("x", Value::Float(0.5))]);
        let value = map(&[("name", Value::Str("a \"b\"".into())), ("n", Value::Int(3)), ("inner", inner)]);
        let text = of(&value, 60);
        assert!(text.contains("n      3") && text.contains("name   \"a \\\"b\\\"\""), "{text}");
        assert!(text.contains("inner\n  deep\n    [ 0,"), "{text}");
        assert!(text.lines().all(|line| columns_of(line) <= 60), "{text}");
        assert_eq!(of(&map(&[]), 60), "#{}");
    }

    #[test]
    fn small_tensors_show_their_numbers() {
        let tensor = Value::tensor(Tensor::from_slice2(&[[1.0f32, f32::NAN], [0.25, -3.0]]));
        assert_eq!(of(&tensor, 80), "tensor float [2 x 2], -3.0 to 1.0, 1 NaN\n[[ 1.00,   NaN]\n [ 0.25, -3.00]]");
        let large = Value::tensor(Tensor::zeros([100, 100], (Kind::Float, tch::Device::Cpu)));
        assert_eq!(of(&large, 80), large.summary());
    }
}
