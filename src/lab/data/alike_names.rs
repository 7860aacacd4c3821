//! Names of classes that are perhaps one, written in two ways.

use crate::core::cut;

/// A class of so many images has a name that another one may have been meant for, which has a tenth of them or fewer.
const COMMON: usize = 10;

/// What is to be said of classes whose names differ by case, by blanks and strokes or by one letter, where one of both is rare: what numbers classes by
/// their names counts each as a class, and those behind it one higher. `counts`: how many images there are of each.
pub(super) fn alike_names(classes: &[String], counts: &[usize]) -> Option<String> {
    const SHOWN: usize = 60;
    let plain = |name: &String| name.to_lowercase().replace(['_', '-', ' '], "");
    let plain: Vec<String> = classes.iter().map(plain).collect();
    let mut pairs = vec![];
    for (rare, name) in plain.iter().enumerate().filter(|(_, name)| name.chars().count() > 2) {
        // Of names with numbers in them one letter often tells two apart.
        if name.chars().any(|letter| letter.is_ascii_digit()) {
            continue;
        }
        let common = |&(k, other): &(usize, &String)| {
            k != rare
                && counts[k] >= COMMON * counts[rare].max(1)
                && counts[rare] > 0
                && name.len().abs_diff(other.len()) < 2
                && strsim::damerau_levenshtein(name, other) < 2
        };
        let found = plain.iter().enumerate().find(common);
        pairs.extend(
            found.map(|(k, _)| format!("{:?} ({} images) beside {:?}", classes[rare], counts[rare], classes[k])),
        );
    }
    (!pairs.is_empty()).then(|| {
        format!(
            "names of classes are nearly the same, and each counts as a class: {}; if one is a slip, all classes behind it have other numbers",
            cut(&pairs.join(", "), SHOWN)
        )
    })
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
        ] {
            assert!(told(&names, &counts).is_some_and(|told| told.contains("beside")), "{names:?}");
        }
        for (names, counts) in [
            (["cat", "car", "dog"], [20, 12, 20]),
            (["cat", "cot", "dog"], [0, 40, 9]),
            (["a1b", "a2b", "x"], [1, 30, 9]),
            (["6", "9", "8"], [1, 30, 9]),
        ] {
            assert_eq!(told(&names, &counts), None, "{names:?}");
        }
    }
}
