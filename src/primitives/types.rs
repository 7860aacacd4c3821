//! The types that scripts meet, with their fields: what `viva doc Dataset` lists beside the methods.

use crate::estimate::calibration;

/// What `value.name` answers.
pub struct Field {
    pub name: &'static str,
    /// The kind of the answer.
    pub kind: &'static str,
    pub doc: &'static str,
}

/// A type of values.
pub struct Type {
    /// As errors and `Kind::Object` write it.
    pub name: &'static str,
    /// One sentence.
    pub purpose: &'static str,
    pub fields: &'static [Field],
    /// What `value[i]` gives; empty if it has no elements.
    pub elements: &'static str,
}

const fn field(name: &'static str, kind: &'static str, doc: &'static str) -> Field {
    Field { name, kind, doc }
}

/// The fields of a calibration: those of its scores, and the others.
const CALIBRATION: [Field; calibration::FIELDS.len()] = {
    let none = [
        field(
            "bins",
            "an array of maps",
            "`from, to, rows, confidence, accuracy, accuracy_lo, accuracy_hi` of every bin, as the figure shows them",
        ),
        field("binning", "a string", "whether bins are of equal \"width\" or \"mass\""),
        field("rows", "an int", "how many images it is of"),
        field("at", "a string", "the level or the step that all rows have in common; empty where they have none"),
        field(
            "cautions",
            "an array of strings",
            "why it may not mean what it seems to; empty where nothing was noticed",
        ),
    ];
    let ends = [
        "",
        "lower end of its interval at 95%",
        "upper end",
        "what a calibrated model shows in the mean, by chance alone",
    ];
    let mut fields = [const { field("", "", "") }; calibration::FIELDS.len()];
    let (mut place, mut score) = (0, 0);
    while score < calibration::SCORES.len() {
        let own = calibration::SCORES[score];
        let mut number = 0;
        while number < own.fields.len() {
            let doc = if number == 0 { own.purpose } else { ends[number] };
            fields[place] = field(own.fields[number], "a float, or () where it is not known", doc);
            (place, number) = (place + 1, number + 1);
        }
        score += 1;
    }
    let mut other = 0;
    while place < fields.len() {
        fields[place] = field(none[other].name, none[other].kind, none[other].doc);
        (place, other) = (place + 1, other + 1);
    }
    fields
};

/// All types, in the order of the reference pages.
pub static TYPES: &[Type] = &[
    Type {
        name: "Dataset",
        purpose: "Images with their labels, read when they are used.",
        fields: &[
            field("name", "a string", "where the images come from"),
            field("classes", "an array of strings", "the name of each label"),
            field("shape", "an array of three ints", "channels, height and width of an image as models see it"),
            field("labels", "a tensor int64 N", "the true label of each image"),
            field(
                "numbered",
                "a string or ()",
                "how the classes of an image folder got their numbers, such as `by their names` or `in alphabetical order`",
            ),
            field("hash", "a string", "twelve digits that stand for pixels, labels and preprocessing"),
            field(
                "edge",
                "a string",
                "what a translation does at the border: `wrap` rolls, `margin(n)` brings in n more pixels, `none` has \
                 nothing to bring in",
            ),
            field(
                "skipped",
                "an array of maps",
                "3-D objects that could not be read, or are there twice: `name` and `why` of each; of pictures empty, since one that can't be read is refused and other files are passed over",
            ),
            field(
                "clusters",
                "an array of ints, or ()",
                "of each image the number of its cluster, counted from 0; `()` where each stands alone",
            ),
        ],
        elements: "a map: `image` (a tensor C x H x W), `label` and `class`, and `attributes` where they are known by name; a negative \
                   index counts from the end",
    },
    Type {
        name: "Model",
        purpose: "A classifier: images in, one score per class out. It is never changed by what is asked of it.",
        fields: &[
            field("name", "a string", "where it comes from"),
            field("classes", "an int, or ()", "how many scores it gives, where that is known"),
            field("input", "an array of three ints, or ()", "the images it wants: channels, height and width"),
            field("hash", "a string", "twelve digits that stand for layers, weights and normalisation"),
            field("losses", "an array of floats", "the mean loss of each epoch, if it was trained here"),
            field(
                "cautions",
                "an array of strings",
                "why its answers may not mean what they seem to; empty where nothing was noticed, or before it was asked anything",
            ),
        ],
        elements: "",
    },
    Type {
        name: "Generator",
        purpose: "Draws images of latent vectors in named stages. It is never changed by what is asked of it.",
        fields: &[
            field("name", "a string", "where it comes from"),
            field("latent", "an int", "how many numbers a latent vector has"),
            field("classes", "an int, or ()", "how many labels it draws, if it takes any"),
            field("shape", "an array of three ints", "of its images: channels, height and width"),
            field(
                "layers",
                "an array of maps",
                "`name` and `shape` of the latent vector and of what each stage gives; the last is the image",
            ),
            field("hash", "a string", "twelve digits that stand for layers and weights"),
            field("discriminator", "a bool", "whether it has one, which generator::finetune needs"),
            field(
                "auxiliary",
                "a bool",
                "whether its discriminator reads labels, as generator::latent_search needs where none else is named",
            ),
            field("history", "a map of arrays", "what was noted while it was trained here, by name; `step` says when"),
            field(
                "classifier",
                "a Model or ()",
                "the classifier that learned beside it, of generator::finetune with `online`",
            ),
            field(
                "kept_by",
                "an array of strings",
                "hashes of the classifiers that it was taught to be read by, of generator::finetune with `keep`",
            ),
            field("cautions", "an array of strings", "what was noticed of the images of a program"),
        ],
        elements: "",
    },
    Type {
        name: "GeneratedTests",
        purpose: "Images that a generator drew and a classifier got wrong.",
        fields: &[
            field("images", "a Dataset", "the tests, with the labels that they were drawn as"),
            field("predictions", "an array of ints", "what the classifier answers to each"),
            field("target", "an int, or ()", "what it was to answer"),
            field("labels", "an array of ints", "what images were drawn as"),
            field("tests", "an array of ints", "how many tests each label gave"),
            field("draws", "an array of ints", "how many images of each label were drawn for them"),
            field(
                "share",
                "a float",
                "the share of images that is misread, of generator::latent_search that of starts which became tests, each label counting alike; of draws that ended with the last test that was wanted, (tests - 1) / (draws - 1)",
            ),
            field(
                "share_lo",
                "a float",
                "lower end of its interval at 95%, made of the labels' own: exact ones where draws ended with the last test that was wanted, else Wilson's",
            ),
            field("share_hi", "a float", "upper end"),
            field(
                "kept",
                "an array, or ()",
                "of each test whether most of the oracle read it as it was drawn; () of one that people did not judge",
            ),
            field("kept_share", "a float, or ()", "the share of tests that keep their label in its eyes"),
            field("kept_lo", "a float, or ()", "lower end of its Wilson interval at 95%"),
            field("kept_hi", "a float, or ()", "upper end"),
            field("judged_by", "a string, or ()", "who the oracle is; () where nobody was asked"),
            field("missing", "an array of ints", "labels that gave no test"),
            field("answers", "a tensor", "how often each label (row) was drawn and answered with each class (column)"),
            field("seconds_per_test", "a float", "time taken, by tests"),
            field("cautions", "an array of strings", "what was noticed of the classifier"),
        ],
        elements: "",
    },
    Type {
        name: "PerturbedTests",
        purpose: "Images that a classifier gets wrong because a generator's activations were changed while it drew them.",
        fields: &[
            field("images", "a Dataset, or ()", "the tests, with the labels that they were drawn as"),
            field("originals", "a Dataset, or ()", "what each was before anything was changed"),
            field("targets", "an array of ints, or of ()", "what the classifier was to answer to each"),
            field("predictions", "an array of ints", "what it answers"),
            field(
                "magnitudes",
                "an array of floats",
                "how long each perturbation is, in standard deviations of activations",
            ),
            field("steps", "an array of ints", "how many steps each took"),
            field("share", "a float", "tests by seeds that were changed"),
            field("share_lo", "a float", "lower end of its Wilson interval at 95%"),
            field("share_hi", "a float", "upper end"),
            field(
                "kept",
                "an array, or ()",
                "of each test whether most of the oracle read it as it was drawn; () of one that people did not judge",
            ),
            field("kept_share", "a float, or ()", "the share of tests that keep their label in its eyes"),
            field("kept_lo", "a float, or ()", "lower end of its Wilson interval at 95%"),
            field("kept_hi", "a float, or ()", "upper end"),
            field("judged_by", "a string, or ()", "who the oracle is; () where nobody was asked"),
            field("drawn", "an int", "seeds that were drawn"),
            field("misread", "an int", "seeds that the classifier got wrong as they stood, and that were left out"),
            field(
                "rejected",
                "an int",
                "seeds that the oracle did not take for what they were drawn as, and that were left out",
            ),
            field("seeds", "a Dataset", "seeds that were changed"),
            field(
                "places",
                "an array of ints",
                "where each seed stands in the sequence that is drawn, the same for all classifiers and layers",
            ),
            field("transcript", "a Transcript", "one row for each of them"),
            field("cautions", "an array of strings", "what must be known to read the numbers rightly"),
        ],
        elements: "",
    },
    Type {
        name: "Transcript",
        purpose: "The outcomes of an examination: a table with one row per image, and per target, level and step where there are several.",
        fields: &[
            field("space", "a string", "what was changed"),
            field("search", "a string", "how a failing change was looked for"),
            field("objective", "a string", "what counted as failing"),
            field("examined", "an int", "how many rows the examination gave, of which a filtered transcript is a part"),
            field(
                "members",
                "an array of maps, or ()",
                "of search::worst what each search tried, made fail and left, with its name",
            ),
            field(
                "cautions",
                "an array of strings",
                "why it may not mean what it seems to; empty where nothing was noticed",
            ),
        ],
        elements: "a map: one row; a negative index counts from the end",
    },
    Type {
        name: "RiskReport",
        purpose: "A model's error beside its estimate from adversarial examples, and the test whether the model has seen \
                  the images.",
        fields: &[
            field("m", "an int", "the number of images"),
            field(
                "clusters",
                "an int, or ()",
                "how many clusters they lie in, which tests and intervals count; () where images count each by itself",
            ),
            field(
                "compared",
                "a string",
                "what the T_i compare with the loss of an image: \"adversarial errors\", or the mean of \"errors around\" or \"doubts around\" it",
            ),
            field("error", "a float", "the share of images that are misclassified: R_S, but where doubts are compared"),
            field(
                "error_lo",
                "a float, or ()",
                "the lower end of the interval around R_S that holds with probability 97.5%, so that both risks' do with 95%; () where doubts are compared",
            ),
            field("error_hi", "a float, or ()", "its upper end"),
            field(
                "weighted_error",
                "a float, or ()",
                "R_g, the error on adversarial examples, weighed by their density; of search::average the mean error of all changes; () where doubts \
                 are compared",
            ),
            field("weighted_error_lo", "a float, or ()", "the lower end of the interval around R_g, as that of R_S"),
            field("weighted_error_hi", "a float, or ()", "its upper end"),
            field(
                "adversarial_error",
                "a float, or ()",
                "R_S', the error on adversarial examples; of search::average the mean error of all changes; () where doubts are compared",
            ),
            field("doubt", "a float, or ()", "of search::average_doubt R_S, the mean doubt of the images; else ()"),
            field(
                "weighted_doubt",
                "a float, or ()",
                "of search::average_doubt R_g, the mean doubt of all changes; else ()",
            ),
            field(
                "difference",
                "a float",
                "T = R_g - R_S, the mean of the T_i; near 0 if the model is independent of the images",
            ),
            field(
                "sigma",
                "a float",
                "the biased standard deviation of the T_i, or where images lie in clusters of their means there",
            ),
            field("lo", "a float", "the least value that a T_i can take"),
            field("hi", "a float", "the largest value that a T_i can take"),
            field("test", "a string", "the test that counts: \"betting\", \"pairwise\" or \"interval\""),
            field("p", "a float", "the p-value of the test that counts"),
            field(
                "reject",
                "a bool",
                "whether the test that counts rejects: the model and these images are not independent, or the changes do not keep label and \
                 density",
            ),
            field("verdict", "a string", "the outcome of the test that counts in words, beginning with the cautions"),
            field("delta", "a float", "the level of the tests"),
            field(
                "power",
                "a map",
                "what the test that counts could have seen: `gap` (the least R_g - R_S noticed with 80% power at this size, by a normal approximation), \
                 `simulated` (the share of simulated samples with it that the betting test rejects; () for other tests), `largest_gap` (that there could have been) and `needed` (maps `gap, images` for gaps of 0.001, 0.005 and 0.02); `()` where \
                 images like these do not tell",
            ),
            field(
                "cautions",
                "an array of strings",
                "why a rejection, or none, may mean something else; empty where nothing was noticed",
            ),
            field(
                "betting",
                "a map",
                "`risk::betting_test` on the T_i in the order of `seed`, the run's own: `counts` (whether it is the test that counts), \
                 `reject, p, log_wealth, used` (the test could have stopped after so many images)`, sides, power, verdict`, and \
                 `other_orders_rejecting`, the share of 20 other orders that reject, which is a diagnostic of luck and no p-value",
            ),
            field(
                "pairwise",
                "a map",
                "the paper's test of Eq. 6 and 7: `counts, p, reject, bound` (what |T| must exceed)`, power, verdict`",
            ),
            field(
                "interval",
                "a map",
                "the paper's test of Section 3.1, which compares two intervals: `counts, p, reject, bound, power, verdict`",
            ),
            field("scored", "an int", "points scored by the search"),
            field(
                "precision",
                "a string",
                "the numbers in which images were scored first: \"float32\" or \"bfloat16\"",
            ),
            field(
                "guarded",
                "a map, or ()",
                "of all searches of the call, what was scored in bfloat16: `scored` (points), `again` (how many of them in float32 as well, as the \
                 outcome could hang on them), `checked` (of the others, in float32 as a check), `beyond` (of these two, off by more than the margin), `margin`, \
                 `largest` (the largest difference seen)",
            ),
            field("assumption", "a string", "what must hold for the changes to keep label and density"),
            field(
                "registered",
                "a map, or ()",
                "with the option `registered`: `file`, `sha256` and the date `registered` of the registration, how many `tests` it holds, of \
                 several the p-value corrected for them (`adjusted_p`, at most), and `scored_before`, where the run that registered had asked the \
                 model about the images earlier",
            ),
            field(
                "calibrated",
                "a RiskCalibration, or ()",
                "with the option `calibrated`: what is known of the changes",
            ),
            field("methods", "a string", "the paragraph for a paper's section on methods"),
            field("bibtex", "a string", "entries of what the test rests on, viva's own among them"),
            field("t", "an array of floats", "the T_i, one per image"),
            field("transcript", "a Transcript", "the outcomes that it was computed from"),
        ],
        elements: "",
    },
    Type {
        name: "NModelTest",
        purpose: "The tests on the mean over several models of their T_ij: whether architecture and training were tuned on the \
                  images.",
        fields: &[
            field("n", "an int", "the number of models"),
            field("m", "an int", "the number of images"),
            field("errors", "an array of floats", "R_S of each model"),
            field("p_values", "an array of floats", "the p-value of each model alone, by the test that counts"),
            field(
                "adjusted_p_values",
                "an array of floats",
                "these, corrected for the number of models (`risk::holm`)",
            ),
            field("difference", "a float", "the mean of the T_i; near 0 if the models are independent of the images"),
            field(
                "sigma",
                "a float",
                "the biased standard deviation of the T_i, or where images lie in clusters of their means there",
            ),
            field("lo", "a float", "the least value that a T_i can take"),
            field("hi", "a float", "the largest value that a T_i can take"),
            field("test", "a string", "the test that counts: \"betting\", \"pairwise\" or \"interval\""),
            field("p", "a float", "the p-value of the test that counts"),
            field("reject", "a bool", "whether the test that counts rejects"),
            field("verdict", "a string", "the outcome of the test that counts in words, beginning with the cautions"),
            field("delta", "a float", "the level of the tests"),
            field("power", "a map", "what the test that counts could have seen, as a RiskReport's"),
            field("cautions", "an array of strings", "those of all reports, and whether a model counts twice"),
            field("betting", "a map", "the betting test, as a RiskReport's"),
            field("pairwise", "a map", "the pairwise test, as a RiskReport's"),
            field("interval", "a map", "the interval test on the means over models of both losses"),
            field("t", "an array of floats", "the mean over models of T_ij, one per image"),
        ],
        elements: "",
    },
    Type {
        name: "RiskCalibration",
        purpose: "Whether changes keep label and density: the bias of T on images that a model can't have seen.",
        fields: &[
            field("m", "an int", "the number of images"),
            field("bias", "a float", "the mean of the T_i, 0 in the long run if the changes keep label and density"),
            field("lo", "a float", "lower end of its interval at 1 - `delta`"),
            field("hi", "a float", "upper end"),
            field("delta", "a float", "the level"),
            field("equivalence_margin", "a float", "what a bias may be, in size, that does not matter"),
            field("kept", "a string", "\"yes\", \"no\" or \"can't tell\""),
            field("verdict", "a string", "the answer in words, beginning with the cautions"),
            field(
                "needed",
                "an int, or ()",
                "where it can't tell: about how many images would, if the bias is what was found",
            ),
            field(
                "by_class",
                "an array of maps",
                "`class, images, bias, lo, hi`, all intervals together at the level; empty of one class or more than 50",
            ),
            field("space", "a string", "which changes"),
            field("search", "a string", "how the adversarial example is chosen"),
            field("cautions", "an array of strings", "why it may not mean what it seems to"),
        ],
        elements: "",
    },
    Type {
        name: "RiskPlan",
        purpose: "How many images the tests for overfitting need to notice a gap between the two estimates of the error.",
        fields: &[
            field("gap", "a float", "R_g - R_S that is to be noticed"),
            field("test", "a string", "the test that is spoken of first"),
            field("delta", "a float", "the level of the tests"),
            field("sides", "an int", "of the betting test"),
            field(
                "unit",
                "a string",
                "what tests see once each and sizes are numbers of: \"images\", or \"clusters\" of these",
            ),
            field(
                "pilot_size",
                "an int, or ()",
                "how many images or clusters the pilot was; () where risks were assumed",
            ),
            field(
                "noticed",
                "a map",
                "by test the gap that it notices among the pilot's images with 80% power; () where such images can't tell",
            ),
            field("verdict", "a string", "how many images it takes in words, beginning with the cautions"),
            field("planted", "a string", "how the gap came into the samples"),
            field("cautions", "an array of strings", "why the numbers may be far off; those of the pilot as well"),
            field(
                "table",
                "an array of maps",
                "by `test` and `power`: `images` needed, `lo` and `hi` (95%, with what the pilot leaves open; () where that is open), \
                 `simulated_lo` and `simulated_hi` (of the simulation alone; () where it is none) and the normal `approximation`",
            ),
            field(
                "curve",
                "an array of maps",
                "the share of samples rejected, by `test` and `images`: `power` with its 95% interval from `lo` to `hi`",
            ),
        ],
        elements: "",
    },
    Type {
        name: "Counterfactuals",
        purpose: "The least changes that turn right views wrong.",
        fields: &[
            field(
                "rows",
                "an array of maps",
                "one for each object that has a change: `id`, its row in the data, the `factors` that change, `from` and `to`, their values, `distance` (shares of \
                 ranges, and 1 for each choice), whether all smaller sets of factors were tried (`exact`), how many sets `as_few` turn it wrong as well, and \
                 how often the answer `turns` along the path",
            ),
            field(
                "sets",
                "an array of maps",
                "`factors`, and of how many `objects` they are the least change, the most first",
            ),
            field("alone", "a map", "by factor the objects that one of its values in wrong views turned wrong alone"),
            field("sentence", "a string", "what there is to say"),
            field("found", "an int", "objects that have a change"),
            field("never_wrong", "an int", "objects that were right at every setting drawn"),
            field("never_right", "an int", "objects that were wrong at every setting drawn"),
            field("unsteady", "an int", "objects that were answered otherwise when they were asked again"),
            field("random_questions", "an int", "settings drawn for each object"),
            field("loss", "a string", "what the losses of paths are"),
            field("cautions", "an array of strings", "why it may not mean what it seems to"),
        ],
        elements: "",
    },
    Type {
        name: "LevelSet",
        purpose: "How much of a space fails, and where the boundary runs in two factors.",
        fields: &[
            field("volume", "a float", "the share of settings at which an object fails, on average over objects"),
            field("volume_lo", "a float", "lower end of its 95% interval"),
            field("volume_hi", "a float", "upper end"),
            field("questions", "an int", "drawn at random: what all shares are of"),
            field("objects", "an int", "objects examined"),
            field("chosen", "an int", "questions that the search chose, which are left out"),
            field("factors", "an array of strings", "the factor of the rows, and that of the columns"),
            field("row_names", "an array of strings", "the parts of the first factor"),
            field("column_names", "an array of strings", "the parts of the second"),
            field(
                "wrong",
                "an array of arrays of floats",
                "by part the share of wrong answers; not a number where nothing was asked",
            ),
            field("wrong_lo", "an array of arrays of floats", "lower ends of 95% intervals"),
            field("wrong_hi", "an array of arrays of floats", "upper ends"),
            field(
                "side",
                "an array of arrays of floats",
                "1 above the boundary, 0 below, not a number where it can't be told",
            ),
            field("boundary", "a float", "the share of wrong answers at which it runs"),
            field("cautions", "an array of strings", "why it may not mean what it seems to"),
        ],
        elements: "",
    },
    Type {
        name: "Boundary",
        purpose: "Where right and wrong part in two factors, and where that is not known.",
        fields: &[
            field("factors", "an array of strings", "the factor of the rows, and that of the columns"),
            field("rows", "an array of floats", "values of the first factor, evenly over its range"),
            field("columns", "an array of floats", "values of the second"),
            field("wrong", "an array of arrays of floats", "at every place the share of wrong answers"),
            field("wrong_lo", "an array of arrays of floats", "lower ends of 95% intervals"),
            field("wrong_hi", "an array of arrays of floats", "upper ends"),
            field(
                "side",
                "an array of arrays of floats",
                "1 above the boundary, 0 below, not a number where it can't be told",
            ),
            field("told", "a float", "the share of the plane whose side is told"),
            field("lines", "an array of arrays", "where `wrong` crosses the boundary: pairs of values, line by line"),
            field("questions", "an int", "questions that count"),
            field("left_out", "an int", "questions that do not: chosen ones where other factors vary"),
            field("objects", "an int", "objects examined"),
            field("boundary", "a float", "the share of wrong answers at which it runs"),
            field("cautions", "an array of strings", "why it may not mean what it seems to"),
        ],
        elements: "",
    },
    Type {
        name: "Sensitivity",
        purpose: "How much of the variance of the loss each factor accounts for.",
        fields: &[
            field("factors", "an array of strings", "the factors, whose order the other arrays have"),
            field("first", "an array of floats", "first-order indices: what a factor accounts for alone"),
            field("first_lo", "an array of floats", "lower ends of 95% intervals"),
            field("first_hi", "an array of floats", "upper ends"),
            field("total", "an array of floats", "total indices: with all that a factor takes part in"),
            field("total_lo", "an array of floats", "lower ends of 95% intervals"),
            field("total_hi", "an array of floats", "upper ends"),
            field(
                "unmoved",
                "an array of strings",
                "factors that changed no loss, in as many turns as there are base points",
            ),
            field("variance", "a float", "of the loss over uniform settings, within objects, on average"),
            field("loss", "a string", "what the losses are"),
            field("base_points", "an int", "settings whose factors were turned one at a time, over all objects"),
            field("objects", "an int", "objects examined"),
            field(
                "sentences",
                "an array of strings",
                "one for each factor, the one with the largest total index first",
            ),
            field("cautions", "an array of strings", "why it may not mean what it seems to"),
        ],
        elements: "",
    },
    Type {
        name: "Weaknesses",
        purpose: "Where failures gather in a space of factors, in rules that fresh questions confirmed.",
        fields: &[
            field(
                "named",
                "an array of maps",
                "what was confirmed: `rule` in words, `conditions` by factor (the ends of a range, or choices), `wrong, wrong_lo, wrong_hi` of the fresh \
                 `questions` that it holds for, `otherwise`, the share that is wrong where it does not hold, `beyond, beyond_lo, beyond_hi`, that of the `beyond_of` questions that it \
                 holds for and no rule found before it does, which `p` is about, `settings`, the share of all settings, and `failing` of the `objects` that were \
                 asked there",
            ),
            field(
                "looked_at",
                "an array of maps",
                "all rules that were asked again, the same of each, and whether it is `named`",
            ),
            field("sentences", "an array of strings", "one for each that is named"),
            field("elsewhere", "a float", "the share of fresh questions that failed where no rule holds"),
            field("elsewhere_lo", "a float", "lower end of its interval at 95%, over objects"),
            field("elsewhere_hi", "a float", "upper end"),
            field("questions", "an array of two ints", "how many rules were found on, and how many confirmed them"),
            field("objects", "an int", "how many objects were examined"),
            field(
                "cautions",
                "an array of strings",
                "why it may not mean what it seems to; empty where nothing was noticed",
            ),
        ],
        elements: "",
    },
    Type {
        name: "ExaminerCurve",
        purpose: "What an examiner found, question by question, as means over objects with intervals at 95%.",
        fields: &[
            field("steps", "an array of ints", "questions asked to every object so far: 1, 2, .."),
            field("worst", "an array of floats", "the mean over objects of the largest loss so far"),
            field("worst_lo", "an array of floats", "lower ends of its Student intervals; NaN of one object"),
            field("worst_hi", "an array of floats", "upper ends"),
            field(
                "last",
                "an array of floats",
                "the mean loss of the last question that the search chose, where it chose any, and else of the last one",
            ),
            field("last_lo", "an array of floats", "lower ends"),
            field("last_hi", "an array of floats", "upper ends"),
            field("mean", "an array of floats", "the mean loss of all questions so far"),
            field("mean_lo", "an array of floats", "lower ends"),
            field("mean_hi", "an array of floats", "upper ends"),
            field("accuracy", "an array of floats", "the share of objects that no question so far made fail"),
            field("accuracy_lo", "an array of floats", "lower ends of its Wilson intervals"),
            field("accuracy_hi", "an array of floats", "upper ends"),
            field(
                "accuracy_last",
                "an array of floats",
                "the share of objects that the last question did not make fail",
            ),
            field("accuracy_last_lo", "an array of floats", "lower ends of its Wilson intervals"),
            field("accuracy_last_hi", "an array of floats", "upper ends"),
            field(
                "accuracy_mean",
                "an array of floats",
                "the share of all questions so far that did not make their object fail",
            ),
            field(
                "accuracy_mean_lo",
                "an array of floats",
                "lower ends of its intervals over objects, by Wilson and Student",
            ),
            field("accuracy_mean_hi", "an array of floats", "upper ends"),
            field("objects", "an int", "how many objects were examined"),
            field("loss", "a string", "what the losses are"),
            field(
                "conclusion",
                "a string or ()",
                "what was not found: the share of settings that failures are excluded from at 95%; and what the worst comes to when it is asked again",
            ),
            field("never_failed", "an int", "objects that no question made fail"),
            field(
                "random_asked",
                "an int",
                "questions that were drawn at random, independently of all answers, to each of these at least",
            ),
            field(
                "excluded_mass",
                "a float",
                "the share of its settings above which failures of any such object are excluded at 95%, 1 - (0.05 / objects)^(1 / random_asked), as they were chosen by not failing; NaN of none, 0 where each was asked at every setting there is and answers do not change",
            ),
            field(
                "excluded_mass_mean",
                "a float",
                "that of the mean of these shares over all objects, where none failed; else NaN",
            ),
            field(
                "asked_again",
                "a float",
                "where answers are noisy, the mean loss of worst settings that were chosen and then asked again, so that it gains nothing by having been chosen; else NaN",
            ),
            field(
                "asked_again_lo",
                "a float",
                "lower end of its Student interval: over objects, or over the answers of one",
            ),
            field("asked_again_hi", "a float", "upper end"),
            field("asked_again_objects", "an int", "objects whose worst setting was asked again"),
            field(
                "cautions",
                "an array of strings",
                "why it may not mean what it seems to; empty where nothing was noticed",
            ),
        ],
        elements: "",
    },
    Type {
        name: "Certificate",
        purpose: "Radii within which no change moves the answers of a smoothed classifier, which is not the model itself.",
        fields: &[
            field("classifier", "a string", "what it is of: which model, smoothed by which noise"),
            field("rows", "an int", "how many rows it has: one per image, or per row of a transcript"),
            field("images", "an int", "how many images of the data these are of"),
            field("accuracy", "a float", "the share of rows that the smoothed classifier certainly gets right"),
            field("accuracy_lo", "a float", "lower end of its Wilson interval at 95%"),
            field("accuracy_hi", "a float", "upper end"),
            field("abstained", "an int", "rows on which no class is certain, which count as not right"),
            field("mean_radius", "a float", "the mean radius over all rows, 0 where the answer is wrong or none"),
            field("largest_radius", "a float", "the largest radius that so many samples can show"),
            field("radii", "an array of floats, or of ()", "the l2 radius of each row, whatever its label"),
            field("sigma", "a float", "the standard deviation of the noise"),
            field("select", "an int", "noisy copies that chose each class"),
            field("samples", "an int", "noisy copies that its share was estimated on"),
            field("delta", "a float", "the probability that a radius is too large"),
            field("joint", "a bool", "whether `delta` is the probability for any row, and not for each"),
            field("moved_by", "a string or ()", "the search that left these images, of a transcript's"),
            field("statement", "a string", "what holds, of which classifier, and how surely"),
            field(
                "cautions",
                "an array of strings",
                "why it may not mean what it seems to; empty where nothing was noticed",
            ),
        ],
        elements: "a map: `id`, `label`, `class` (() where it abstains), `right`, `p` (the lower end of the class's share of the noise), `radius` \
                   (() where it abstains), `won` (copies of `samples`) and `moved` (the l2 distance from the image that the data hold); a \
                   negative index counts from the end",
    },
    Type {
        name: "Task",
        purpose: "What people are asked of images, who is asked what, and by which rules answers count.",
        fields: &[
            field("kind", "a string", "the kind of question, such as \"label\""),
            field("question", "a string", "what is asked"),
            field("answers", "an array of strings", "what judgements say"),
            field("items", "an int", "images that are asked about"),
            field("known", "an int", "questions whose answer is known, of which each worker is asked some"),
            field("workers", "an int", "how many are needed"),
            field("questions", "an int", "of all workers together"),
            field("overlap", "an int", "workers who judge each item"),
            field("per_worker", "an int", "items that a worker judges, at most"),
            field("rules", "a map", "which workers do not count: the limits, by rule"),
            field("seed", "an int", "what its random numbers follow from"),
            field("folder", "a string", "where it is kept"),
            field("digest", "a string", "sixteen digits that answers must carry"),
            field(
                "cautions",
                "an array of strings",
                "why answers may not mean what they seem to; empty where nothing was noticed",
            ),
        ],
        elements: "",
    },
    Type {
        name: "Answers",
        purpose: "What people answered to a task: all of it, and what is left where its rules are kept.",
        fields: &[
            field("task", "a Task", "what they were asked"),
            field("judgements", "Judgements, or ()", "of the workers who fell to no rule; () where nobody is left"),
            field("raw", "Judgements", "of everybody"),
            field("workers", "an int", "how many answered"),
            field("kept_workers", "an int", "how many of them count"),
            field("rejected", "an int", "how many fell to a rule"),
            field("rules", "a map", "how many fell to each; one may fall to several"),
            field(
                "conduct",
                "an array of maps",
                "of each worker: `worker, counts, fell_to, judgements, instructed` and `gold` (shares that were right, or ())`, unanswered, seconds` (the median)`, left` (questions not reached)",
            ),
            field("repeated", "an int", "answers to a question that the worker had answered; they do not count"),
            field("undone", "an int", "answers that a worker took back"),
            field("unfinished", "an int", "workers who stopped before the end"),
            field(
                "cautions",
                "an array of strings",
                "why they may not mean what they seem to; empty where nothing was noticed",
            ),
        ],
        elements: "",
    },
    Type {
        name: "Judgements",
        purpose: "What people said of items, each worker of each item once.",
        fields: &[
            field("judgements", "an int", "how many there are, unanswered questions included"),
            field("workers", "an int", "how many people they are of"),
            field("items", "an int", "how many items they are of"),
            field("answers", "an array of strings", "the answers that could be given"),
            field("unanswered", "an int", "questions that were shown and left unanswered"),
            field("repeated", "an int", "judgements by a worker of an item that was judged already; they do not count"),
            field("columns", "an array of strings", "what items can be grouped by"),
            field(
                "cautions",
                "an array of strings",
                "why they may not mean what they seem to; empty where nothing was noticed",
            ),
        ],
        elements: "",
    },
    Type {
        name: "FrechetDistance",
        purpose: "How far images are from real ones in a classifier's features, and how much of it chance makes.",
        fields: &[
            field("fid", "a float", "the distance, 0 or more; 0 for the same images"),
            field(
                "chance",
                "a float",
                "what as many images of one kind would be apart; NaN of fewer than four real ones",
            ),
            field("images", "an int", "how many images it is of"),
            field("real", "an int", "of how many real ones"),
            field("features", "an int", "how many features the classifier's last layer takes"),
            field(
                "cautions",
                "an array of strings",
                "why it may not mean what it seems to; empty where nothing was noticed",
            ),
        ],
        elements: "",
    },
    Type {
        name: "Calibration",
        purpose: "Whether a model is right as often as it says, where a search left its images.",
        fields: &CALIBRATION,
        elements: "",
    },
    Type {
        name: "Audit",
        purpose: "What an attack left right, and whether that says anything of the model.",
        fields: &[
            field(
                "verdict",
                "a string",
                "that of the check that speaks most against the attack: \"holds\", \"doubtful\" or \"fails\"",
            ),
            field("accuracy", "a float", "the share of all images that the attack left right, an upper bound"),
            field(
                "least",
                "a float",
                "the share that is right after all that was tried in the same ball, an upper bound too",
            ),
            field("standing", "a float", "the share that is right as it stands"),
            field("images", "an int", "how many images were shown"),
            field(
                "checks",
                "an array of maps",
                "`check, verdict, tried, against, accuracy, says` of every check; `accuracy` is () where nothing was attacked",
            ),
            field(
                "cautions",
                "an array of strings",
                "why it may not mean what it seems to; empty where nothing was noticed",
            ),
        ],
        elements: "",
    },
    Type {
        name: "ToleranceDifference",
        purpose: "By how much one model's tolerance curve lies above another's, on the same images.",
        fields: &[
            field("levels", "an array of floats", "levels or steps that both curves have"),
            field("mi", "an array of floats", "the difference of I(T; Y) at each, in bits"),
            field("mi_lo", "an array of floats", "lower ends of its intervals"),
            field("mi_hi", "an array of floats", "upper ends"),
            field("accuracy", "an array of floats", "the difference of accuracy at each"),
            field("accuracy_lo", "an array of floats", "lower ends of its intervals"),
            field("accuracy_hi", "an array of floats", "upper ends"),
            field("area", "a float", "the mean of `mi` over the axis, in bits"),
            field(
                "area_lo",
                "a float, or () without replicates and where no sample differs",
                "lower end of its interval",
            ),
            field("area_hi", "a float, or () without replicates and where no sample differs", "upper end"),
            field("accuracy_area", "a float", "the mean of `accuracy` over the axis"),
            field("accuracy_area_lo", "a float, or () without replicates", "lower end of its interval"),
            field("accuracy_area_hi", "a float, or () without replicates", "upper end"),
            field("unit", "a string", "what the levels are"),
            field("images", "an int", "how many images both curves are of"),
            field(
                "cautions",
                "an array of strings",
                "why it may not mean what it seems to; empty where nothing was noticed",
            ),
        ],
        elements: "",
    },
    Type {
        name: "ToleranceCurve",
        purpose: "What a model's predictions tell of the labels, and how often they are right, as a fault grows.",
        fields: &[
            field("levels", "an array of floats", "the strengths, or the steps, the weakest first"),
            field(
                "snr_db",
                "an array of floats",
                "the mean signal-to-noise ratio in dB of the changes that are not 0, each 20 log10(1 + |x| / |dx|), which is never below 0 (info::snr)",
            ),
            field("mi", "an array of floats", "I(T; Y) of predictions and labels in bits, as `information` says"),
            field("mi_lo", "an array of floats", "lower ends of its intervals"),
            field("mi_hi", "an array of floats", "upper ends"),
            field("accuracy", "an array of floats", "the share of rows that get their own label"),
            field("accuracy_lo", "an array of floats", "lower ends of its bootstrap intervals"),
            field("accuracy_hi", "an array of floats", "upper ends"),
            field(
                "margin",
                "an array of floats",
                "the mean of the highest softmax probability minus the second highest; NaN at a level 0 that was not asked for, where it was not measured",
            ),
            field("margin_lo", "an array of floats", "lower ends of its bootstrap intervals"),
            field("margin_hi", "an array of floats", "upper ends"),
            field("entropy", "an array of floats", "H(T) of the predictions in bits"),
            field("magnitude", "an array of floats", "the mean size of the changes in the space's unit"),
            field(
                "stuck",
                "an array of floats",
                "the share of rows that the search could not move on, since their gradient vanished or it found nothing to begin at",
            ),
            field("bound", "a float", "H(Y) of the labels in bits, which `mi` can't exceed"),
            field("axis", "a string", "whether `levels` are levels or steps"),
            field("unit", "a string", "what `levels` are, with their unit"),
            field("images", "an int", "how many images were examined"),
            field(
                "classes",
                "an array of ints",
                "the labels and predictions that occur, in the order of tolerance::given_prediction",
            ),
            field("information", "a string", "how `mi`, `entropy` and `bound` were estimated"),
            field(
                "cautions",
                "an array of strings",
                "why it may not mean what it seems to; empty where nothing was noticed",
            ),
        ],
        elements: "",
    },
    Type {
        name: "Figure",
        purpose: "A picture of outcomes with every number that it shows. Saved as `.svg`, `.png`, `.pdf` or `.json`.",
        fields: &[
            field("title", "a string", "what stands above it"),
            field("width", "an int", "its width in pixels"),
            field("height", "an int", "its height in pixels"),
            field("panels", "an int", "how many panels it has"),
            field(
                "cautions",
                "an array of strings",
                "why it may not mean what it seems to; empty where nothing was noticed",
            ),
        ],
        elements: "",
    },
    Type {
        name: "Animation",
        purpose: "Figures one after another. Saved as `.gif` or `.json`.",
        fields: &[
            field("frames", "an int", "how many figures it has"),
            field("seconds", "a float", "how long each is shown"),
            field("width", "an int", "its width in pixels"),
            field("height", "an int", "its height in pixels"),
            field("cautions", "an array of strings", "those of its frames, each once"),
        ],
        elements: "a Figure: one frame; a negative index counts from the end",
    },
    Type {
        name: "tensor",
        purpose: "Numbers in bulk. Arithmetic with tensors and numbers is elementwise, and no method changes its tensor. A \
                  comparison gives a mask, which `&`, `|` and `!` combine and which counts as 0 and 1 in arithmetic.",
        fields: &[],
        elements: "a number or, of a tensor with several dimensions, a row; a negative index counts from the end",
    },
    Type {
        name: "Layer",
        purpose: "One layer of a network written down, from `net::`, or several. What it prints can be pasted back.",
        fields: &[],
        elements: "",
    },
    Type {
        name: "Space",
        purpose: "What may change in an input, from `space::`. `a * b` composes two finite spaces: first a point of b, then one of a.",
        fields: &[field("cautions", "an array of strings", "what must be known of what it changes")],
        elements: "",
    },
    Type { name: "Search", purpose: "How a failing change is looked for, from `search::`.", fields: &[], elements: "" },
    Type { name: "Objective", purpose: "What counts as failing, from `objective::`.", fields: &[], elements: "" },
];

/// The keys of the maps that a primitive gives to its closure, where it always gives the same.
pub fn given_to(path: &str) -> Option<&'static [&'static str]> {
    match path {
        "Transcript.filter" => Some(&crate::search::COLUMNS),
        "Dataset.relabel" => Some(&["index", "label"]),
        _ => None,
    }
}

/// The type of this name, in any case.
pub fn find(name: &str) -> Option<&'static Type> {
    TYPES.iter().find(|kind| kind.name.eq_ignore_ascii_case(name))
}
