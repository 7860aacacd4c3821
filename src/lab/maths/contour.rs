//! Where a function on a grid crosses a level: marching squares, with straight lines between neighbours.

use std::collections::BTreeMap;

/// A line through places of the grid, each by row and column, in fractions between neighbours. One that ends where it began is closed.
pub type ContourLine = Vec<(f64, f64)>;

/// A side of a cell that is crossed: from this corner to the next in its row, or in its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CellSide {
    row: usize,
    column: usize,
    down: bool,
}

/// The lines on which `values`, `rows` times `columns` of them row by row, are `level`. Cells with a corner that is no number have none.
pub fn contours(values: &[f64], [rows, columns]: [usize; 2], level: f64) -> Vec<ContourLine> {
    let at = |row: usize, column: usize| values[row * columns + column] - level;
    let mut beside: BTreeMap<CellSide, Vec<CellSide>> = BTreeMap::new();
    for row in 0..rows.saturating_sub(1) {
        for column in 0..columns.saturating_sub(1) {
            let corners = [at(row, column), at(row, column + 1), at(row + 1, column + 1), at(row + 1, column)];
            if corners.iter().any(|corner| !corner.is_finite()) {
                continue;
            }
            let above = corners.map(|corner| corner > 0.0);
            let side = |row, column, down| CellSide { row, column, down };
            // Top, right, bottom, left.
            let sides = [
                side(row, column, false),
                side(row, column + 1, true),
                side(row + 1, column, false),
                side(row, column, true),
            ];
            let crossed: Vec<usize> = (0..4).filter(|&k| above[k] != above[(k + 1) % 4]).collect();
            let pairs: &[[usize; 2]] = match crossed[..] {
                [a, b] => &[[a, b]],
                // A saddle: by its middle.
                [..] if crossed.len() == 4 => match (corners.iter().sum::<f64>() > 0.0) == above[0] {
                    true => &[[0, 1], [2, 3]],
                    false => &[[3, 0], [1, 2]],
                },
                _ => &[],
            };
            for [a, b] in pairs {
                beside.entry(sides[*a]).or_default().push(sides[*b]);
                beside.entry(sides[*b]).or_default().push(sides[*a]);
            }
        }
    }
    let place = |side: CellSide| {
        let (from, to) = match side.down {
            true => (at(side.row, side.column), at(side.row + 1, side.column)),
            false => (at(side.row, side.column), at(side.row, side.column + 1)),
        };
        let share = from / (from - to);
        let (row, column) = (side.row as f64, side.column as f64);
        if side.down { (row + share, column) } else { (row, column + share) }
    };
    // Lines with ends first, then what is left is closed.
    let mut starts: Vec<CellSide> = beside.iter().filter(|(_, next)| next.len() == 1).map(|(side, _)| *side).collect();
    starts.extend(beside.keys().copied());
    let mut lines = vec![];
    for start in starts {
        let (mut line, mut side) = (vec![place(start)], start);
        while let Some(next) = beside.get_mut(&side).and_then(Vec::pop) {
            if let Some(back) = beside.get_mut(&next) {
                back.iter().position(|own| *own == side).map(|own| back.remove(own));
            }
            line.push(place(next));
            side = next;
        }
        if line.len() > 1 {
            lines.push(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A circle of radius 3.2 about (5, 6), closed, and what lies beyond an edge, with ends.
    #[test]
    fn lines_lie_on_the_level_and_close_where_they_can() {
        let far = |row: usize, column: usize| (row as f64 - 5.0).hypot(column as f64 - 6.0);
        let values: Vec<f64> = (0..11).flat_map(|row| (0..13).map(move |column| far(row, column))).collect();
        let lines = contours(&values, [11, 13], 3.2);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        assert!(lines[0].iter().all(|(row, column)| ((row - 5.0).hypot(column - 6.0) - 3.2).abs() < 0.05));
        let length: f64 = lines[0].windows(2).map(|pair| (pair[0].0 - pair[1].0).hypot(pair[0].1 - pair[1].1)).sum();
        assert!((length - std::f64::consts::TAU * 3.2).abs() < 0.4, "{length}");
        // Beyond the upper and lower edges: two arcs.
        let lines = contours(&values, [11, 13], 5.5);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| line.first() != line.last()));
        assert!(contours(&values, [11, 13], 99.0).is_empty());
    }

    #[test]
    fn a_saddle_is_parted_and_gaps_have_no_line() {
        let lines = contours(&[1.0, 0.0, 0.0, 1.0], [2, 2], 0.4);
        assert_eq!(lines.len(), 2);
        assert!(contours(&[1.0, f64::NAN, 0.0, 1.0], [2, 2], 0.4).is_empty());
    }
}
