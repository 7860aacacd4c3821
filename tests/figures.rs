//! Figures from the outside: their data, their bytes, and what happens where there is little to draw.

use std::collections::BTreeMap;

use viva::core::{Cx, Error, Object, Result, Tensor, Value};
use viva::plot::{Axis, Figure, Layer, MARKERS, Panel, Picture, Rgb, SERIES, Series, histogram, viridis};
use viva::primitives;

fn call(cx: &Cx, path: &str, arguments: Vec<Value>) -> Result<Value> {
    primitives::find(path).unwrap_or_else(|| panic!("{path} is not in the registry")).call(cx, arguments)
}

fn figure(path: &str, arguments: Vec<Value>) -> Figure {
    let value = call(&Cx::default(), path, arguments).unwrap_or_else(|e| panic!("{path}: {e}"));
    (*value.downcast::<Figure>().expect("a figure")).clone()
}

fn refused(path: &str, arguments: Vec<Value>) -> Error {
    call(&Cx::default(), path, arguments).err().unwrap_or_else(|| panic!("{path} took what it should refuse"))
}

fn floats(values: &[f64]) -> Value {
    Value::floats(values.iter().copied())
}

fn text(text: &str) -> Value {
    Value::Str(text.into())
}

fn map<const N: usize>(pairs: [(&str, Value); N]) -> Value {
    Value::Map(pairs.into_iter().map(|(key, value)| (key.to_string(), value)).collect::<BTreeMap<_, _>>())
}

fn line(y: &[f64]) -> Figure {
    let x = (0..y.len()).map(|i| i as f64).collect();
    Figure::new(Panel { layers: vec![Layer::Series(Series::line("", x, y.to_vec()))], ..Panel::default() })
        .expect("drawable")
}

fn pixels(figure: &Figure) -> (Vec<u8>, u32, u32) {
    let png = figure.png().expect("a PNG");
    let image = image::load_from_memory(&png).expect("it decodes").to_rgb8();
    let (width, height) = image.dimensions();
    (image.into_raw(), width, height)
}

/// Points in every polyline of this colour.
fn polylines(svg: &str, colour: Rgb) -> Vec<usize> {
    let stroke = format!("stroke=\"{}\"", colour.hex());
    let lines = svg.lines().filter(|line| line.starts_with("<polyline") && line.contains(&stroke));
    lines
        .filter_map(|line| line.split("points=\"").nth(1))
        .map(|points| points.trim_end_matches("\"/>").split_whitespace().count())
        .collect()
}

/// How many shapes with corners, or circles, are filled with this colour.
fn filled(svg: &str, colour: Rgb) -> usize {
    let fill = format!("fill=\"{}\"", colour.hex());
    svg.lines()
        .filter(|line| (line.starts_with("<polygon") || line.starts_with("<circle")) && line.contains(&fill))
        .count()
}

/// How many rectangles are.
fn boxes(svg: &str, colour: Rgb) -> usize {
    let fill = format!("fill=\"{}\"", colour.hex());
    svg.lines().filter(|line| line.starts_with("<rect") && line.contains(&fill)).count()
}

/// What fills a stroke takes longer with the square of its crossings.
#[test]
fn lines_whose_points_are_in_no_order_are_drawn_in_pieces() {
    let place = |i: usize, by: f64| (i as f64 * by).fract();
    let (x, y): (Vec<f64>, Vec<f64>) = (0..9000).map(|i| (place(i, 0.618_033_9), place(i, 0.414_213_5))).unzip();
    let panel = Panel { layers: vec![Layer::Series(Series::line("", x, y))], ..Panel::default() };
    let svg = Figure::new(panel).expect("drawable").svg().expect("an SVG");
    let pieces = polylines(&svg, SERIES[0]);
    assert!(pieces.iter().all(|points| *points <= 4000), "{pieces:?}");
    // Each begins where the one before it ended.
    assert_eq!(pieces.iter().sum::<usize>() - (pieces.len() - 1), 9000, "{pieces:?}");
}

#[test]
fn data_keeps_every_digit() {
    let (x, y) = ([1.0, 0.1 + 0.2, 1e-300], [f64::NAN, 1.0 / 3.0, f64::INFINITY]);
    let json = figure("plot::line", vec![floats(&x), floats(&y), map([("label", text("a"))])]).json();
    let layer = &json["panels"][0]["layers"][0];
    assert_eq!(layer["label"], "a");
    let read: serde_json::Value = serde_json::from_str(&layer.to_string()).expect("valid JSON");
    for (i, x) in x.iter().enumerate() {
        assert_eq!(read["x"][i].as_f64().map(f64::to_bits), Some(x.to_bits()));
    }
    assert_eq!(read["y"][0], "nan");
    assert_eq!(read["y"][1].as_f64(), Some(1.0 / 3.0));
    assert_eq!(read["y"][2], "inf");
}

#[test]
fn svg_holds_labels_and_points() {
    let options = map([
        ("title", text("Risk <&> \"test\"")),
        ("x", text("images")),
        ("y", text("error")),
        ("label", text("a & b")),
    ]);
    let svg = figure("plot::line", vec![floats(&[1.0, 2.0, 3.0, 5.0]), floats(&[0.1, 0.4, 0.2, 0.3]), options])
        .svg()
        .expect("an SVG");
    for wanted in [">Risk &lt;&amp;&gt; &quot;test&quot;</text>", ">images</text>", ">error</text>", "sans-serif"] {
        assert!(svg.contains(wanted), "{wanted} in {svg}");
    }
    // No entry in a legend of one series would say more than the title, but one that is named is shown.
    assert!(svg.contains(">a &amp; b</text>"));
    let lines = polylines(&svg, SERIES[0]);
    assert!(lines.contains(&4), "{lines:?}");
    // Four markers and the one in the legend.
    assert_eq!(filled(&svg, SERIES[0]), 5);
}

#[test]
fn a_line_along_the_frame_is_drawn() {
    // Frames of many heights, so that scales round up on some and down on others.
    for height in 200..260 {
        let layers = vec![Layer::Series(Series::line("", vec![0.0, 1.0 / 3.0, 0.7, 1.0], vec![0.3; 4]))];
        let mut panel = Panel { layers, ..Panel::default() };
        (panel.y.min, panel.y.max) = (Some(0.0), Some(0.3));
        let svg = Figure::new(panel).expect("drawable").sized(400, height).svg().expect("an SVG");
        assert_eq!(polylines(&svg, SERIES[0]), [4], "{height} pixels: one line through all points");
    }
}

#[test]
fn gaps_part_a_line() {
    let svg = line(&[1.0, 2.0, 1.5, f64::NAN, 3.0, 2.0, f64::INFINITY, 2.5]).svg().expect("an SVG");
    assert_eq!(polylines(&svg, SERIES[0]), [3, 2]);
    // The last point stands alone and is marked all the same, as are the others.
    assert_eq!(filled(&svg, SERIES[0]), 6);
    let given = figure("plot::line", vec![floats(&[1.0, f64::NAN, 3.0, f64::INFINITY, 2.5])]);
    assert_eq!(given.all_cautions().lines(), ["caution: 2 points are not finite numbers and are not drawn"]);
}

#[test]
fn what_can_not_be_drawn_is_said() {
    let ends = map([("lo", floats(&[0.0, f64::NAN])), ("hi", floats(&[2.0, 3.0]))]);
    let half = figure("plot::line", vec![floats(&[1.0, 2.0]), floats(&[1.0, 2.0]), ends]);
    assert_eq!(
        half.all_cautions().lines(),
        ["caution: 1 interval has an end that is not a number and is not drawn there"]
    );
    let twins = Value::Array(vec![map([("y", floats(&[1.0])), ("label", text("a"))]); 2]);
    let twins = figure("plot::line", vec![twins]).all_cautions().text();
    assert_eq!(twins, "two series are called \"a\": the legend can't tell which is which");
    let black = figure(
        "plot::images",
        vec![Value::tensor(tch::Tensor::full([1, 2, 2], f64::NAN, (tch::Kind::Float, tch::Device::Cpu)))],
    );
    assert_eq!(black.all_cautions().text(), "4 of 4 values are not finite numbers");
    let cells = Value::Array(vec![floats(&[1.0, f64::INFINITY]), floats(&[3.0, f64::NAN])]);
    assert_eq!(
        figure("plot::heatmap", vec![cells]).all_cautions().text(),
        "2 cells are not finite numbers and are grey"
    );
}

#[test]
fn png_has_the_stated_size_and_ink() {
    let figure = line(&[1.0, 3.0, 2.0]).sized(400, 300);
    let (rgb, width, height) = pixels(&figure);
    assert_eq!((width, height), (400, 300));
    // Edges are mixed with white, so that few pixels hold the colour itself.
    let blue = rgb.chunks(3).filter(|p| p[2] > p[0].saturating_add(80)).count();
    assert!(blue > 100, "{blue} pixels of the line");
    assert!(rgb.chunks(3).filter(|p| *p == [255; 3]).count() > 60_000, "the ground is white");
    assert_eq!(figure.render_rgb(77, 33).map(|(rgb, w, h)| (rgb.len(), w, h)).expect("drawn"), (77 * 33 * 3, 77, 33));
}

/// Of a map with more cells than pixels none is left out: a pixel shows the cell that is farthest from the median.
#[test]
fn a_png_leaves_no_cell_of_a_wide_map_out() {
    let mut row = vec![0.0; 4000];
    [501, 1501, 2501, 3501].into_iter().for_each(|column| row[column] = 1.0);
    let cells = Value::Array(vec![Value::Array(row.into_iter().map(Value::Float).collect()); 4]);
    let (rgb, width, height) = pixels(&figure("plot::heatmap", vec![cells]).sized(900, 400));
    // Along a line through the map: how often its colour changes by much and comes back.
    let line: Vec<i32> = (0..width).map(|x| i32::from(rgb[3 * (height / 2 * width + x) as usize])).collect();
    let ground = line[(width / 4) as usize];
    let apart = |x: &usize| (line[*x] - ground).abs() > 5 && (line[*x - 1] - ground).abs() <= 5;
    let seen = (width as usize / 8..width as usize * 3 / 4).filter(apart).count();
    assert!(seen >= 3, "{seen} of the hot columns are seen: {line:?}");
}

/// A pixel has no colour that the scale lacks, however many cells share it.
#[test]
fn pixels_of_a_large_map_have_colours_of_its_scale() {
    let n = 1000;
    let row = |at: usize| Value::Array((0..n).map(|i| Value::Float(if i == at { 1.0 } else { 0.0 })).collect());
    let options = map([("min", Value::Int(0)), ("max", Value::Int(1))]);
    let figure = figure("plot::heatmap", vec![Value::Array((0..n).map(row).collect()), options]).sized(500, 420);
    let (rgb, width, height) = pixels(&figure);
    let bright = [viridis(1.0), viridis(0.0)].map(|colour| [colour.0, colour.1, colour.2]);
    let at = |x: u32, y: u32| &rgb[3 * (y * width + x) as usize..][..3];
    // In a part of the map without its edges each pixel is of one of both colours, and each line meets the diagonal.
    let (from, to) = (height / 4, height / 2);
    let dark = (from..to).flat_map(|y| (0..width).map(move |x| (x, y))).filter(|(x, y)| at(*x, *y) == bright[1]);
    let left = dark.map(|(x, _)| x).min().expect("a dark pixel") + 2;
    for y in from..to {
        let line: Vec<&[u8]> = (left..left + (to - left.min(to)).max(150)).map(|x| at(x, y)).collect();
        assert!(line.iter().all(|pixel| bright.iter().any(|colour| pixel == colour)), "line {y}: {line:?}");
    }
    let yellow = rgb.chunks(3).filter(|pixel| *pixel == bright[0]).count();
    assert!(yellow >= 250, "{yellow}");
    assert!(figure.all_cautions().iter().any(|said| said.contains("1000 x 1000 cells")));
}

/// Series that look alike can't be told apart, and a legend leaves room for what it is the legend of.
#[test]
fn legends_say_what_they_cannot_show() {
    let names = Value::Array(vec![text("a"), text("b")]);
    let bars = |n: usize| {
        let bar = |i: usize| map([("y", floats(&[1.0, i as f64])), ("label", text(&format!("model {i}")))]);
        figure("plot::bar", vec![names.clone(), Value::Array((0..n).map(bar).collect())])
    };
    let alike = |figure: &Figure| figure.all_cautions().iter().any(|said| said.contains("are drawn alike"));
    assert!(!alike(&bars(7)) && alike(&bars(8)));
    let series = |i: usize| {
        let label = format!("a network of such a long name that no two fit beside each other {i}");
        map([("y", floats(&[0.0, i as f64])), ("label", text(&label))])
    };
    let many = figure("plot::line", vec![Value::Array((0..30).map(series).collect())]).sized(700, 400);
    let svg = many.svg().expect("an SVG");
    assert!(svg.contains("others that have no place here</text>"), "{svg}");
    // Of a few that would fit in smaller letters all are named.
    let name = |i: usize| format!("{}: {i} whose test keeps its label", ["usual_here", "l2_here"][i % 2]);
    let line = |i: usize| map([("y", floats(&[0.0, i as f64, 9.0])), ("label", text(&name(i)))]);
    let eight =
        figure("plot::line", vec![Value::Array((0..8).map(line).collect())]).sized(720, 520).svg().expect("an SVG");
    assert!(
        (0..8).all(|i| eight.contains(&format!(">{}</text>", name(i)))) && !eight.contains("no place here"),
        "{eight}"
    );
    let frame = svg.lines().find(|line| line.starts_with("<polyline") && line.contains("#262626")).expect("a frame");
    let ys: Vec<f64> = frame
        .split("points=\"")
        .nth(1)
        .into_iter()
        .flat_map(|points| points.split_whitespace())
        .filter_map(|point| point.trim_end_matches("\"/>").split(',').nth(1)?.parse().ok())
        .collect();
    let high = ys.iter().copied().fold(f64::MIN, f64::max) - ys.iter().copied().fold(f64::MAX, f64::min);
    assert!(high > 1200.0, "the plot is {high} tenths of a pixel high");
}

/// Letters of a text from right to left stand on one line in all formats: none has a shift of its own.
#[test]
fn texts_from_right_to_left_stand_on_one_line() {
    let figure = figure("plot::line", vec![floats(&[1.0, 2.0]), map([("title", text("שלום עולם"))])]).sized(600, 400);
    assert!(!figure.svg().expect("an SVG").contains(" dy="));
    let (rgb, width, height) = pixels(&figure);
    let inked = |y: u32| (0..width).any(|x| rgb[3 * (y * width + x) as usize] < 128);
    let rows: Vec<u32> = (0..height / 8).filter(|&y| inked(y)).collect();
    let (top, bottom) = (rows[0], rows.iter().copied().take_while(|y| *y < rows[0] + 60).last().expect("a row"));
    // One line of letters, and not two of which one is cut off by the edge.
    assert!(top > 2 && bottom - top < 26, "{top} to {bottom}");
}

/// One page, at 96 pixels to an inch; labels stay text, and the letters that are used come along.
#[test]
fn a_pdf_has_its_size_and_brings_its_font_along() {
    let pdf = line(&[0.5, 1.0]).titled("a title").sized(400, 200).pdf().expect("a PDF");
    let text = String::from_utf8_lossy(&pdf);
    assert!(text.contains("/MediaBox[0 0 300 150]"), "{text}");
    assert!(text.contains("DejaVuSans-Bold") && text.contains("/FontFile") && text.contains("/ToUnicode"), "{text}");
    assert!(!text.contains("/Subtype/Image"), "nothing of it is pixels");
}

#[test]
fn same_data_same_bytes() {
    let draw = || line(&(0..5000).map(|i| (f64::from(i) * 0.37).sin()).collect::<Vec<_>>()).titled("a title");
    assert_eq!(draw().svg().expect("an SVG"), draw().svg().expect("an SVG"));
    assert_eq!(draw().png().expect("a PNG"), draw().png().expect("a PNG"));
    assert_eq!(draw().pdf().expect("a PDF"), draw().pdf().expect("a PDF"));
    assert_eq!(draw().digest(), draw().digest());
    assert_ne!(draw().digest(), draw().titled("another").digest());
}

#[test]
fn changes_leave_the_original_alone() {
    let first = line(&[1.0, 2.0]);
    let second = first.titled("t").labelled("a", "b").log_y().expect("positive").sized(300, 200);
    assert_eq!((first.title.as_str(), first.panels[0].y.log, first.size), ("", false, None));
    assert_eq!((second.title.as_str(), second.panels[0].y.log, second.size), ("t", true, Some((300, 200))));
}

#[test]
fn little_data_is_drawn() {
    let extremes: [&[f64]; 9] = [
        &[3.0],
        &[0.0],
        &[2.0, 2.0, 2.0],
        &[f64::NAN, 1.0, f64::NAN],
        &[f64::MAX, f64::MIN],
        &[f64::MIN_POSITIVE, 5e-324],
        &[1.0, 1.0 + f64::EPSILON],
        &[1e-300, 1e300],
        &[f64::INFINITY, 0.5, f64::NEG_INFINITY],
    ];
    for y in extremes {
        for log in [false, true] {
            let figure = line(y);
            let Ok(figure) = (if log { figure.log_y() } else { Ok(figure) }) else {
                assert!(y.iter().all(|v| !(v.is_finite() && *v > 0.0)), "{y:?}");
                continue;
            };
            let svg = figure.sized(200, 150).svg().expect("an SVG");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{y:?}: {svg}");
            figure.sized(64, 64).png().expect("a PNG");
        }
    }
}

#[test]
fn nothing_to_draw_is_an_error() {
    for y in [vec![], vec![f64::NAN], vec![f64::INFINITY, f64::NAN]] {
        let error = refused("plot::line", vec![Value::floats(y)]);
        assert!(error.message.contains("nothing to draw"), "{error}");
    }
    let error = refused("plot::line", vec![floats(&[-1.0, 0.0]), map([("log_y", Value::Bool(true))])]);
    assert!(error.hint.is_some_and(|hint| hint.contains("positive")));
    refused("plot::histogram", vec![floats(&[f64::NAN])]);
    refused("plot::heatmap", vec![Value::Array(vec![floats(&[f64::NAN])])]);
    refused("plot::heatmap", vec![Value::Array(vec![])]);
    refused("plot::grid", vec![Value::Array(vec![])]);
}

#[test]
fn wrong_arguments_are_refused_with_a_reason() {
    let cases = [
        (vec![floats(&[1.0, 2.0]), floats(&[1.0])], "2 x values but 1 y values"),
        (vec![floats(&[1.0]), floats(&[1.0]), map([("lo", floats(&[0.0]))])], "needed both"),
        (
            vec![floats(&[1.0, 2.0]), map([("lo", floats(&[0.0, 3.0])), ("hi", floats(&[1.0, 2.0]))])],
            "interval 1: `lo`, 3, is above `hi`, 2",
        ),
        (vec![Value::Array(vec![map([("y", floats(&[1.0])), ("lable", text("a"))])])], "no key `lable`"),
        (vec![Value::Array(vec![map([("x", floats(&[1.0]))])])], "needs `y`"),
        (vec![floats(&[1.0]), map([("x_min", Value::Float(2.0)), ("x_max", Value::Float(1.0))])], "below `x_max`"),
        (vec![floats(&[1.0]), map([("rules", Value::Array(vec![map([("label", text("a"))])]))])], "a rule must have"),
    ];
    for (arguments, wanted) in cases {
        let error = refused("plot::line", arguments);
        assert!(error.message.contains(wanted), "{wanted}: {error}");
    }
    let ragged = Value::Array(vec![floats(&[1.0, 2.0]), floats(&[1.0])]);
    assert!(refused("plot::heatmap", vec![ragged]).message.contains("row 1"));
}

#[test]
fn a_log_axis_says_what_it_leaves_out() {
    let cx = Cx::default();
    let options = map([("log_y", Value::Bool(true))]);
    let value = call(&cx, "plot::line", vec![floats(&[1.0, 2.0, 3.0, 4.0]), floats(&[0.1, 0.0, -1.0, 0.2]), options])
        .expect("two points are left");
    let figure = value.downcast::<Figure>().expect("a figure");
    let said: Vec<String> = figure.all_cautions().iter().map(String::from).collect();
    assert_eq!(said, ["2 points are not positive and have no place on a log axis"]);
    let svg = figure.svg().expect("an SVG");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

#[test]
fn a_log_axis_puts_equal_ratios_at_equal_distances() {
    let x = vec![1.0, 10.0, 100.0, 1000.0];
    let panel = Panel {
        x: Axis { log: true, ..Axis::default() },
        layers: vec![Layer::Series(Series::line("", x, vec![1.0, 2.0, 3.0, 4.0]))],
        ..Panel::default()
    };
    let svg = Figure::new(panel).expect("drawable").svg().expect("an SVG");
    let stroke = format!("stroke=\"{}\"", SERIES[0].hex());
    let points = svg.lines().find(|l| l.starts_with("<polyline") && l.contains(&stroke)).expect("the line");
    let xs: Vec<f64> = points
        .split("points=\"")
        .nth(1)
        .expect("points")
        .trim_end_matches("\"/>")
        .split_whitespace()
        .map(|p| p.split(',').next().and_then(|x| x.parse().ok()).expect("a coordinate"))
        .collect();
    let steps: Vec<f64> = xs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // Coordinates are rounded to whole units, tenths of a pixel, so that two steps differ by two at most.
    assert!(steps.iter().all(|step| *step > 100.0 && (step - steps[0]).abs() < 2.1), "{xs:?}");
}

#[test]
fn colours_stay_apart() {
    // Viénot, Brettel and Mollon (1999): what a protanope and a deuteranope see of linear RGB.
    const PROTANOPE: [[f64; 3]; 3] = [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]];
    const DEUTERANOPE: [[f64; 3]; 3] = [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]];
    const ALL: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let seen = |c: Rgb, by: [[f64; 3]; 3]| {
        let linear = [c.0, c.1, c.2].map(|v| (f64::from(v) / 255.0).powf(2.2));
        by.map(|row| (row[0] * linear[0] + row[1] * linear[1] + row[2] * linear[2]).max(0.0).powf(1.0 / 2.2))
    };
    for (name, by) in [("all", ALL), ("protanope", PROTANOPE), ("deuteranope", DEUTERANOPE)] {
        for (i, a) in SERIES.iter().enumerate() {
            for b in &SERIES[i + 1..] {
                let (a, b) = (seen(*a, by), seen(*b, by));
                let distance = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
                // A tenth of the cube's side: about 25 of 255 steps.
                assert!(distance > 0.1, "{name}: {a:?} and {b:?} are {distance} apart");
            }
        }
    }
    let markers: std::collections::HashSet<_> = MARKERS.iter().collect();
    assert_eq!(markers.len(), MARKERS.len());
    // The map of heat maps grows lighter, so that it reads in grey too.
    let light: Vec<f64> = (0..=100).map(|i| viridis(f64::from(i) / 100.0).lightness()).collect();
    assert!(light.windows(2).all(|pair| pair[1] > pair[0]));
    assert_eq!((viridis(-1.0), viridis(2.0), viridis(f64::NAN)), (viridis(0.0), viridis(1.0), viridis(0.0)));
}

#[test]
fn histogram_counts_every_value_once() {
    let (edges, counts) = histogram(&[0.0, 0.1, 0.25, 0.5, 1.0, 2.0, f64::NAN], 4, (0.0, 1.0));
    assert_eq!(edges, [0.0, 0.25, 0.5, 0.75, 1.0]);
    assert_eq!(counts, [2.0, 1.0, 1.0, 1.0]);
    let cx = Cx::default();
    let options = map([("bins", Value::Int(5)), ("density", Value::Bool(true)), ("x_max", Value::Float(3.0))]);
    let value = call(&cx, "plot::histogram", vec![floats(&[1.0, 2.0, 2.5, 9.0]), options]).expect("a figure");
    let json = value.json();
    assert_eq!(json["cautions"], serde_json::json!(["1 value lies outside the bins and is left out"]));
    let bars = &json["panels"][0]["layers"][0];
    let area: f64 = bars["heights"].as_array().expect("heights").iter().filter_map(|h| h.as_f64()).sum::<f64>() * 0.4;
    // Five additions of numbers near one.
    assert!((area - 1.0).abs() < 1e-14, "{area}");
}

#[test]
fn heat_map_shows_its_numbers_in_their_cells() {
    let matrix = Value::Array(vec![floats(&[0.0, 0.25]), floats(&[f64::NAN, 1.0])]);
    let options = map([
        ("row_names", Value::Array(vec![text("cat"), text("dog")])),
        ("column_names", Value::Array(vec![text("CAT"), text("DOG")])),
        ("colour", text("rate")),
    ]);
    let svg = figure("plot::heatmap", vec![matrix, options]).svg().expect("an SVG");
    for wanted in [">0.25</text>", ">cat</text>", ">DOG</text>", ">rate</text>"] {
        assert!(svg.contains(wanted), "{wanted}");
    }
    // The first rectangle is the ground.
    let cells = svg.lines().filter(|line| line.starts_with("<rect")).skip(1);
    let fills: Vec<&str> = cells.filter_map(|line| line.split("fill=\"").nth(1)?.split('"').next()).take(4).collect();
    assert_eq!(fills, [viridis(0.0), viridis(0.25), Rgb(205, 205, 205), viridis(1.0)].map(Rgb::hex));
}

#[test]
fn image_tiles_keep_their_pixels() {
    // Two images of 2 x 2 pixels in grey: 0, 51, 102, 255 and the reverse.
    let grey = [0.0f32, 0.2, 0.4, 1.0, 1.0, 0.4, 0.2, 0.0];
    let tensor = Tensor::f_from_slice(&grey).and_then(|t| t.f_reshape([2, 1, 2, 2])).expect("eight values");
    let captions = Value::Array(vec![text("before"), text("after")]);
    let sheet = figure("plot::images", vec![Value::tensor(tensor), map([("captions", captions)])]);
    let (rgb, width, _) = pixels(&sheet);
    let count = |v: u8| rgb.chunks(3).filter(|p| *p == [v; 3]).count();
    // Both images are enlarged by 48, so that a pixel covers 48 x 48, and each value comes twice.
    assert!(count(51) >= 2 * 48 * 48 && count(102) >= 2 * 48 * 48, "{} and {}", count(51), count(102));
    assert_eq!(width, sheet.dimensions().0);
    let json = sheet.json();
    let images = &json["panels"][0]["layers"][0]["images"];
    let first: Vec<u8> = [0u8, 51, 102, 255].iter().flat_map(|v| [*v; 3]).collect();
    assert_eq!(images[0]["sha256"], viva::core::Digest::of(&first).hex(), "told by their digest, not pixel by pixel");
    let svg = sheet.svg().expect("an SVG");
    assert_eq!(svg.matches("data:image/png;base64,").count(), 2);
    assert!(svg.contains(">before</text>") && svg.contains(">after</text>"));
}

#[test]
fn any_canvas_is_large_enough() {
    let matrix = Value::Array((0..80).map(|i| floats(&vec![f64::from(i); 80])).collect());
    let names = Value::Array((0..80).map(|i| text(&format!("a long name {i}"))).collect());
    let map_ = figure("plot::heatmap", vec![matrix, map([("row_names", names), ("colour", text("rate"))])]);
    let tensor = Tensor::f_from_slice(&vec![0.5f32; 9 * 40 * 30]).and_then(|t| t.f_reshape([9, 1, 40, 30]));
    let sheet = figure("plot::images", vec![Value::tensor(tensor.expect("pixels")), map([("title", text("a\nb"))])]);
    for figure in [map_, sheet, line(&[1.0, 3.0, 2.0]).titled("a title")] {
        for (width, height) in [(1, 1), (3, 200), (200, 5), (64, 64), (40, 30)] {
            let (rgb, w, h) = figure.render_rgb(width, height).expect("drawn");
            assert_eq!((rgb.len(), w, h), ((3 * width * height) as usize, width, height));
        }
        assert!(figure.sized(64, 64).svg().expect("an SVG").ends_with("</svg>\n"));
    }
}

struct Flat;

impl viva::data::Source for Flat {
    fn len(&self) -> usize {
        5
    }

    fn shape(&self) -> [usize; 3] {
        [3, 4, 4]
    }

    fn read(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        pixels.fill(index as f32 / 5.0);
        Ok(())
    }
}

#[test]
fn a_data_set_is_shown_with_its_classes() {
    use viva::core::Digest;
    use viva::data::{Dataset, Edge};
    let classes = vec!["cat".into(), "dog".into()];
    let set =
        Dataset::new("flat", std::sync::Arc::new(Flat), vec![0, 1, 0, 1, 1], classes, Edge::None, Digest::of(b""))
            .expect("a data set");
    let sheet =
        figure("plot::images", vec![Value::object(set), map([("n", Value::Int(3)), ("columns", Value::Int(2))])]);
    let json = sheet.json();
    let layer = &json["panels"][0]["layers"][0];
    assert_eq!(layer["captions"], serde_json::json!(["cat", "dog", "cat"]));
    let third = Digest::of(&[102; 3 * 16]).hex();
    assert_eq!((&layer["columns"], &layer["images"][2]["sha256"]), (&2.into(), &third.into()));
}

#[test]
fn pictures_shrink_by_means_and_grow_by_repeats() {
    let picture = Picture::new(2, 1, vec![0, 0, 0, 100, 50, 200]).expect("six bytes");
    assert_eq!(picture.resized(1, 1).rgb, [50, 25, 100]);
    assert_eq!(picture.resized(4, 1).rgb, [0, 0, 0, 0, 0, 0, 100, 50, 200, 100, 50, 200]);
    assert!(Picture::new(2, 2, vec![0; 11]).is_err());
}

fn curve(sizes: &[i64]) -> Value {
    let row = |m: &i64| {
        let p = 1.0 / (1.0 + *m as f64 / 1e4);
        map([
            ("m", Value::Int(*m)),
            ("p", Value::Float(p)),
            ("p_lo", Value::Float(p * 0.9)),
            ("p_hi", Value::Float((p * 1.1).min(1.0))),
            ("error", Value::Float(0.1)),
            ("error_lo", Value::Float(0.05)),
            ("error_hi", Value::Float(0.15)),
            ("weighted_error", Value::Float(0.2)),
        ])
    };
    Value::Array(sizes.iter().map(row).collect())
}

#[test]
fn figure_5_takes_rows_or_named_rows() {
    let named = map([("strongest", curve(&[10000, 100, 1000])), ("random", curve(&[100]))]);
    let figure_5 = figure("plot::pvalues", vec![named]);
    let json = figure_5.json();
    let panel = &json["panels"][0];
    assert_eq!(
        (&panel["x"]["scale"], &panel["layers"][1]["label"]),
        (&"log".into(), &"strongest (p 0.5, adjusted 1.0)".into())
    );
    // Rows are put in the order of their sizes.
    assert_eq!(panel["layers"][1]["x"], serde_json::json!([100.0, 1000.0, 10000.0]));
    assert_eq!(panel["layers"][1]["lo"][2], 0.5 * 0.9);
    assert_eq!(
        (&panel["layers"][2]["label"], &panel["layers"][3]["at"]),
        (&"adjusted for 2 curves (Holm)".into(), &0.05.into())
    );
    assert!(figure_5.svg().expect("an SVG").contains("δ = 0.05"));

    let json = figure("plot::risks", vec![curve(&[100, 1000])]).json();
    let layers = &json["panels"][0]["layers"];
    assert_eq!(layers[0]["hi"], serde_json::json!([0.15, 0.15]));
    // Rows without an interval give a line without a band.
    assert_eq!((&layers[1]["y"][0], layers[1].get("lo")), (&0.2.into(), None));

    let error = refused("plot::risks", vec![curve(&[100]), map([("adversarial", Value::Bool(true))])]);
    assert!(error.message.contains("no `adversarial_error`"), "{error}");
    refused("plot::pvalues", vec![Value::Array(vec![Value::Int(3)])]);
    refused("plot::pvalues", vec![Value::Map(BTreeMap::new())]);
}

#[test]
fn grid_holds_all_panels() {
    let cx = Cx::default();
    let one = call(&cx, "plot::line", vec![floats(&[1.0, 2.0]), map([("title", text("left"))])]).expect("a figure");
    let two =
        call(&cx, "plot::histogram", vec![floats(&[1.0, 2.0]), map([("title", text("right"))])]).expect("a figure");
    let grid = figure("plot::grid", vec![Value::Array(vec![one, two]), map([("title", text("both"))])]);
    assert_eq!(grid.summary(), "figure \"both\": 2 panels, 1 line, 1 histogram");
    let svg = grid.svg().expect("an SVG");
    assert!([">left<", ">right<", ">both<"].iter().all(|title| svg.contains(title)));
}

#[test]
fn legend_covers_no_data() {
    // A cloud over the whole frame leaves no place inside; the legend goes below the axis label.
    let n = 40;
    let (x, y): (Vec<f64>, Vec<f64>) = (0..n * n).map(|i| (f64::from(i % n), f64::from(i / n))).unzip();
    let options = map([("label", text("cloud")), ("x", text("below this"))]);
    let svg = figure("plot::scatter", vec![Value::floats(x), Value::floats(y), options]).svg().expect("an SVG");
    let height_of = |label: &str| -> f64 {
        let line = svg.lines().find(|l| l.contains(&format!(">{label}<"))).expect("the text");
        line.split(" y=\"").nth(1).and_then(|y| y.split('"').next()).and_then(|y| y.parse().ok()).expect("a place")
    };
    assert!(height_of("cloud") > height_of("below this"));
}

#[test]
fn saving_picks_the_format_by_the_ending() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut cx = Cx::default();
    cx.set_folder(folder.path().into());
    let value = Value::object(line(&[1.0, 2.0]));
    for ending in ["png", "svg", "pdf", "json"] {
        value.save(&cx, &format!("figure.{ending}"), &[]).expect("saved");
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("a file");
    assert_eq!(read("figure.png")[..8], *b"\x89PNG\r\n\x1a\n");
    assert!(read("figure.svg").starts_with(b"<svg"));
    assert!(read("figure.pdf").starts_with(b"%PDF-"));
    assert!(serde_json::from_slice::<serde_json::Value>(&read("figure.json")).is_ok());
    assert!(value.save(&cx, "figure.gif", &[]).is_err());
}

#[test]
fn on_paper_a_figure_has_the_size_that_was_asked_for() {
    let cx = Cx::default();
    let drawn = call(&cx, "plot::line", vec![floats(&[0.0, 1.0]), floats(&[1.0, 2.0]), map([("x", text("time"))])])
        .expect("it is there");
    let paper = call(
        &cx,
        "Figure.on_paper",
        vec![drawn, Value::Float(84.0), Value::Float(60.0), map([("type_size", Value::Float(9.0))])],
    );
    let figure = paper.expect("it is there").downcast::<Figure>().expect("a figure");
    let svg = figure.svg().expect("it is there");
    assert!(svg.starts_with("<svg width=\"84mm\" height=\"60mm\""), "{}", &svg[..80]);
    // Nine points are twelve pixels, in tenths.
    let label = svg.lines().find(|line| line.contains("time")).expect("its label");
    let size: f64 = label
        .split("font-size=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("it is there")
        .parse()
        .expect("it is there");
    assert!((size - 120.0).abs() < 1.5, "{size}");
    assert_eq!(figure.dimensions(), (992, 709));
    let (_, width, height) = pixels(&figure);
    assert_eq!((width, height), (992, 709));
    // A page is measured in points of 1/72 inch.
    let pdf = String::from_utf8_lossy(&figure.pdf().expect("it is there")).into_owned();
    let page = pdf.split("/MediaBox").nth(1).and_then(|rest| rest.split(']').next()).expect("it is there");
    let sides: Vec<f64> = page.trim_matches(['[', ' ']).split(' ').filter_map(|side| side.parse().ok()).collect();
    assert!((sides[2] - 84.0 / 25.4 * 72.0).abs() < 0.1 && (sides[3] - 60.0 / 25.4 * 72.0).abs() < 0.1, "{page}");
}

#[test]
fn labels_hold_mathematics_and_name_its_mistakes() {
    let svg = |label: &str| {
        figure("plot::line", vec![floats(&[0.0, 1.0]), floats(&[1.0, 2.0]), map([("x", text(label))])])
            .svg()
            .expect("it is there")
    };
    let drawn = svg("radius $\\epsilon_\\infty$");
    let texts: Vec<&str> = drawn
        .split("<text")
        .skip(1)
        .filter_map(|text| text.split('>').nth(1)?.split('<').next())
        .map(str::trim)
        .collect();
    let place = texts.iter().position(|text| *text == "radius ε").expect("its letters");
    assert_eq!(texts[place + 1], "∞");
    assert!(!drawn.contains("\\epsilon") && !drawn.contains('$'));
    assert!(svg("cost in $").contains("cost in $"));
    let error =
        refused("plot::line", vec![floats(&[0.0, 1.0]), floats(&[1.0, 2.0]), map([("x", text("$\\epsilom$"))])]);
    assert!(error.to_string().contains("no sign \\epsilom"), "{error}");
    assert!(error.hint.as_deref().unwrap_or("").contains("epsilon"), "{error:?}");
}

/// The legend's texts in the order in which they stand.
fn legend(figure: &Figure, names: &[&str]) -> Vec<usize> {
    let svg = figure.svg().expect("it is there");
    names.iter().map(|name| svg.find(name).unwrap_or_else(|| panic!("{name}"))).collect()
}

#[test]
fn pairs_keep_the_order_of_the_author() {
    let rows = |error: f64| {
        Value::Array(vec![map([
            ("m", Value::Int(10)),
            ("error", Value::Float(error)),
            ("weighted_error", Value::Float(error)),
        ])])
    };
    let pair = |name: &str, error: f64| Value::Array(vec![text(name), rows(error)]);
    let drawn = figure("plot::risks", vec![Value::Array(vec![pair("trained long", 0.1), pair("a fresh one", 0.2)])]);
    let places = legend(&drawn, &["trained long", "a fresh one"]);
    assert!(places[0] < places[1]);
    let sorted = figure("plot::risks", vec![map([("trained long", rows(0.1)), ("a fresh one", rows(0.2))])]);
    let places = legend(&sorted, &["trained long", "a fresh one"]);
    assert!(places[0] > places[1]);
}

#[test]
fn one_legend_serves_all_panels() {
    let series = |label: &str, y: &[f64]| map([("y", floats(y)), ("label", text(label))]);
    let panel = |all: Vec<Value>| Value::object(figure("plot::line", vec![Value::Array(all)]));
    let left = panel(vec![series("plain", &[1.0, 2.0]), series("robust", &[2.0, 3.0])]);
    let right = panel(vec![series("robust", &[20000.0, 10000.0])]);
    let grid = figure(
        "plot::grid",
        vec![Value::Array(vec![left, right]), map([("columns", Value::Int(1)), ("legend", text("one"))])],
    );
    let svg = grid.svg().expect("it is there");
    assert_eq!(svg.matches("robust").count(), 1);
    // The second series' colour in both panels and in the legend.
    assert_eq!(polylines(&svg, SERIES[0]).len(), 2);
    assert!(polylines(&svg, SERIES[1]).len() >= 3);
    // Frames begin at one place though the numbers beside them differ in width.
    let frames: Vec<&str> = svg
        .lines()
        .filter(|line| line.contains("stroke=\"#262626\""))
        .filter_map(|line| line.split("points=\"").nth(1))
        .collect();
    let starts: Vec<&str> = frames
        .iter()
        .filter(|points| points.split(' ').count() >= 4)
        .filter_map(|points| points.split(',').next())
        .collect();
    assert_eq!(starts.len(), 2, "{frames:?}");
    assert_eq!(starts[0], starts[1]);
}

/// Where the upright strokes of this colour stand.
fn uprights(svg: &str, colour: Rgb) -> Vec<String> {
    let stroke = format!("stroke=\"{}\"", colour.hex());
    let lines = svg.lines().filter(|line| line.starts_with("<polyline") && line.contains(&stroke));
    let points = lines.filter_map(|line| line.split("points=\"").nth(1)?.split('"').next());
    let upright = |points: &str| {
        let ends: Vec<(&str, &str)> = points.split_whitespace().filter_map(|point| point.split_once(',')).collect();
        matches!(ends[..], [(a, from), (b, to)] if a == b && from != to).then(|| ends[0].0.to_string())
    };
    points.filter_map(upright).collect()
}

/// Two intervals above one x hide neither each other nor, where one is alone, its point.
#[test]
fn intervals_above_one_x_stand_beside_each_other() {
    for spread in ["bars", "band"] {
        let series = |x: &[f64]| {
            let (lo, hi) = (vec![0.2; x.len()], vec![0.8; x.len()]);
            let y = floats(&vec![0.5; x.len()]);
            map([("x", floats(x)), ("y", y), ("lo", floats(&lo)), ("hi", floats(&hi)), ("spread", text(spread))])
        };
        // What spans no band is drawn as bars are.
        let last: &[f64] = if spread == "bars" { &[1.0, 3.0] } else { &[1.0] };
        let svg = figure("plot::line", vec![Value::Array(vec![series(last), series(&[1.0])])]).svg().expect("drawn");
        let (first, second) = (uprights(&svg, SERIES[0]), uprights(&svg, SERIES[1]));
        assert_eq!((first.len(), second.len()), (last.len(), 1), "{spread}");
        assert_ne!(first[0], second[0], "{spread}");
        if let Some(alone) = first.get(1) {
            assert!(svg.contains(&format!("<circle cx=\"{alone}\"")), "{alone}");
        }
    }
}

#[test]
fn bars_stand_at_their_names() {
    let names = Value::Array(["one", "two", "three"].map(text).to_vec());
    let series = |label: &str, y: &[f64]| map([("y", floats(y)), ("label", text(label)), ("colour", text("#123456"))]);
    let drawn = figure("plot::bar", vec![names.clone(), Value::Array(vec![series("left", &[1.0, 2.0, f64::NAN])])]);
    let svg = drawn.svg().expect("it is there");
    for name in ["one", "two", "three"] {
        assert!(svg.contains(name));
    }
    // Two bars and the legend's swatch.
    assert_eq!(boxes(&svg, Rgb(0x12, 0x34, 0x56)), 3);
    assert_eq!(drawn.json()["panels"][0]["layers"][0]["heights"][1], 2.0);
    let missing = figure("plot::bar", vec![names.clone(), floats(&[1.0, f64::NAN, 3.0])]);
    assert_eq!(missing.all_cautions().lines(), ["caution: 1 point is not a finite number and is not drawn"]);
    let twins = Value::Array(["one", "one"].map(text).to_vec());
    let error = refused("plot::bar", vec![twins, floats(&[1.0, 2.0])]);
    assert!(error.to_string().contains("two bars are called \"one\""), "{error}");
    // More names than there is room for are written in part, and those that are do not touch.
    let many = Value::Array((0..300).map(|i| text(&format!("name {i}"))).collect());
    let crowded = figure("plot::bar", vec![many, floats(&[1.0; 300])]).svg().expect("drawn");
    let written = crowded.matches("name ").count();
    assert!((20..60).contains(&written), "{written} names");
    let error =
        refused("plot::bar", vec![names.clone(), floats(&[1.0, 2.0, 3.0]), map([("y_min", Value::Float(0.5))])]);
    assert!(error.to_string().contains("above 0"), "{error}");
    let log = figure("plot::bar", vec![names.clone(), floats(&[0.0, 2.0, 3.0]), map([("log_y", Value::Bool(true))])]);
    assert_eq!(log.all_cautions().lines(), ["caution: 1 point is not positive and has no place on a log axis"]);
    let error = refused("plot::bar", vec![names.clone(), floats(&[1.0])]);
    assert!(error.to_string().contains("3 names, and 1 numbers"), "{error}");
    let error = refused(
        "plot::bar",
        vec![names, Value::Array(vec![map([("y", floats(&[1.0, 2.0, 3.0])), ("colour", text("bleu"))])])],
    );
    assert!(error.hint.as_deref().unwrap_or("").contains("blue"), "{error:?}");
}

/// Names that differ at their ends alone are cut in their middles, others that would be alike are numbered; legends are no wider than the figure.
#[test]
fn names_that_are_cut_stay_apart() {
    let names: Vec<String> = ["alpha", "beta", "gamma"]
        .map(|end| format!("a classifier that was trained for quite a long time on augmented images, {end}"))
        .to_vec();
    let words = Value::Array(names.iter().map(|name| text(name)).collect());
    let bars = figure("plot::bar", vec![words.clone(), floats(&[1.0, 2.0, 3.0])]).svg().expect("drawn");
    let cells = Value::Array(vec![floats(&[1.0, 2.0, 3.0]), floats(&[2.0, 1.0, 0.0]), floats(&[4.0, 4.0, 1.0])]);
    let options = map([("row_names", words.clone()), ("column_names", words)]);
    let cells = figure("plot::heatmap", vec![cells, options]).svg().expect("drawn");
    for (svg, times) in [(bars, 1), (cells, 2)] {
        for (name, end) in names.iter().zip(["alpha", "beta", "gamma"]) {
            let shown = svg.lines().filter(|line| line.contains(&format!("{end}<"))).count();
            assert_eq!(shown, times, "{name}\n{svg}");
        }
    }
    let alike: Vec<String> = ["alpha", "beta", "gamma"]
        .map(|middle| format!("a classifier that was trained for quite a long time on {middle} and on augmented images, all of them, too"))
        .to_vec();
    let words = Value::Array(alike.iter().map(|name| text(name)).collect());
    let bars = figure("plot::bar", vec![words, floats(&[1.0, 2.0, 3.0])]).svg().expect("drawn");
    for number in 1..=3 {
        assert!(bars.contains(&format!(">{number}: a class")), "{bars}");
    }
    let foreign = Value::Array(["\u{4e2d}\u{6587}", "\u{65e5}\u{672c}", "\u{3b1}"].map(text).to_vec());
    let boxes = figure("plot::bar", vec![foreign, floats(&[1.0, 2.0, 3.0])]).all_cautions().text();
    assert_eq!(boxes, "the font lacks 4 letters, U+4E2D and others: boxes stand for them but in .svg");
    let long = format!("{} one", "a series with a very long name ".repeat(8));
    let series = Value::Array(vec![map([("y", floats(&[1.0, 2.0])), ("label", text(&long))])]);
    let legend = figure("plot::line", vec![series]).svg().expect("drawn");
    assert!(!legend.contains(&long) && legend.contains("a series with"), "{legend}");
    // What a legend says beside a name is kept.
    let series = [
        ("scores", floats(&[0.9, 0.8, 0.3, 0.1])),
        ("positives", floats(&[1.0, 0.0, 1.0, 0.0])),
        ("label", text(&long)),
    ];
    let roc = figure("plot::roc", vec![Value::Array(vec![map(series)])]).svg().expect("drawn");
    assert!(!roc.contains(&long) && roc.contains("…: AUC 0.75 ["), "{roc}");
}

#[test]
fn boxes_stand_in_the_order_given_with_their_sizes() {
    let blue = SERIES[0];
    let rings = |svg: &str| polylines(svg, blue).into_iter().filter(|points| *points > 2).count();
    let pair = |name: &str, values: &[f64]| Value::Array(vec![text(name), floats(values)]);
    let many = [2.5, 0.1, 7.0, 3.3, 1.2, 30.0, -4.0];
    let drawn = figure("plot::box", vec![Value::Array(vec![pair("zeta", &many), pair("alpha", &[3.0, 1.0, 2.0])])]);
    let panel = &drawn.json()["panels"][0];
    assert_eq!(panel["x"]["names"], serde_json::json!(["zeta", "alpha"]));
    // numpy.quantile([2.5, 0.1, 7, 3.3, 1.2, 30, -4], [0.25, 0.5, 0.75]), NumPy 2.4; the others are written down in `maths::quartiles`.
    let samples = &panel["layers"][0]["samples"];
    let quartiles: Vec<f64> = serde_json::from_value(samples[0]["quartiles"].clone()).expect("numbers");
    assert!(
        quartiles.iter().zip([0.65, 2.5, 5.15]).all(|(found, wanted)| (found - wanted).abs() < 1e-12),
        "{quartiles:?}"
    );
    assert_eq!(samples[0]["whiskers"], serde_json::json!([-4.0, 7.0]));
    assert_eq!(samples[0]["outliers"], serde_json::json!([30.0]));
    // Three values are no box: not in the data and not in the picture, which has one box, a ring for the outlier and a marker for each of the three.
    assert_eq!(
        (&samples[1]["quartiles"], &samples[1]["points"]),
        (&serde_json::Value::Null, &serde_json::json!([3.0, 1.0, 2.0]))
    );
    let svg = drawn.svg().expect("drawn");
    assert_eq!((boxes(&svg, blue), filled(&svg, blue), rings(&svg)), (1, 3, 1), "{svg}");
    let told = drawn.cautions.text();
    assert_eq!(told, "\"alpha\" has 3 values, too few for a box: they are points");
    let place = |words: &str| svg.find(&format!(">{words}<")).unwrap_or_else(|| panic!("{words} in {svg}"));
    assert!(place("zeta") < place("alpha") && place("n = 7") < place("n = 3"));
    assert!(drawn.details(80).contains("box plot: 2 samples"), "{}", drawn.details(80));

    // By name, one alone, and by maps, as histograms have them.
    let named = figure("plot::box", vec![map([("b", floats(&many)), ("a", floats(&many))])]);
    assert_eq!(named.json()["panels"][0]["x"]["names"], serde_json::json!(["a", "b"]));
    let alone = figure("plot::box", vec![floats(&many), map([("label", text("one"))])]);
    let sample = map([("label", text("one")), ("values", floats(&many))]);
    assert_eq!(alone.json(), figure("plot::box", vec![Value::Array(vec![sample])]).json());
    // Many names are written in part, upright and with their sizes.
    let crowded = (0..200).map(|i| pair(&format!("name {i}"), &many)).collect();
    let svg = figure("plot::box", vec![Value::Array(crowded)]).svg().expect("drawn");
    let written = svg.matches(", n = 7").count();
    assert!((20..60).contains(&written), "{written} names");
}

#[test]
fn boxes_say_what_they_cannot_show() {
    let log = || map([("log_y", Value::Bool(true))]);
    let five = |other: f64| map([("a", floats(&[1.0, 2.0, 3.0, 4.0, other]))]);
    for (arguments, told) in [
        (vec![five(f64::NAN)], "1 of 5 values of \"a\" are not finite"),
        (vec![five(f64::INFINITY)], "1 of 5 values of \"a\" are not finite"),
        (vec![map([("a", floats(&[f64::MAX, -f64::MAX]))])], "too far apart"),
        (vec![five(0.0), log()], "a log axis has no place for 0"),
        (vec![map([("a", floats(&[]))])], "nothing to draw"),
        (vec![map([])], "nothing to draw"),
        (vec![map([("a", text("b"))])], "the values of \"a\" must be an array or tensor of numbers, got"),
        (vec![Value::Array(vec![Value::Array(vec![floats(&[1.0])])])], "a pair must be a name and its numbers"),
        (vec![five(1.0), map([("label", text("x"))])], "several have their own names"),
        (vec![five(1.0), map([("y_min", Value::Float(2.0)), ("y_max", Value::Float(1.0))])], "`y_min` must be below"),
    ] {
        let error = refused("plot::box", arguments);
        assert!(error.to_string().contains(told), "{told}: {error}");
    }
    let linear = figure("plot::box", vec![five(0.0)]);
    assert!(linear.log_y().err().expect("0 has no place").to_string().contains("a log axis has no place for 0"));
    let cut = figure("plot::box", vec![five(90.0), map([("y_max", Value::Float(5.0))])]);
    assert_eq!(cut.cautions.text(), "1 of 5 values of \"a\" lies beyond the axis");
    assert_eq!(polylines(&cut.svg().expect("drawn"), SERIES[0]).into_iter().filter(|points| *points > 2).count(), 0);
    let none = figure("plot::box", vec![map([("a", floats(&[])), ("b", floats(&[1.0; 5]))])]);
    assert_eq!(none.cautions.text(), "\"a\" has no values");
    assert!(none.svg().expect("drawn").contains("n = 0"));
}

#[test]
fn a_curve_of_scores_says_its_area() {
    let positives = |all: &[i64]| Value::Array(all.iter().map(|&one| Value::Int(one)).collect());
    let options = map([("positives", positives(&[1, 1, 0, 1, 0])), ("label", text("loss"))]);
    let drawn = figure("plot::roc", vec![floats(&[0.9, 0.8, 0.8, 0.3, 0.1]), options]);
    let layers = &drawn.json()["panels"][0]["layers"];
    assert_eq!(layers[0]["x"], serde_json::json!([0.0, 0.0, 0.5, 0.5, 1.0]));
    let label = layers[0]["label"].as_str().expect("a label");
    assert!(label.starts_with("loss: AUC 0.75 ["), "{label}");
    assert_eq!(layers[1]["label"], "guessing");
    // Of two negatives and three positives, begun at half of a third; what ties lies on the line between its ends, and guessing goes from corner to corner.
    let options = map([("positives", positives(&[1, 1, 0, 1, 0])), ("log_axes", Value::Bool(true))]);
    let log = figure("plot::roc", vec![floats(&[0.9, 0.8, 0.8, 0.3, 0.1]), options]);
    let panel = &log.json()["panels"][0];
    let numbers = |layer: usize, name: &str| -> Vec<f64> {
        panel["layers"][layer][name]
            .as_array()
            .expect("numbers")
            .iter()
            .map(|x| x.as_f64().expect("a number"))
            .collect()
    };
    let (x, y) = (numbers(0, "x"), numbers(0, "y"));
    assert_eq!((x[0], y[0], x[x.len() - 1], y[y.len() - 1]), (1.0 / 6.0, 1.0 / 6.0, 1.0, 1.0));
    let tied: Vec<(f64, f64)> =
        x.iter().copied().zip(y.iter().copied()).filter(|(x, _)| *x > 0.17 && *x < 0.5).collect();
    assert!(tied.len() > 4 && tied.iter().all(|(x, y)| (y - 1.0 / 3.0 - x * 2.0 / 3.0).abs() < 1e-9), "{tied:?}");
    assert_eq!((numbers(1, "x")[0], numbers(1, "y")[0]), (1.0 / 6.0, 1.0 / 6.0));
    // Scores that are all equal are guesses, however few positives there are.
    let many: Vec<i64> = (0..1000).map(|i| i64::from(i == 0)).collect();
    let options = map([("positives", positives(&many)), ("log_axes", Value::Bool(true))]);
    let equal = figure("plot::roc", vec![floats(&[0.5; 1000]), options]).json();
    let layer = &equal["panels"][0]["layers"][0];
    assert_eq!(layer["x"], layer["y"]);
    assert!(log.all_cautions().is_empty(), "{}", log.all_cautions().text());
    for (scores, all, told) in [
        (&[1.0, 2.0][..], &[1][..], "2 scores, and 1 `positives`"),
        (&[1.0, 2.0], &[1, 1], "needs both kinds"),
        (&[1.0, 2.0], &[1, 2], "got 2"),
        (&[1.0, f64::NAN], &[1, 0], "1 of 2 scores are not numbers"),
    ] {
        let error = refused("plot::roc", vec![floats(scores), map([("positives", positives(all))])]);
        assert!(error.to_string().contains(told), "{error}");
    }
    let words = Value::Array(["a", "b"].map(text).to_vec());
    let error = refused("plot::roc", vec![words, map([("positives", positives(&[1, 0]))])]);
    assert!(error.to_string().contains("scores must be numbers"), "{error}");
    let error = refused("plot::roc", vec![floats(&[1.0, 2.0])]);
    assert!(error.to_string().contains("`positives` must say"), "{error}");
}

#[test]
fn a_diverging_map_is_white_at_its_centre() {
    let row = |values: &[f64]| floats(values);
    let drawn = |centre: f64| {
        figure(
            "plot::heatmap",
            vec![Value::Array(vec![row(&[-1.0, 0.0, 3.0])]), map([("centre", Value::Float(centre))])],
        )
        .svg()
        .expect("it is there")
    };
    let white = Rgb(247, 247, 247);
    assert!(boxes(&drawn(0.0), white) > boxes(&drawn(-0.5), white));
}
