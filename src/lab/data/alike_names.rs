//! Names of classes that are perhaps one, written in two ways.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;

use crate::core::cut;

/// A class of so many images has a name that another one may have been meant for, which has a tenth of them or fewer.
const COMMON: usize = 10;

/// What is to be said of classes whose names differ by case, by blanks and strokes or by how letters are composed, and where one of both is rare by two letters
/// that changed places or, of five letters and more, by one that is too many within: what numbers classes by their names counts each as a class, and those behind it one higher. Another
/// letter in the place of one often is another class, and so is one at the end. `counts`: how many images there are of each; of names without any nothing is said.
pub(super) fn alike_names(classes: &[String], counts: &[usize]) -> Option<String> {
    const SHOWN: usize = 120;
    let plain = |name: &String| {
        let letters: Vec<char> = name.nfc().collect::<String>().to_lowercase().chars().collect();
        // A stroke before a digit makes another number of it.
        let kept = |(k, letter): (usize, &char)| match letter {
            '-' => letters.get(k + 1).is_some_and(char::is_ascii_digit).then_some('-'),
            letter if *letter == '_' || letter.is_whitespace() => None,
            letter => Some(*letter),
        };
        letters.iter().enumerate().filter_map(kept).collect::<Vec<char>>()
    };
    let seen = classes.iter().enumerate().filter(|(k, _)| counts[*k] > 0);
    let plain: BTreeMap<usize, Vec<char>> = seen.map(|(k, name)| (k, plain(name))).collect();
    // Names that slips of one letter can turn into each other have one in common among themselves and what is left of them without a letter.
    let mut by_rest: BTreeMap<Vec<char>, Vec<usize>> = BTreeMap::new();
    for (k, name) in &plain {
        rests(name).for_each(|rest| by_rest.entry(rest).or_default().push(*k));
    }
    let mut pairs = vec![];
    for (&rare, name) in &plain {
        let common = |k: &usize| {
            // Of one letter, capital and small are two.
            let one = name.len() > 1 || classes[rare].trim() == classes[*k].trim();
            let same = one && *name == plain[k] && (counts[rare], *k) < (counts[*k], rare);
            let slip = || {
                name.len() > 2
                    && counts[*k] >= COMMON * counts[rare]
                    && (is_slip(name, &plain[k]) || is_slip(&plain[k], name))
            };
            same || slip()
        };
        let found = rests(name).flat_map(|rest| by_rest[&rest].clone()).filter(|k| *k != rare).find(common);
        pairs.extend(found.map(|k| format!("{:?} ({} images) beside {:?}", classes[rare], counts[rare], classes[k])));
    }
    (!pairs.is_empty()).then(|| {
        format!(
            "names of classes are nearly the same, and each counts as a class: {}; if one is a slip, all classes behind it have other numbers",
            cut(&pairs.join(", "), SHOWN)
        )
    })
}

/// A name, and what is left of it without each of its letters.
fn rests(name: &[char]) -> impl Iterator<Item = Vec<char>> {
    let without = |k: usize| [&name[..k], &name[k + 1..]].concat();
    std::iter::once(name.to_vec()).chain((0..name.len()).map(without))
}

/// Whether a name is another one, one whose letters at one place changed places, or one with a letter too many within.
fn is_slip(name: &[char], other: &[char]) -> bool {
    let same = name.iter().zip(other).take_while(|(a, b)| a == b).count();
    match name.len().checked_sub(other.len()) {
        Some(0) if same == name.len() => true,
        Some(0) => {
            let [a, b, rest @ ..] = &name[same..] else { return false };
            let [c, d, other @ ..] = &other[same..] else { return false };
            a == d && b == c && rest == other
        }
        Some(1) => other.len() >= 5 && same < other.len() && name[same + 1..] == other[same..],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::alike_names;

    #[test]
    fn slips_are_told_and_other_names_are_not() {
        let told = |names: &[&str], counts: &[usize]| {
            alike_names(&names.iter().map(|name| name.to_string()).collect::<Vec<_>>(), counts)
        };
        for (names, counts) in [
            (["cat", "cta", "dog"], [20, 1, 20]),
            (["Cat", "cat", "dog"], [1, 40, 9]),
            (["tree_frog", "tree-frog", "x"], [3, 30, 9]),
            (["leopard", "leoppard", "x"], [30, 3, 9]),
            // Of equally many images, and with an accent of its own.
            (["Cat", "cat", "dog"], [20, 20, 9]),
            (["no", "No", "yes"], [20, 20, 9]),
            (["b", "b ", "x"], [20, 20, 9]),
            (["caf\u{e9}", "cafe\u{301}", "dog"], [20, 20, 9]),
        ] {
            assert!(told(&names, &counts).is_some_and(|told| told.contains("beside")), "{names:?}");
        }
        for (names, counts) in [
            (["cat", "car", "dog"], [20, 12, 20]),
            (["cat", "cot", "dog"], [0, 40, 9]),
            (["a1b", "a2b", "x"], [1, 30, 9]),
            (["grade_a", "grade_c", "grade_b"], [60, 5, 40]),
            (["leopard", "leopards", "x"], [30, 3, 9]),
            (["bat", "cat", "x"], [60, 5, 9]),
            (["6", "9", "8"], [1, 30, 9]),
            (["-1.5", "1.5", "0.0"], [4, 4, 4]),
            (["10-120", "101-20", "x"], [4, 4, 4]),
            (["cm\u{b2}", "cm2", "x"], [4, 4, 4]),
            (["a", "A", "x"], [4, 4, 4]),
        ] {
            assert_eq!(told(&names, &counts), None, "{names:?}");
        }
    }
}
