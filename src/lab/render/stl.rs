//! STL files, as text and in binary (3D Systems, StereoLithography Interface Specification, 1989). Crates that read them take the memory
//! that a header claims.

use std::path::Path;

use glam::{DVec3, Vec3};

use super::mesh::Surface;
use super::parts::{PLAIN, Parts, Piece, whole};
use crate::core::{Budget, Cx, Error, Result};

const HEADER: usize = 84;
const FACET: usize = 50;

pub(super) fn read(cx: &Cx, file: &Path, parts: &mut Parts) -> Result<()> {
    let (bytes, budget) = whole(cx, file)?;
    let (positions, float32) = positions(file, &bytes, &budget, parts).map_err(|error| error.at(file))?;
    let corners: Vec<[u32; 3]> = (0..positions.len() as u32 / 3).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    let surface = parts.surface(Surface::plain(PLAIN));
    // Normals are those of the faces, which is what the format's own are to be.
    let piece = Piece {
        positions: &positions,
        float32,
        normals: None,
        texture: None,
        colours: None,
        corners: &corners,
        surface,
    };
    parts.add(file, &budget, &piece)
}

/// Three in turn make a triangle; whether they are float32 numbers.
fn positions(file: &Path, bytes: &[u8], budget: &Budget, parts: &mut Parts) -> Result<(Vec<DVec3>, bool)> {
    let claimed = bytes.get(HEADER - 4..HEADER).map(|n| u32::from_le_bytes([n[0], n[1], n[2], n[3]]) as u64);
    let wanted = claimed.map(|n| HEADER as u64 + n * FACET as u64);
    // Some programs begin binary files with the word of text, so the size tells which it is.
    if wanted != Some(bytes.len() as u64)
        && bytes.trim_ascii_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"))
    {
        return Ok((as_text(file, bytes, budget)?, false));
    }
    match wanted {
        Some(wanted) if wanted == bytes.len() as u64 => {}
        Some(wanted) => {
            let n = claimed.unwrap_or(0);
            let what = format!("it says that it has {n} triangles, which take {wanted} bytes: it has {}", bytes.len());
            return Err(Error::file(file, what).hint("the file is cut off or damaged, or no STL file"));
        }
        None => return Err(Error::file(file, "too short for an STL file")),
    }
    budget.items::<DVec3>((bytes.len() - HEADER) / FACET * 3, "its triangles")?;
    let mut positions = vec![];
    for facet in bytes[HEADER..].chunks_exact(FACET) {
        budget.step()?;
        let numbers: Vec<f32> = facet[12..48].as_chunks::<4>().0.iter().map(|&x| f32::from_le_bytes(x)).collect();
        positions.extend(numbers.chunks_exact(3).map(|place| Vec3::from_slice(place).as_dvec3()));
        if facet[48..] != [0, 0] {
            parts.remark("colours of its triangles are left out");
        }
    }
    Ok((positions, true))
}

fn as_text(file: &Path, bytes: &[u8], budget: &Budget) -> Result<Vec<DVec3>> {
    let text = std::str::from_utf8(bytes).map_err(|_| Error::file(file, "neither text nor a whole binary STL file"))?;
    let (mut positions, mut of_facet, mut ended) = (vec![], 0, false);
    for (line, words) in text.lines().enumerate() {
        budget.step()?;
        let bad = |what: &str| Error::file(file, format!("line {}: {what}", line + 1));
        let mut words = words.split_ascii_whitespace();
        match words.next().map(str::to_ascii_lowercase).as_deref() {
            Some("vertex") => {
                let numbers: Vec<f64> =
                    words.map(str::parse).collect::<std::result::Result<_, _>>().unwrap_or_default();
                let [x, y, z] = numbers[..] else { return Err(bad("wanted are three numbers after `vertex`")) };
                budget.items::<DVec3>(1, "its triangles")?;
                positions.push(DVec3::new(x, y, z));
                of_facet += 1;
            }
            Some("endfacet") if of_facet == 3 => of_facet = 0,
            Some("endfacet") => return Err(bad(&format!("a facet of {of_facet} corners, not 3"))),
            Some("endsolid") => ended = true,
            Some("solid" | "facet" | "outer" | "endloop") => ended = false,
            None => {}
            Some(other) => return Err(bad(&format!("unknown word {other:?}"))),
        }
    }
    match (of_facet, ended) {
        (0, true) => Ok(positions),
        (0, false) => Err(Error::file(file, "no `endsolid` at its end").hint("the file is cut off")),
        _ => Err(Error::file(file, "it ends within a facet").hint("the file is cut off")),
    }
}
