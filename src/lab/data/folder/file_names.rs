//! Pictures of one folder, labelled by how their names begin.

use std::path::{Path, PathBuf};

use super::super::numbering::{Classes, Numbered, imagenet_number, number};
use super::listing::{Listing, name_of};
use crate::core::{Cx, Error, Result};

pub(super) fn list(cx: &Cx, folder: &Path, images: &[PathBuf], classes: &Classes) -> Result<Listing> {
    let ids: Vec<Option<i64>> = images.iter().map(|path| imagenet_number(&name_of(path))).collect();
    let place = |known: bool| ids.iter().position(|id| id.is_some() == known);
    match (place(true), place(false), classes) {
        (None, None, _) => Ok(Listing::default()),
        (Some(_), None, Classes::AsNamed) => {
            // Several images may show one class.
            let mut names: Vec<String> = images.iter().map(|path| name_of(path)[..9].to_string()).collect();
            names.dedup();
            let Numbered { classes, how, .. } = number(cx, &names, classes)?;
            let files = images.iter().map(|path| PathBuf::from(name_of(path))).collect();
            Ok(Listing {
                files,
                labels: ids.into_iter().flatten().collect(),
                classes,
                numbered: how,
                ..Listing::default()
            })
        }
        (Some(_), None, _) => Err(Error::argument("`classes` numbers folders of images, and there are none").hint(
            "the names of the files are WordNet ids, which number them; or add a classes.csv (index, name, file)",
        )),
        (known, Some(other), _) => {
            let what = match known {
                None => "images without labels".to_string(),
                Some(known) => format!(
                    "{} begins with the WordNet id of a class of ImageNet-1k, {} does not",
                    name_of(&images[known]),
                    name_of(&images[other])
                ),
            };
            Err(Error::file(folder, what).hint(
                "put them in one folder per class, add a classes.csv (index, name, file) or a labels.json ({\"file\": label}), or name a table of \
                 their labels: `labels_file: \"labels.csv\"`",
            ))
        }
    }
}
