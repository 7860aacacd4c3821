//! Examinations on the page of a run: every object's worst case with its picture, and a plot of questions that a reader can go about in. All of
//! it was written down by the run; numbers and pictures that do not fit each other are not shown.

use maud::{Markup, html};
use serde_json::{Value as Json, json};

use super::folder::{FolderFile, RunFolder};
use super::{base64, clean, count, scrolling, shortened, size};
use crate::core::{Digest, Error, Result, number};
use crate::plot::{Picture, QUESTION_SHEET};

/// What is read of one examination, and how many bytes of pictures a page has before others are left out.
const NUMBERS: u64 = 16 << 20;
const SHEET: u64 = 16 << 20;
const PICTURES: usize = 24 << 20;
/// Objects, questions, factors and pictures that a sheet may have, and the side of a picture.
const OBJECTS: usize = 500;
const QUESTIONS: usize = 12_000;
const FACTORS: usize = 64;
const MOST_PICTURES: usize = 2000;
const SIDE: usize = 96;
/// Rows of the table, and of these on paper; the style sheet holds to the second.
const ROWS: usize = 120;
const PRINTED_ROWS: usize = 25;
/// The side that a picture in the table has at least, about.
const COMFORTABLE: usize = 96;
const ENDING: &str = ".questions.json";

/// The examinations of a run as part of its page.
pub struct Examinations {
    pub shown: Vec<Markup>,
    pub problems: Vec<String>,
    /// Files whose pictures are shown here.
    sheets: Vec<String>,
}

impl Examinations {
    pub fn read(folder: &RunFolder) -> Self {
        let mut all = Self { shown: vec![], problems: vec![], sheets: vec![] };
        let mut weight = 0;
        for file in folder.files.iter().filter(|file| file.name.ends_with(ENDING)) {
            if weight > PICTURES {
                all.problems.push(format!("{} for the size of this page", file.name));
                continue;
            }
            match ShownExamination::read(folder, file) {
                Ok(Some(examination)) => {
                    weight += examination.pictures.iter().map(String::len).sum::<usize>();
                    all.shown.push(examination.markup(all.shown.len() + 1));
                    all.sheets.extend(examination.sheet);
                }
                Ok(None) => {}
                Err(error) => all.problems.push(format!("{}: {}", file.name, error.message)),
            }
        }
        all
    }

    pub fn shows(&self, file: &FolderFile) -> bool {
        self.sheets.contains(&file.name)
    }
}

/// One examination, as far as its files hold together.
struct ShownExamination {
    name: String,
    numbers: Json,
    /// Addresses of the pictures: of questions, then of objects as they stand.
    pictures: Vec<String>,
    cell: [usize; 2],
    sheet: Option<String>,
}

fn broken(what: &str) -> Error {
    Error::data(format!("{what}, which is not as viva writes it"))
}

fn list<'a>(value: &'a Json, what: &str, most: usize) -> Result<&'a [Json]> {
    match value.as_array() {
        Some(list) if list.len() <= most => Ok(list),
        Some(list) => Err(broken(&format!("{} {what}", list.len()))),
        None => Err(broken(&format!("no list of {what}"))),
    }
}

fn text(value: &Json) -> String {
    clean(&shortened(value.as_str().unwrap_or(""), 2000))
}

/// What a run writes where JSON has no word for a number stays a word.
fn told(value: &Json) -> String {
    match (value.as_i64(), value.as_f64()) {
        (Some(whole), _) => whole.to_string(),
        (_, Some(x)) => number(x),
        _ => text(value),
    }
}

impl ShownExamination {
    /// `None` where the file is something else.
    fn read(folder: &RunFolder, file: &FolderFile) -> Result<Option<Self>> {
        let numbers = match file.json(NUMBERS) {
            Ok(numbers) if numbers["kind"] == QUESTION_SHEET => numbers,
            Ok(_) => return Ok(None),
            Err(problem) => return Err(Error::data(problem)),
        };
        let name = match &file.of {
            Some(_) => file.title(),
            None => file.name.strip_suffix(ENDING).unwrap_or(&file.name).to_string(),
        };
        let mut examination = Self { name, numbers, pictures: vec![], cell: [1, 1], sheet: None };
        if examination.numbers["questions"].is_object() {
            examination.pictures(folder)?;
            examination.check()?;
        }
        Ok(Some(examination))
    }

    /// Cuts the sheet into pictures, which are written anew: nothing of a file of someone else's gets into the page as it is.
    fn pictures(&mut self, folder: &RunFolder) -> Result<()> {
        let sheet = &self.numbers["sheet"];
        let Some(file) = sheet["file"].as_str() else { return Ok(()) };
        let entry =
            folder.find(file).ok_or_else(|| Error::data(format!("its pictures, {}, are missing", clean(file))))?;
        let side = |name: &str, most: usize| {
            let side = sheet[name].as_u64().map(|side| side as usize);
            side.filter(|side| (1..=most).contains(side)).ok_or_else(|| broken(&format!("the sheet's {name}")))
        };
        let (width, height) = (side("width", SIDE)?, side("height", SIDE)?);
        let (columns, n) = (side("columns", MOST_PICTURES)?, side("pictures", MOST_PICTURES)?);
        if entry.bytes > SHEET {
            return Err(Error::data(format!("{} is too large for the page ({})", clean(file), size(entry.bytes))));
        }
        let bytes = entry.bytes(SHEET).map_err(|error| Error::file(&entry.path, error))?;
        if sheet["sha256"] != Digest::of(&bytes).hex() {
            return Err(Error::data(format!(
                "{} is not the sheet of pictures that the run drew for these numbers",
                clean(file)
            )));
        }
        let mut reader = image::ImageReader::with_format(std::io::Cursor::new(&bytes), image::ImageFormat::Png);
        let most = |cells: usize, side: usize| (cells * side) as u32;
        let rows = n.div_ceil(columns);
        let mut limits = image::Limits::default();
        (limits.max_image_width, limits.max_image_height) = (Some(most(columns, width)), Some(most(rows, height)));
        reader.limits(limits);
        let drawn = reader.decode().map_err(|error| Error::data(format!("{}: {error}", clean(file))))?.to_rgb8();
        if drawn.dimensions() != (most(columns, width), most(rows, height)) {
            return Err(broken("the size of the sheet"));
        }
        for i in 0..n {
            let (left, top) = (most(i % columns, width), most(i / columns, height));
            let cut = image::imageops::crop_imm(&drawn, left, top, width as u32, height as u32).to_image();
            let png = Picture::new(width, height, cut.into_raw())?.png()?;
            self.pictures.push(format!("data:image/png;base64,{}", base64(&png)));
        }
        (self.cell, self.sheet) = ([width, height], Some(file.to_string()));
        Ok(())
    }

    /// Refuses numbers that name what is not there.
    fn check(&self) -> Result<()> {
        let (numbers, questions) = (&self.numbers, &self.numbers["questions"]);
        let objects = list(&numbers["objects"], "objects", OBJECTS)?;
        let factors = list(&numbers["factors"], "factors", FACTORS)?;
        let n = list(&questions["object"], "questions", QUESTIONS)?.len();
        let mut columns: Vec<&Json> =
            ["object", "number", "loss", "answer", "fails", "worst", "picture"].map(|name| &questions[name]).to_vec();
        columns.extend(list(&questions["settings"], "settings", FACTORS)?);
        if columns.len() != 7 + factors.len() || columns.iter().any(|column| column.as_array().map(Vec::len) != Some(n))
        {
            return Err(broken("questions of several lengths"));
        }
        let below = |value: &Json, most: usize| value.as_u64().is_some_and(|place| (place as usize) < most);
        let pictured = |value: &Json| value.is_null() || below(value, self.pictures.len());
        let all =
            |name: &str, holds: &dyn Fn(&Json) -> bool| questions[name].as_array().into_iter().flatten().all(holds);
        let whole = all("object", &|place| below(place, objects.len()))
            && all("picture", &pictured)
            && objects.iter().all(|object| pictured(&object["standing"]));
        if whole { Ok(()) } else { Err(broken("a question of an object or with a picture that is not there")) }
    }

    fn class(&self, answer: &Json) -> String {
        if self.numbers["answers_are_classes"] != true {
            return String::new();
        }
        let named = answer.as_u64().map(|class| &self.numbers["classes"][class as usize]).map(text);
        named.filter(|name| !name.is_empty()).unwrap_or_else(|| told(answer))
    }

    /// "read as lamp", or nothing where answers are no classes.
    fn read_as(&self, answer: &Json) -> String {
        let class = self.class(answer);
        if class.is_empty() { class } else { format!("read as {class}") }
    }

    fn object(&self, object: &Json) -> String {
        let name = Some(text(&object["name"])).filter(|name| !name.is_empty());
        let mut said = format!("{} {}", if name.is_some() { "object" } else { "image" }, told(&object["id"]));
        name.iter().for_each(|name| said += &format!(", {name}"));
        // Objects may have no other name than their class.
        let label = self.class(&object["label"]);
        if !label.is_empty() && name.as_ref() != Some(&label) {
            said += &format!(", is {label}");
        }
        if object["level"].is_number() {
            said += &format!(", at level {}", told(&object["level"]));
        }
        if object["target"].is_number() {
            said += &format!(", towards {}", self.class(&object["target"]));
        }
        said
    }

    /// `azimuth 12.3 degrees`
    fn factor(&self, factor: usize, question: usize) -> String {
        let (known, x) = (&self.numbers["factors"][factor], &self.numbers["questions"]["settings"][factor][question]);
        let choice = x.as_u64().and_then(|choice| known["choices"].get(choice as usize)).map(text);
        // Where a factor does not count it has no number.
        if x.is_null() {
            return format!("{} –", text(&known["name"]));
        }
        let unit = text(&known["unit"]);
        format!("{} {} {unit}", text(&known["name"]), choice.unwrap_or_else(|| told(x))).trim_end().to_string()
    }

    /// How many pictures are held of how many questions, which, and what must be known of them.
    fn held(&self) -> Vec<String> {
        let numbers = &self.numbers;
        let n = |value: &Json| value.as_u64().unwrap_or(0);
        let (asked, held) = (&numbers["asked"], &numbers["held"]);
        let kept = numbers["questions"]["object"].as_array().map_or(0, Vec::len) as u64;
        let listed = numbers["objects"].as_array().map_or(0, Vec::len) as u64;
        let mut said = vec![];
        if n(&numbers["examined"]) > n(&numbers["rows"]) {
            said.push(format!(
                "The result is {} of the {} that were examined.",
                n(&numbers["rows"]),
                count(n(&numbers["examined"]), "row")
            ));
        }
        said.push(format!(
            "{} of {} have a question that fails.",
            n(&asked["failing_objects"]),
            count(n(&asked["objects"]), "object")
        ));
        if listed < n(&asked["objects"]) {
            said.push(format!("Listed are the {listed} objects with the largest losses alone, so that the plot is of these and not of all."));
        }
        said.push(match kept < n(&asked["questions"]) {
            true => format!(
                "This page holds the numbers of {kept} of {}: those with pictures, every listed object's worst and a spread of the others.",
                count(n(&asked["questions"]), "question")
            ),
            false => format!("This page holds the numbers of all {}.", count(kept, "question")),
        });
        if !self.pictures.is_empty() {
            let [worst, first, spread, standing] =
                ["worst", "first_failure", "spread", "standing"].map(|why| n(&held[why]));
            let drawn = match worst + first + spread {
                all if all == n(&asked["questions"]) => "all of them".to_string(),
                some => format!(
                    "{some} of them: the worst of {}, {} besides, and {spread} spread evenly over the others",
                    count(worst, "object"),
                    count(first, "first failure")
                ),
            };
            said.push(format!(
                "It holds pictures of {drawn}; and of {} as they stand ({}).",
                count(standing, "object"),
                size(self.pictures.iter().map(String::len).sum::<usize>() as u64)
            ));
            said.push(
                "The run drew them at its end from the settings that were asked; nothing was scored for them.".into(),
            );
            let (of, [width, height]) = (&numbers["sheet"], self.cell);
            if n(&of["of_width"]) > width as u64 || n(&of["of_height"]) > height as u64 {
                said.push(format!(
                    "Shown at {width} x {height} of {} x {} pixels.",
                    n(&of["of_width"]),
                    n(&of["of_height"])
                ));
            }
        }
        said
    }

    fn cautions(&self) -> Vec<String> {
        let numbers = &self.numbers;
        let mut cautions: Vec<String> = numbers["cautions"]
            .as_array()
            .into_iter()
            .flatten()
            .take(20)
            .map(text)
            .filter(|text| !text.is_empty())
            .collect();
        if numbers["undrawn"].is_string() {
            cautions.push(format!("there are no pictures: {}", text(&numbers["undrawn"])));
        }
        if numbers["clipped"] == true {
            cautions.push(
                "pixels outside [0, 1] are shown as 0 or 1: the network saw more than these pictures show".into(),
            );
        }
        cautions
    }

    fn picture(&self, place: &Json, label: &str) -> Markup {
        let found = place.as_u64().and_then(|place| Some((place, self.pictures.get(place as usize)?)));
        let scale = (COMFORTABLE / self.cell[0].max(self.cell[1])).max(1);
        html! {
            @if let Some((place, address)) = found {
                img data-picture=(place) src=(address) width=(self.cell[0] * scale) height=(self.cell[1] * scale) alt=(label);
            }
        }
    }

    fn markup(&self, place: usize) -> Markup {
        let numbers = &self.numbers;
        let cautions = self.cautions();
        let [model, data, space, search, objective] =
            ["model", "data", "space", "search", "objective"].map(|name| shortened(&text(&numbers[name]), 400));
        html! {
            section .examination id={ "examination-" (place) } data-examination {
                h3 { (clean(&self.name)) }
                p .words { (model) " on " (data) ": " (search) " over " (space) ", " (objective) }
                @if !cautions.is_empty() {
                    ul .doubts { @for caution in &cautions { li { (caution) } } }
                }
                @if numbers["questions"].is_object() {
                    p .note { (self.held().join(" ")) }
                    (self.viewer(place))
                    (self.table())
                    div .numbers hidden { (self.data()) }
                }
            }
        }
    }

    /// The plot, which the page's script draws and shows.
    fn viewer(&self, place: usize) -> Markup {
        let id = |what: &str| format!("examination-{place}-{what}");
        html! {
            div .viewer hidden {
                div .choices {
                    label { "across " select name="across" {
                        option value="number" { "question" }
                        @for (i, factor) in self.numbers["factors"].as_array().into_iter().flatten().enumerate() {
                            option value=(i) { (text(&factor["name"])) }
                        }
                    } }
                    label { "objects " select name="objects" {
                        option value="all" { "all listed" }
                        @for (i, object) in self.numbers["objects"].as_array().into_iter().flatten().enumerate() {
                            option value=(i) { (self.object(object)) }
                        }
                    } }
                    label { input type="checkbox" name="failing"; " only what fails" }
                    label { input type="checkbox" name="pictured"; " only with pictures" }
                }
                div .stage {
                    div .paper {
                        canvas tabindex="0" role="application" aria-label="questions by their loss" aria-describedby=(id("keys")) {}
                        p .key {
                            span .holds { "○" } " does not fail, " span .fails { "×" } " fails; bold: with a picture"
                        }
                    }
                    div .card aria-live="polite" {}
                }
                p .note id=(id("keys")) {
                    span .shown {}
                    " Point at a question, tap it, or go with the arrow keys: left and right to the next one across, up and down to the next loss."
                }
            }
        }
    }

    fn table(&self) -> Markup {
        let questions = &self.numbers["questions"];
        let objects: Vec<&Json> = self.numbers["objects"].as_array().into_iter().flatten().collect();
        let worst: Vec<Option<usize>> = {
            let mut worst = vec![None; objects.len()];
            for (question, is) in questions["worst"].as_array().into_iter().flatten().enumerate() {
                if let (Some(true), Some(object)) = (is.as_bool(), questions["object"][question].as_u64()) {
                    worst[object as usize].get_or_insert(question);
                }
            }
            worst
        };
        let loss = text(&self.numbers["loss"]);
        let body = html! {
            table .sortable.data.worst-cases {
                thead { tr {
                    th scope="col" { "object" }
                    th scope="col" { "as it stands" }
                    th scope="col" { "worst case" }
                    th scope="col" .number { "loss" }
                    th scope="col" .number { "question" }
                    th scope="col" .number { "failing" }
                    th scope="col" .number { "asked" }
                    th scope="col" { "factors" }
                } }
                tbody { @for (place, (object, worst)) in objects.iter().zip(&worst).enumerate().take(ROWS) {
                    tr data-object=(place) data-failing=(told(&object["failing"])) {
                        td { (self.object(object)) }
                        td {
                            (self.picture(&object["standing"], &format!("{} as it stands", self.object(object))))
                            div { (self.read_as(&object["before"])) }
                        }
                        @if let Some(question) = *worst {
                            td {
                                (self.picture(&questions["picture"][question], &format!("worst case of {}", self.object(object))))
                                div .fails[questions["fails"][question] == true] {
                                    (self.read_as(&questions["answer"][question]))
                                    @if questions["fails"][question] == true { " ×" }
                                }
                            }
                            td .number { (told(&questions["loss"][question])) }
                            td .number { (told(&questions["number"][question])) }
                        } @else {
                            td {} td {} td {}
                        }
                        td .number { (told(&object["failing"])) }
                        td .number { (told(&object["asked"])) }
                        td .factors {
                            @if let Some(question) = *worst {
                                @for factor in 0..self.numbers["factors"].as_array().map_or(0, Vec::len) {
                                    @if factor > 0 { ", " }
                                    (self.factor(factor, question))
                                }
                            }
                        }
                    }
                } }
            }
        };
        html! {
            p .note {
                "Worst cases, the largest " (loss) " first"
                @if objects.len() > ROWS { ": " (ROWS) " of " (count(objects.len() as u64, "object")) }
                @if objects.len() > PRINTED_ROWS { span .on-paper { "; on paper the first " (PRINTED_ROWS) } }
            }
            (scrolling(&format!("worst cases of {}", self.name), &body))
        }
    }

    /// What the script reads. Pictures that the table has are taken from there.
    fn data(&self) -> String {
        let numbers = &self.numbers;
        let strings = |value: &Json| value.as_array().map(|all| all.iter().map(text).collect::<Vec<_>>());
        let factors = numbers["factors"].as_array().into_iter().flatten().map(|factor| {
            json!({ "name": text(&factor["name"]), "unit": text(&factor["unit"]), "choices": strings(&factor["choices"]) })
        });
        let questions = &numbers["questions"];
        let objects = numbers["objects"].as_array().into_iter().flatten().map(|object| {
            json!({ "name": self.object(object), "standing": object["standing"], "before": self.read_as(&object["before"]),
                "failing": object["failing"], "asked": object["asked"] })
        });
        let in_table = |place: usize| {
            let place = Json::from(place);
            let objects = numbers["objects"].as_array().into_iter().flatten().take(ROWS);
            let standing = objects.clone().any(|object| object["standing"] == place);
            let worst = questions["picture"].as_array().into_iter().flatten().position(|own| *own == place);
            standing
                || worst.is_some_and(|question| {
                    questions["worst"][question] == true && questions["object"][question].as_u64() < Some(ROWS as u64)
                })
        };
        let pictures: Vec<Option<&String>> =
            self.pictures.iter().enumerate().map(|(place, own)| (!in_table(place)).then_some(own)).collect();
        let answers: Vec<String> =
            questions["answer"].as_array().into_iter().flatten().map(|own| self.read_as(own)).collect();
        let data = json!({
            "loss": text(&numbers["loss"]), "factors": factors.collect::<Vec<_>>(), "objects": objects.collect::<Vec<_>>(), "answers": answers,
            "object": questions["object"], "number": questions["number"], "losses": questions["loss"], "fails": questions["fails"],
            "worst": questions["worst"], "picture": questions["picture"], "settings": questions["settings"], "pictures": pictures,
            "width": self.cell[0], "height": self.cell[1],
        });
        data.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_no_numbers_stay_words() {
        assert_eq!([json!(1.25), json!("inf"), json!(null)].map(|value| told(&value)), ["1.25", "inf", ""]);
    }
}
