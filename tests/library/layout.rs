//! The layout of every figure at three widths. Text overlaps no other text, marker, line or border,
//! nothing leaves the sheet, and every series is visible.

use metastable::draw::{
    Mark, Outline, Picture, Rect, Scene, Shape, ShapeRole, Sheet, Size, Theme, layout,
};
use metastable::flow::sa_fit::fit_sa;
use metastable::lab::{Experiment, arrays, run};
use metastable::num::deviation::largest;
use metastable::num::stats::{nan_max, nan_min};
use metastable::paper_figs::{ALL, Inputs, PaperFigure};
use metastable::sphere::Tokens;
use metastable::study::{self, Values};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Indices of a pixel, a square of half a point.
type Pixel = (i32, i32);
/// Red, green and blue.
type Colour = (u8, u8, u8);

/// A thinned table of a study (see tests/data/ORIGIN.md).
fn table(path: &Path) -> metastable::lab::LabelledTable {
    arrays::labelled_table(path).expect("a table of the tests")
}

fn tables(figure: &PaperFigure) -> study::Tables {
    let Some(part) = figure.study else { return Vec::new() };
    let own = study::ALL
        .iter()
        .find(|s| s.parts.iter().any(|p| std::ptr::eq(*p, part)))
        .expect("a study of this part");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/figures").join(own.name);
    let Ok(files) = std::fs::read_dir(folder) else {
        // A study without stored tables takes less than a second.
        return (part.run)(&Values::defaults(part.parameters)).expect("runs");
    };
    files
        .flatten()
        .map(|f| f.path())
        .map(|f| (f.file_stem().expect("a name").to_string_lossy().into_owned(), table(&f)))
        .collect()
}

/// The results of an experiment. The largest experiment is reduced to fewer cells and realisations.
fn results(name: &str, folder: &Path) -> metastable::paper_figs::Results {
    let mut experiment = Experiment::built_in(name).expect("built in");
    if experiment.size().is_some_and(|s| s > 50) {
        experiment.beta.retain(|b| (b * 10.0).round() as i64 % 8 == 1);
        experiment.realisations = 1;
    }
    run::run(&experiment, folder, &AtomicBool::new(false), &()).expect("runs");
    run::results(&experiment, folder).expect("results")
}

fn picture(figure: &PaperFigure) -> Picture {
    let folder = tempfile::tempdir().expect("a folder");
    let mut inputs = Inputs {
        values: Values::defaults(figure.all_parameters()),
        tables: tables(figure),
        ..Inputs::default()
    };
    inputs.results = figure.experiments.iter().map(|e| results(e, folder.path())).collect();
    if figure.needs_hidden_states {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/minilm_hidden_states.npz");
        let states = arrays::read(&path, Some("hidden_states")).expect("hidden states");
        let (n, d) = (states.shape[1], states.shape[2]);
        let layers = states
            .data
            .chunks(n * d)
            .map(|l| Tokens::normalised(d, l.to_vec()).expect("directions"))
            .collect();
        inputs.hidden = Some(fit_sa(layers, None).expect("compares"));
    }
    (figure.draw)(&inputs).unwrap_or_else(|e| panic!("{}: {e}", figure.name))
}

fn sheets() -> impl Iterator<Item = (f64, Sheet)> {
    [84.0, 130.0, 183.0]
        .into_iter()
        .map(|width| (width, Sheet::from(Size::Custom { width, height: None })))
}

/// Whether a shape touches a box. The interior of a border does not count.
fn touches(shape: &Shape, r: &Rect) -> bool {
    match &shape.form {
        Outline::Path(points) => points.windows(2).any(|s| r.clip(s[0], s[1]).is_some()),
        Outline::Polygon(points) => {
            points.iter().zip(points.iter().cycle().skip(1)).any(|(a, b)| r.clip(*a, *b).is_some())
        }
        Outline::Disc(c, radius) => {
            let gap = (c.0 - c.0.clamp(r.left, r.right)).hypot(c.1 - c.1.clamp(r.top, r.bottom));
            let farthest =
                [(r.left, r.top), (r.right, r.top), (r.left, r.bottom), (r.right, r.bottom)]
                    .iter()
                    .map(|p| (p.0 - c.0).hypot(p.1 - c.1))
                    .fold(0.0, nan_max);
            gap <= *radius && (shape.role != ShapeRole::Border || farthest >= *radius)
        }
        Outline::Box(b) => b.meets(r),
    }
}

fn check_text(scene: &Scene, about: &str, wrong: &mut Vec<String>) {
    let sheet = Rect { left: 0.0, top: 0.0, right: scene.width, bottom: scene.height };
    let boxes: Vec<(&str, Rect)> =
        scene.panels.iter().flat_map(|p| &p.texts).map(|t| (t.text.as_str(), t.bounds())).collect();
    for (k, (text, r)) in boxes.iter().enumerate() {
        if !sheet.holds(r) {
            wrong.push(format!("{about}: `{text}` leaves the sheet: {r:?} of {sheet:?}"));
        }
        for (other, o) in &boxes[..k] {
            if r.meets(o) {
                wrong.push(format!("{about}: `{text}` meets `{other}`"));
            }
        }
    }
    for panel in &scene.panels {
        for text in &panel.texts {
            let r = text.bounds();
            let met = panel
                .shapes
                .iter()
                .filter(|s| !matches!(s.role, ShapeRole::Raster))
                .find(|s| touches(s, &r));
            wrong.extend(met.map(|met| format!("{about}: `{}` meets {met:?}", text.text)));
        }
    }
}

/// Calls a function for the pixels that a shape covers.
fn for_each_pixel(shape: &Shape, mut pixel: impl FnMut((i32, i32))) {
    let mut spot = |x: f64, y: f64| pixel(((2.0 * x).floor() as i32, (2.0 * y).floor() as i32));
    let mut segment = |a: (f64, f64), b: (f64, f64)| {
        let pieces = (4.0 * (b.0 - a.0).hypot(b.1 - a.1)).ceil().max(1.0);
        (0..=pieces as usize)
            .map(|k| k as f64 / pieces)
            .for_each(|s| spot(a.0 + s * (b.0 - a.0), a.1 + s * (b.1 - a.1)));
    };
    match &shape.form {
        Outline::Path(points) => points.windows(2).for_each(|s| segment(s[0], s[1])),
        Outline::Polygon(points) => {
            points.iter().zip(points.iter().cycle().skip(1)).for_each(|(a, b)| segment(*a, *b))
        }
        Outline::Disc(c, r) => {
            let ring: Vec<(f64, f64)> = (0..=24)
                .map(|k| (f64::from(k) * 0.2618).sin_cos())
                .map(|(s, k)| (c.0 + r * k, c.1 + r * s))
                .collect();
            ring.windows(2).for_each(|s| segment(s[0], s[1]));
            if shape.stroke.is_none() {
                let inner = (*r * 2.0).ceil() as i32;
                (-inner..=inner).for_each(|k| {
                    let y = f64::from(k) / 2.0;
                    let half = (r * r - y * y).max(0.0).sqrt();
                    segment((c.0 - half, c.1 + y), (c.0 + half, c.1 + y));
                });
            }
        }
        Outline::Box(r) => {
            let rows = (2.0 * r.height()).ceil().max(1.0) as i32;
            (0..rows)
                .map(|k| r.top + 0.25 + f64::from(k) / 2.0)
                .filter(|y| *y < r.bottom)
                .for_each(|y| segment((r.left, y), (r.right, y)));
        }
    }
}

/// After everything is drawn, every series keeps at least 5 % of its pixels in its own colour.
fn check_visible(picture: &Picture, scene: &Scene, about: &str, wrong: &mut Vec<String>) {
    for (panel, laid) in picture.panels.iter().zip(&scene.panels) {
        let mut last: HashMap<Pixel, Colour> = HashMap::new();
        // Pixels and colours of every mark; a filled histogram has two colours.
        let mut own: HashMap<usize, (HashSet<Pixel>, HashSet<Colour>)> = HashMap::new();
        for shape in &laid.shapes {
            let colour = (shape.colour.0, shape.colour.1, shape.colour.2);
            for_each_pixel(shape, |pixel| {
                last.insert(pixel, colour);
                if let ShapeRole::Curve(k) | ShapeRole::Marker(k) = shape.role {
                    let entry = own.entry(k).or_default();
                    entry.1.insert(colour);
                    entry.0.insert(pixel);
                }
            });
        }
        for (k, mark) in panel.marks.iter().enumerate() {
            let label = match mark {
                Mark::Line { label, .. }
                | Mark::Points { label, .. }
                | Mark::Steps { label, .. }
                    if !label.is_empty() =>
                {
                    label
                }
                _ => continue,
            };
            let Some((pixels, colours)) = own.get(&k) else {
                wrong.push(format!("{about}: `{label}` is not drawn"));
                continue;
            };
            let visible =
                pixels.iter().filter(|c| last.get(*c).is_some_and(|h| colours.contains(h))).count();
            if 20 * visible < pixels.len() {
                wrong.push(format!(
                    "{about}: `{label}` shows {visible} of its {} pixels",
                    pixels.len()
                ));
            }
        }
    }
}

/// No marker is outside the axes, where it would not be drawn.
fn check_inside(picture: &Picture, about: &str, wrong: &mut Vec<String>) {
    for panel in &picture.panels {
        for mark in &panel.marks {
            let Mark::Points { points, label, .. } = mark else { continue };
            for p in points.iter().filter(|p| p.0.is_finite() && p.1.is_finite()) {
                let places = [panel.x.position(p.0), panel.y.position(p.1)];
                let inside = places.iter().all(|s| (-1e-9..=1.0 + 1e-9).contains(s));
                if !inside {
                    wrong.push(format!(
                        "{about}: `{label}` of `{}` has {p:?} outside the axes",
                        panel.title
                    ));
                }
            }
        }
    }
}

#[test]
fn text_overlaps_nothing_and_series_are_visible_at_every_width() {
    let found = ALL.par_iter().map(|figure| {
        let mut wrong = Vec::new();
        let picture = picture(figure);
        check_inside(&picture, figure.name, &mut wrong);
        for (width, sheet) in sheets() {
            let scene = layout(&picture, &sheet).expect("laid out");
            let about = format!("{} at {width} mm", figure.name);
            check_text(&scene, &about, &mut wrong);
            check_visible(&picture, &scene, &about, &mut wrong);
            assert!(
                scene.height < 2.4 * scene.width.max(250.0),
                "{about}: {} points high",
                scene.height
            );
            // Logarithmic axes have at least three labels.
            for panel in &picture.panels {
                for axis in [&panel.x, &panel.y]
                    .into_iter()
                    .filter(|a| a.scale == metastable::draw::Scale::Log)
                {
                    let inside = |v: f64| (-1e-9..=1.0 + 1e-9).contains(&axis.position(v));
                    let count = axis.ticks(1).major.iter().filter(|t| inside(t.0)).count();
                    assert!(count >= 3, "{about}: {count} labels on {axis:?}");
                }
            }
        }
        wrong
    });
    let wrong = found.flatten().collect::<Vec<_>>();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn named(name: &str) -> Picture {
    picture(ALL.iter().find(|f| f.name == name).expect("registered"))
}

/// Distance of a point from a box.
fn gap(r: &Rect, p: (f64, f64)) -> f64 {
    (p.0 - p.0.clamp(r.left, r.right)).hypot(p.1 - p.1.clamp(r.top, r.bottom))
}

#[test]
fn labels_are_nearer_to_their_own_points_than_to_others() {
    let picture = named("connections");
    let text = |m: &Mark| if let Mark::Text { text, .. } = m { Some(text.clone()) } else { None };
    let names: Vec<String> = picture.panels[0].marks.iter().filter_map(text).collect();
    for sheet in sheets().map(|s| s.1).chain([Sheet::from(Size::Nature1)]) {
        let scene = layout(&picture, &sheet).expect("laid out");
        let panel = &scene.panels[0];
        let disc = |s: &Shape| {
            if let (Outline::Disc(c, _), ShapeRole::Marker(_)) = (&s.form, s.role) {
                Some(*c)
            } else {
                None
            }
        };
        let points: Vec<(f64, f64)> = panel.shapes.iter().filter_map(disc).collect();
        assert!(
            names.len() > 4 && points.len() == names.len(),
            "{} labels of {} points",
            names.len(),
            points.len()
        );
        for (k, name) in names.iter().enumerate() {
            let r = panel.texts.iter().find(|t| t.text == *name).expect("a label").bounds();
            let own = gap(&r, points[k]);
            let other = points
                .iter()
                .enumerate()
                .filter(|(j, _)| *j != k)
                .map(|(_, p)| gap(&r, *p))
                .fold(f64::INFINITY, nan_min);
            assert!(
                own < other,
                "`{name}` at {} pt: {own} from its own point, {other} from another",
                sheet.width
            );
        }
        // A legend explains solid and dotted lines.
        let has_text = |words: &str| panel.texts.iter().any(|t| t.text == words);
        assert!(
            has_text("one unstable direction fewer") && has_text("two or more fewer"),
            "no legend"
        );
    }
}

#[test]
fn figures_fit_one_column_of_a_journal() {
    for name in ["staircase", "circle-snapshots", "merging-times", "gamma-curve", "metastability"] {
        let picture = named(name);
        let scene = layout(&picture, &Sheet::from(Size::Nature1)).expect("laid out");
        let mut heights = Vec::new();
        for (k, (panel, laid)) in picture.panels.iter().zip(&scene.panels).enumerate() {
            let title = format!("({}) {}", char::from(b'a' + k as u8), panel.title);
            let line = laid.texts.iter().find(|t| t.text == title);
            heights
                .push(line.unwrap_or_else(|| panic!("{name}: the title `{title}` is broken")).at.1);
            let upright = laid.texts.iter().filter(|t| t.upwards).count();
            assert!(
                upright <= 1,
                "{name}: the label `{}` is broken into {upright} lines",
                panel.y.label
            );
        }
        // Titles of the panels in a row have the same height.
        for pair in heights.windows(2) {
            let apart = (pair[1] - pair[0]).abs();
            assert!(!(1e-6..=30.0).contains(&apart), "{name}: titles {apart} points apart");
        }
    }
    // The curves of the staircase end within its axes, and the rows of its legend have the same
    // number of entries.
    let picture = named("staircase");
    let panel = &picture.panels[1];
    let places = panel.marks.iter().flat_map(|m| match m {
        Mark::Line { points, .. } => points.iter().map(|p| p.0).collect::<Vec<f64>>(),
        _ => Vec::new(),
    });
    let (last, end) = (largest(places), panel.x.high);
    assert!(0.0 < last && last <= end * (1.0 + 1e-9), "curves to {last:e} in a panel to {end:e}");
    let scene = layout(&picture, &Sheet::from(Size::Nature1)).expect("laid out");
    let entries: Vec<f64> = scene.panels[0]
        .texts
        .iter()
        .filter(|t| t.text.starts_with("\u{3b2} = "))
        .map(|t| t.at.1)
        .collect();
    let row = |y: f64| entries.iter().filter(|e| (**e - y).abs() < 1e-6).count();
    assert!(
        entries.len() == 6 && entries.iter().all(|y| row(*y) == row(entries[0])),
        "{entries:?}"
    );
}

#[test]
fn data_fill_their_axes() {
    for (name, at_least) in [("hessian-spectrum", 0.66), ("metastability", 0.6)] {
        for panel in &named(name).panels {
            let places = panel.marks.iter().flat_map(|m| match m {
                Mark::Line { points, .. } => points
                    .iter()
                    .filter(|p| p.1.is_finite())
                    .map(|p| panel.y.position(p.1))
                    .collect(),
                _ => Vec::new(),
            });
            let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), s| {
                (nan_min(l, s), nan_max(h, s))
            });
            assert!(
                high - low > at_least && low > -1e-9 && high < 1.0 + 1e-9,
                "{name}, `{}`: {low} to {high}",
                panel.title
            );
        }
    }
}

/// For every d the bands of the theorems cover the chart up to its top. Bands begin and end between
/// integers d.
#[test]
fn the_bands_of_the_regime_chart_cover_it() {
    let panel = &named("regime-chart").panels[0];
    let bands: Vec<(&Vec<f64>, &Vec<f64>)> = panel
        .marks
        .iter()
        .filter_map(|m| {
            if let Mark::Steps { edges, values, filled: true, .. } = m {
                Some((edges, values))
            } else {
                None
            }
        })
        .collect();
    assert!(
        bands
            .iter()
            .all(|(edges, _)| edges.iter().all(|e| ((e - 0.5) - (e - 0.5).round()).abs() < 1e-12))
    );
    let top = |d: usize| {
        let over = |(edges, values): &(&Vec<f64>, &Vec<f64>)| {
            edges.windows(2).position(|e| (e[0]..e[1]).contains(&(d as f64))).map(|k| values[k])
        };
        bands.iter().filter_map(over).collect::<Vec<_>>()
    };
    for d in 2..=8 {
        let tops = top(d);
        assert!(
            tops.len() == 3 && tops[0] >= panel.y.high && tops.windows(2).all(|t| t[1] < t[0]),
            "d = {d}: {tops:?}"
        );
    }
}

#[test]
fn text_overlaps_nothing_in_other_themes_fonts_and_heights() {
    let figure = ALL.iter().find(|f| f.name == "gamma-curve").expect("registered");
    let (picture, mut wrong) = (picture(figure), Vec::new());
    for theme in [Theme::Slides, Theme::Dark] {
        for (width, sheet) in sheets() {
            let scene = layout(&picture, &sheet.with_theme(theme)).expect("laid out");
            check_text(&scene, &format!("{theme:?} at {width} mm"), &mut wrong);
            check_visible(&picture, &scene, &format!("{theme:?} at {width} mm"), &mut wrong);
        }
    }
    for (width, height, font) in [(84.0, 60.0, 6.0), (130.0, 60.0, 8.0), (130.0, 150.0, 11.0)] {
        let sheet = Sheet { font, ..Sheet::from(Size::Custom { width, height: Some(height) }) };
        let scene = layout(&picture, &sheet).expect("laid out");
        assert!(
            (scene.height - height / 25.4 * 72.0).abs() < 1e-9,
            "{} points for {height} mm",
            scene.height
        );
        check_text(&scene, &format!("{width} x {height} mm at {font} pt"), &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let low = Sheet::from(Size::Custom { width: 84.0, height: Some(20.0) });
    assert!(
        layout(&picture, &low).is_err(),
        "two panels, one below the other, must not fit in 20 mm"
    );
}
