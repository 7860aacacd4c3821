//! Figures, and the methods that change them.

pub mod animation;
pub mod bar;
pub mod boundary;
pub mod boxes;
pub mod certified;
mod common;
pub mod difference;
pub mod examiner;
pub mod figure;
pub mod grid;
pub mod heatmap;
pub mod histogram;
pub mod images;
pub mod line;
pub mod power;
pub mod pvalues;
pub mod reliability;
pub mod risks;
pub mod roc;
pub mod scatter;
pub mod tolerance;
