//! Figures: the same data give the same bytes; nothing is fetched from outside; the plotted numbers are beside them.

use std::path::Path;
use std::process::Command;

fn draw(folder: &Path, threads: &str) {
    let status = Command::new(env!("CARGO_BIN_EXE_metastable"))
        .args([
            "figure",
            "gamma-curve",
            "saddle-kernel",
            "regime-chart",
            "layer-energy",
            "metastability",
            "circle-snapshots",
            "inner-products",
        ])
        .args(["--threads", threads, "--dpi", "100"])
        .current_dir(folder)
        .output()
        .expect("runs");
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
}

#[test]
fn the_same_bytes_twice_and_nothing_from_outside() {
    let folders = [tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder")];
    draw(folders[0].path(), "1");
    draw(folders[1].path(), "3");
    let mut count = 0;
    for entry in std::fs::read_dir(folders[0].path().join("runs/figures")).expect("figures").flatten() {
        let name = entry.file_name();
        let first = std::fs::read(entry.path()).expect("written");
        let second = std::fs::read(folders[1].path().join("runs/figures").join(&name)).expect("written");
        assert!(first == second, "{name:?} differs");
        count += 1;
        let text = String::from_utf8_lossy(&first).into_owned();
        if name.to_string_lossy().ends_with(".svg") {
            let outside = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!outside.contains("http"), "{name:?} points outside");
            assert!(text.contains("data:font/ttf;base64,") && text.contains("<text"), "{name:?}: font inside, live text");
        }
        if name.to_string_lossy().ends_with(".csv") {
            assert!(text.lines().count() > 10 && text.contains("panel,mark,label,x,y,value"), "{name:?}");
        }
    }
    assert_eq!(count, 7 * 4);
}

#[test]
fn categories_stay_apart_for_colour_blind_readers() {
    // Deuteranopia (Vienot, Brettel, Mollon 1999, linearised): red and green merge; the first six categories must stay apart.
    let seen = |c: plotters::style::RGBColor| {
        let linear = |v: u8| (f64::from(v) / 255.0).powf(2.2);
        let (r, g, b) = (linear(c.0), linear(c.1), linear(c.2));
        let mixed = 0.292_75 * r + 0.707_25 * g;
        [mixed.powf(1.0 / 2.2), (-0.022_336 * r + 0.022_336 * g + b).max(0.0).powf(1.0 / 2.2)]
    };
    let shown: Vec<[f64; 2]> = metastable::draw::CATEGORIES.iter().take(6).map(|c| seen(*c)).collect();
    for i in 0..shown.len() {
        for j in 0..i {
            let gap = (shown[i][0] - shown[j][0]).hypot(shown[i][1] - shown[j][1]);
            assert!(gap > 0.08, "categories {i} and {j} are {gap} apart");
        }
    }
}
