//! Axes and legends.

use metastable::draw::{Axis, legend_rows};

#[test]
fn many_decades_have_round_labels_and_few_short_ticks() {
    let ticks = Axis::log("t", 1e-1, 1e138).ticks(8);
    let labels: Vec<&str> = ticks.major.iter().map(|t| t.1.as_str()).collect();
    assert_eq!(
        labels,
        [
            "10\u{2070}",
            "10\u{b2}\u{2070}",
            "10\u{2074}\u{2070}",
            "10\u{2076}\u{2070}",
            "10\u{2078}\u{2070}",
            "10\u{b9}\u{2070}\u{2070}",
            "10\u{b9}\u{b2}\u{2070}"
        ]
    );
    // Every fifth decade from 1 to 1e135.
    assert_eq!(ticks.minor.len(), 28);
    // At least three labels, even if fewer are asked for.
    for (low, high) in [(1e-1, 1e138), (1e-2, 1e5), (0.03, 7e7), (1e-300, 1e300), (2e3, 9e17)] {
        for most in 1..9 {
            let ticks = Axis::log("t", low, high).ticks(most);
            assert!(
                (3..=most.max(3)).contains(&ticks.major.len()),
                "{low} to {high}, {most}: {:?}",
                ticks.major
            );
            assert!(ticks.minor.len() <= 100, "{low} to {high}: {} short ticks", ticks.minor.len());
        }
    }
}

#[test]
fn a_blank_axis_has_positions_and_no_ticks() {
    let axis = Axis::blank();
    assert!(
        (axis.position(0.25) - 0.25).abs() < 1e-15
            && axis.ticks(8).major.is_empty()
            && axis.ticks(8).minor.is_empty()
    );
}

#[test]
fn legend_entries_are_aligned_in_columns() {
    let rows = |widths: &[f64], room: f64| {
        legend_rows(widths, 8.0, room).iter().map(Vec::len).collect::<Vec<_>>()
    };
    assert_eq!(rows(&[48.0, 50.0, 50.0, 50.0, 50.0, 50.0], 227.0), [3, 3]);
    assert_eq!(rows(&[48.0, 50.0, 50.0, 50.0, 50.0], 227.0), [3, 2]);
    // One long name would widen all columns: here the entries follow each other without columns.
    assert_eq!(rows(&[150.0, 30.0, 30.0], 230.0), [3]);
    assert_eq!(rows(&[300.0], 230.0), [1]);
    let last = legend_rows(&[48.0, 50.0, 50.0, 50.0], 8.0, 120.0);
    assert!(last.iter().all(|row| (row[1].0 - 58.0).abs() < 1e-12), "{last:?}");
}

#[test]
fn whole_powers_are_superscripts() {
    let shown = metastable::draw::with_powers;
    assert_eq!(shown("s^2 + 3*s^12"), "s\u{b2} + 3*s\u{b9}\u{b2}");
    // Other exponents stay as they are written.
    for text in ["s^2.5", "e^(2*s)", "s^p", "s", "", "^"] {
        assert_eq!(shown(text), text);
    }
}
