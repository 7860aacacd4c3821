//! Data sets one after the other.

use std::sync::Arc;

use super::{Dataset, Edge, MisreadBy, Source, are_numbers, are_numerals};
use crate::core::{Cautions, Digest, Error, Result, Value};
use crate::render::Mesh;

/// Joined sets hold at most so many images, and lie at most so deep in one another.
const MOST: usize = 100_000_000;
const DEEPEST: usize = 200;

/// The images of data sets as models see them, or with the margin that all of them have.
struct Joined {
    parts: Vec<Dataset>,
    /// Pixels that are cut off on every side of each part's canvas.
    cut: Vec<usize>,
    shape: [usize; 3],
}

impl Joined {
    fn find(&self, mut index: usize) -> Option<(usize, usize)> {
        for (part, set) in self.parts.iter().enumerate() {
            if index < set.len() {
                return Some((part, index));
            }
            index -= set.len();
        }
        None
    }
}

impl Source for Joined {
    fn len(&self) -> usize {
        self.parts.iter().map(Dataset::len).sum()
    }

    fn shape(&self) -> [usize; 3] {
        self.shape
    }

    fn depth(&self) -> usize {
        1 + self.parts.iter().map(Dataset::depth).max().unwrap_or(0)
    }

    fn read(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        let (part, row) = self.find(index).ok_or_else(|| Error::internal("a row beyond joined data sets"))?;
        let canvas = self.parts[part].read(&[row], &[])?;
        let ([_, canvas_h, canvas_w], cut) = (self.parts[part].canvas_shape(), self.cut[part]);
        let [_, h, w] = self.shape;
        let lines = canvas.chunks(canvas_h * canvas_w).flat_map(|plane| plane.chunks(canvas_w).skip(cut).take(h));
        for (line, into) in lines.zip(pixels.chunks_mut(w)) {
            into.copy_from_slice(&line[cut..cut + w]);
        }
        Ok(())
    }

    fn likeness(&self, index: usize) -> Option<u64> {
        self.find(index).map(|(part, row)| self.parts[part].likeness(row))
    }

    fn likeness_of_object(&self, index: usize) -> Option<u64> {
        self.find(index).and_then(|(part, row)| self.parts[part].likeness_of_object(row))
    }

    fn is_see_through(&self, index: usize) -> bool {
        self.find(index).is_some_and(|(part, row)| self.parts[part].is_see_through(row))
    }

    fn has_foreign_colours(&self, index: usize) -> bool {
        self.find(index).is_some_and(|(part, row)| self.parts[part].has_foreign_colours(row))
    }

    fn object_from_file(&self, index: usize) -> Option<Arc<Mesh>> {
        self.find(index).and_then(|(part, row)| self.parts[part].object_from_file(row))
    }

    fn is_to_be_turned(&self, index: usize) -> bool {
        self.find(index).is_some_and(|(part, row)| self.parts[part].is_to_be_turned(row))
    }

    fn noticed(&self) -> Cautions {
        let mut all = Cautions::default();
        self.parts.iter().for_each(|part| all.extend(&part.drawn_by()));
        all
    }

    fn attributes(&self, index: usize) -> Vec<(&'static str, Value)> {
        self.find(index).map_or(vec![], |(part, row)| self.parts[part].attributes(row))
    }
}

impl Dataset {
    /// These images and then those of `other`, which are as large and have as many classes, whose names are those of the one that has some. Where the
    /// two sets' edges differ, nothing is known beyond the border.
    pub fn join(&self, other: &Self) -> Result<Self> {
        if self.shape() != other.shape() {
            let [a, b] = [self, other].map(|set| set.shape().map(|side| side.to_string()).join(" x "));
            return Err(Error::data(format!("{} has images of {a}, {} of {b}", self.name, other.name))
                .hint("load both at one size with `resize` or `crop`"));
        }
        if self.classes().len() != other.classes().len() {
            return Err(Error::data(format!(
                "{} has {} classes, {} has {}",
                self.name,
                self.classes().len(),
                other.name,
                other.classes().len()
            ))
            .hint("ds.relabel(labels, #{ classes }) gives a set the other's classes"));
        }
        if self.len() + other.len() > MOST || self.depth().max(other.depth()) >= DEEPEST {
            return Err(Error::data(format!(
                "{} images in {} sets joined one after the other are too many",
                self.len() + other.len(),
                2 + self.depth().max(other.depth())
            ))
            .hint("data::from(images, labels) holds images in one piece"));
        }
        let same_names = |a: &[String], b: &[String]| {
            let sorted = |names: &[String]| {
                let mut names = names.to_vec();
                names.sort();
                names
            };
            a != b && sorted(a) == sorted(b)
        };
        // Where nothing named them, they are what the others are.
        let unnamed = |set: &Self, beside: &Self| are_numbers(set.classes()) && !are_numerals(beside.classes());
        let fit = self.classes() == other.classes() || unnamed(self, other) || unnamed(other, self);
        if !fit && !same_names(self.classes(), other.classes()) {
            let differ = self.classes().iter().zip(other.classes()).position(|(a, b)| a != b).unwrap_or_default();
            return Err(Error::data(format!(
                "class {differ} is {:?} in {} and {:?} in {}",
                self.classes()[differ],
                self.name,
                other.classes()[differ],
                other.name
            ))
            .hint("ds.relabel(labels, #{ classes }) gives both the same classes"));
        }
        if same_names(self.classes(), other.classes()) {
            return Err(Error::data(format!(
                "{} and {} have the same classes in another order",
                self.name, other.name
            ))
            .hint("ds.relabel(labels, #{ classes }) gives a set the other's order"));
        }
        // A margin is of use only where every crop of it is an image of the set.
        let whole = self.depends_on_whole_image() || other.depends_on_whole_image();
        let same = self.edge() == other.edge() && !whole;
        let edge = if same { self.edge() } else { Edge::None };
        let parts = vec![self.clone(), other.clone()];
        let cut = |set: &Self| match set.edge() {
            Edge::Margin(n) if !same => n,
            _ => 0,
        };
        let source = Joined {
            cut: parts.iter().map(cut).collect(),
            shape: if same { self.canvas_shape() } else { self.shape() },
            parts,
        };
        let labels = [self.labels(), other.labels()].concat();
        let digest = Digest::of_parts(&[&self.digest.0, &other.digest.0]);
        let any_range = self.leaves_unit_range() || other.leaves_unit_range();
        let name = match self.depth() {
            0 => format!("{} and {}", self.name, other.name),
            _ => format!("{}, {}", self.name, other.name).chars().take(200).collect(),
        };
        let names = if unnamed(self, other) { other.classes() } else { self.classes() };
        let mut set = Self::new(name, Arc::new(source), labels, names.to_vec(), edge, digest)?;
        for (change, why) in self.cautions.iter().chain(&other.cautions) {
            if set.caution(change).is_none() {
                set = set.with_caution(change.clone(), why.clone());
            }
        }
        set.relabelling = [&self.relabelling[..], &other.relabelling].concat();
        set = set.with_skipped([self.skipped(), other.skipped()].concat());
        set = set.with_noticed([self.told(), other.told()].concat());
        set = set.cut_from(self.cut_from.max(other.cut_from));
        if let Some(how) = self.numbering().filter(|how| other.numbering() == Some(how)) {
            set = set.numbered(how.into());
        }
        let set = set.of_arbitrary_labels(self.has_arbitrary_labels() || other.has_arbitrary_labels());
        let same = self.misread_by() == other.misread_by();
        let set = set.made_for(if same { self.misread_by() } else { MisreadBy::Nobody });
        let set = set.of_clusters(self.cluster_numbers_with(other));
        Ok(if any_range { set.of_any_range() } else { set })
    }
}
