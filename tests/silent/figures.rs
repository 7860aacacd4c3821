//! Figures and tables that showed less than they were given.

use super::inputs::Outcome;
use super::{refused, run_in, truths};

/// A search for the least change has a place in dB for those alone that it made fail.
#[test]
fn a_curve_in_db_says_how_many_images_are_not_changed() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, position: "centred", margin: 0, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 30, lr: 0.01, seed: 1 });
        let of = |search| tolerance::measure(f, ds, #{ space: space::pixels("l2", #{ bounds: [0, 1] }), search: search, levels: [0.3, 0.6] });
        let curves = #{ least: of.call(search::fmn()), worst: of.call(search::bim(#{ steps: 10, step: 0.2 })) };
        let told = |figure| figure.cautions.filter(|it| it.contains("stands where the images are that a search changed"));
        let said = told.call(plot::tolerance(curves));
        #{
            least: said.len() == 1 && said[0].contains("% of those of least were not changed"),
            levels: told.call(plot::tolerance(curves, #{ axis: "level" })) == [],
        }"#,
    );
}

#[test]
fn a_figure_says_itself_what_its_axes_have_no_place_for() {
    truths(
        r#"let log = plot::line([1, 2, 3], [0.1, 0, 0.2], #{ log_y: true });
        let later = plot::line([0, 1, 2], [1, 2, 3]).log_x();
        let both = plot::grid([log, plot::line([1, 2], [1, 2])]);
        let lines = plot::line([1, 2, 3], [0.1, 0.5, 0.2], #{ y_max: 1, rules: [#{ y: 5, label: "chance" }, #{ y: 0.5 }, #{ x: 9 }] });
        let beyond = plot::line([1, 2, 3], [0.1, 5, 0.2], #{ y_max: 1 });
        let sunk = plot::line([1, 2], [0.1, 0.2], #{ log_y: true, lo: [0, 0.1], hi: [0.2, 0.3] });
        #{
            beyond: beyond.cautions == ["1 point lies beyond the axes"],
            sunk: sunk.cautions == ["1 interval reaches to 0 or below, where a log axis ends before it"],
            left: plot::histogram([1, 2, 9], #{ x_max: 3 }).cautions == ["1 value lies outside the bins and is left out"],
            map: plot::heatmap([[0, 1], [2, 9]], #{ max: 3 }).cautions == ["1 cell lies beyond the colours and has the nearest one"],
            clipped: plot::images(tensor::from([[[[0, 2], [1, -3]]]])).cautions == ["2 of 4 values lie outside [0, 1] and are clipped"],
            some: plot::images(data::glyphs(#{ n: 70, size: 16, seed: 1 })).cautions == ["the first 64 of 70 images"],
            log: log.cautions == ["1 point is not positive and has no place on a log axis"],
            later: later.cautions.len() == 1,
            both: both.cautions == log.cautions,
            one_of_two: plot::grid([plot::line([0, 0.0 / 0], [1, 2], #{ title: "first" }), plot::line([1, 2], [1, 2], #{ title: "second" })]).cautions
                == ["first: 1 point is not a finite number and is not drawn"],
            nested: {
                let bare = |said| plot::line([1, 2], [1, 2]).caution(said);
                let odd = |said| plot::line([1, 2], [1, 2], #{ title: "odd" }).caution(said);
                [
                    plot::grid([plot::grid([bare.call("c"), plot::line([1, 2], [1, 2])]), plot::grid([bare.call("c"), plot::line([1, 2], [1, 2])])]).cautions,
                    plot::grid([plot::line([1, 2], [1, 2]), plot::grid([bare.call("c"), odd.call("d")])]).cautions,
                    plot::grid([bare.call("c"), bare.call("c")]).cautions,
                ] == [["panel 1: c", "panel 3: c"], ["panels 2 to 3: odd: d", "panel 2: c"], ["c"]]
            },
            lines: lines.cautions == ["the line \"chance\" at y = 5.0 lies beyond the axis"],
        }"#,
    );
    truths(
        r#"let bars = plot::bar(["a", "b"], [1, 1.0 / 0.0], #{ lo: [0.5, 1], hi: [1.0 / 0.0, 2] });
        #{ bars: bars.cautions == ["1 bar is infinite: where it ends is the end of the axis", "1 interval has an end at infinity, which is drawn at the end of the axis"] }"#,
    );
    truths(
        r#"let bars = plot::bar(["a", "b"], [5, 0.5], #{ y_max: 1, lo: [4, 0.4], hi: [6, 0.6] });
        let line = plot::line([1, 2], [0.5, 0.5], #{ y_min: 0, y_max: 1, lo: [-3, 0.4], hi: [7, 0.6] });
        let moving = plot::animation([line.size(300, 200), bars.size(300, 200)]);
        #{
            bars: bars.cautions == ["1 bar ends beyond the axis", "1 interval reaches beyond the axes"],
            line: line.cautions == ["1 interval reaches beyond the axes"],
            huge: plot::line([1, 1e308], [-1e308, 1]).cautions == ["2 points lie beyond the axes"],
            moving: moving.cautions == ["1 interval reaches beyond the axes", "1 bar ends beyond the axis"] && `${moving}`.contains("caution: 1 interval"),
            twice: plot::histogram([#{ label: "a", values: [1, 2] }, #{ label: "a", values: [2, 3] }]).cautions.some(|said| said.contains("two series are called \"a\"")),
        }"#,
    );
    refused("plot::bar([\"a\", \"b\"], [1, 2]).log_x()", "have no logarithm");
    refused("plot::line([1, 2], [1, 2], #{ log_y: true, y_min: 0 })", "a log axis can't begin or end at 0.0");
}

#[test]
fn a_box_plot_does_not_guess_what_a_matrix_is() {
    refused("plot::box(tensor::from([[1, 2, 3], [4, 5, 6]]))", "a tensor of [2, 3] is no sample");
    refused("plot::box([[\"a\", tensor::from([[1, 2, 3], [4, 5, 6]])]])", "a tensor of [2, 3] is no sample");
    refused("plot::box([[\"a\", [1, 2]], [\"a\", [3, 4]]])", "two samples are called \"a\"");
    truths("#{ vector: plot::box(tensor::from([1, 2, 3, 4, 5])).cautions == [] }");
}

#[test]
fn a_csv_file_holds_arrays_and_maps_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let script =
        r#"[#{ a: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], m: #{ x: 0.123456789012, word: "two, \"three\"" } }].save("t.csv")"#;
    run_in(folder.path(), script).expect("written");
    let text = std::fs::read_to_string(folder.path().join("t.csv")).expect("a file");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let row = reader.records().next().expect("a row").expect("readable");
    let cell = |place: usize| -> serde_json::Value { serde_json::from_str(&row[place]).expect("JSON") };
    assert_eq!(cell(0), serde_json::json!([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
    assert_eq!(cell(1), serde_json::json!({ "x": 0.123456789012, "word": "two, \"three\"" }));
}

/// What a log axis has no place for, bars that are thinner than the gaps between them, and ends of axes beyond everything.
#[test]
fn a_histogram_shows_or_says_all_of_its_values() -> Outcome {
    let folder = tempfile::tempdir()?;
    run_in(
        folder.path(),
        r#"
        let values = [];
        for i in 0..4000 { values.push(i / 2.0); }
        save(plot::histogram(values, #{ bins: 1500 }), "narrow.svg");
        save(plot::histogram(values, #{ bins: 10 }), "wide.svg");
        "#,
    )?;
    // A white line on the edge of each wide bar; narrow ones are one shape.
    let gaps = |name: &str| -> std::io::Result<usize> {
        let text = std::fs::read_to_string(folder.path().join(name))?;
        Ok(text
            .lines()
            .filter(|line| line.contains("stroke=\"#FFFFFF\"") || line.contains("stroke=\"#ffffff\""))
            .count())
    };
    assert_eq!((gaps("narrow.svg")?, gaps("wide.svg")?), (0, 10));
    truths(
        r#"
        let values = [0.5];
        for i in 0..200 { values.push(100.0 * i / 200); }
        let logged = plot::histogram(values, #{ bins: 20 }).log_x();
        let empty = plot::line([1, 2, 3], [1, 2, 3], #{ y_min: 10 });
        #{
            bins: logged.cautions.some(|said| said.contains("1 bin begins at 0 or below and is left out of a log axis")),
            beyond: empty.cautions.some(|said| said.contains("3 points lie beyond the axes")),
        }"#,
    );
    Ok(())
}

#[test]
fn lengths_on_prepared_images_are_told_to_be_others() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 20, size: 16, position: "centred", margin: 0, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 2, seed: 1 });
        let told = |ds, space, search| examine(f, ds, #{ space: space, search: search, seed: 1 }).cautions.some(|said| said.contains("levels, radii and magnitudes are lengths of what the model is given"));
        let bim = search::bim(#{ steps: 2 });
        #{
            standardised: told.call(ds.standardise(), space::pixels("linf", #{ radius: 0.1 }), bim),
            noise: told.call(ds.centre(), space::noise(0.1), search::random(#{ questions: 2 })),
            plain: !told.call(ds, space::pixels("linf", #{ radius: 0.1 }), bim),
        }"#,
    );
}
