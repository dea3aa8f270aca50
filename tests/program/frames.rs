//! Frames of runs, kinds of input, masses and methods of experiments.

use crate::program::{command, json, object, printed, refused, run};
use crate::snapshot;
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or_else(|| panic!("{v} is not a number"))
}

#[test]
fn every_command_takes_a_frame_of_a_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::write(at.join("masses.csv"), "1\n2\n1\n3\n1\n1\n1\n2\n").expect("writable");
    let solved = json(
        at,
        "solve --init uniform --n 8 --d 2 --seed 3 --beta 9 --masses masses.csv --t-end 40 --out run --observables positions,log-energy,clusters --times 0,0.5,40",
    );
    // The last frame by name, by row and by time agrees with the result of the run, including
    // masses.
    let energy = |flags: &str| {
        number(
            &json(at, &format!("energy --from-run run {flags} --beta 9 --energy-scale unit"))["log_energy"],
        )
    };
    for flags in ["", "--frame last", "--frame 2", "--frame t=40"] {
        let gap = (energy(flags) - number(&solved["log_energy"])).abs();
        assert!(
            gap <= 16.0 * f64::EPSILON * number(&solved["log_energy"]).abs(),
            "{flags}: {gap:e}"
        );
    }
    // The first frame is the draw from the law.
    let start = json(
        at,
        "energy --init uniform --n 8 --d 2 --seed 3 --masses masses.csv --beta 9 --energy-scale unit",
    );
    assert!((energy("--frame 0") - number(&start["log_energy"])).abs() < 1e-14);
    assert_eq!(energy("--frame t=0.4").to_bits(), energy("--frame 0").to_bits());
    assert!(energy("--frame t=0.5") > energy("--frame 0"));
    assert_eq!(
        json(at, "clusters --from-run run --frame last --beta 9")["clusters"],
        solved["clusters"]
    );
    assert!(json(at, "clusters --from-run run")["mergers"].is_array());
    assert_eq!(json(at, "modes --from-run run --frame t=0 --beta 9")["space"], "circle");
    refused(at, "saddles --from-run run --frame last --beta 9", "masses: found unequal ones");
    json(at, "solve --init uniform --n 8 --d 2 --seed 3 --beta 9 --t-end 40 --out equal");
    let saddle = json(at, "saddles --from-run equal --beta 9");
    assert!(
        saddle["points"].as_array().map(Vec::len) == Some(1)
            && number(&saddle["points"][0]["residual"]) < 1e-12
    );
    assert_eq!(json(at, "entropy --from-run run --frame 0")["n"], 8);
    assert_eq!(json(at, "movie --from-run run --beta 9 --dpi 40 --out run.gif")["frames"], 3);
    let film = std::fs::read(at.join("run.gif")).expect("a film");
    assert!(
        film.starts_with(b"GIF89a")
            && json(at, "provenance run.gif")["reproduce"]
                .as_str()
                .is_some_and(|r| r.contains("movie"))
    );
    // With ffmpeg on the path, the film is written. Without it, an error says that it is missing.
    if std::process::Command::new("ffmpeg")
        .arg("-version")
        .output()
        .is_ok_and(|o| o.status.success())
    {
        assert_eq!(json(at, "movie --from-run run --beta 9 --dpi 40 --out run.mp4")["frames"], 3);
        let film = std::fs::read(at.join("run.mp4")).expect("a film");
        assert!(
            film[4..8] == *b"ftyp"
                && json(at, "provenance run.mp4")["reproduce"]
                    .as_str()
                    .is_some_and(|r| r.contains("movie"))
        );
    } else {
        refused(at, "movie --from-run run --beta 9 --dpi 40 --out run.mp4", "ffmpeg");
    }
    json(at, "movie --from-run run --beta 9 --dpi 40 --observable none --out frames/");
    assert!(at.join("frames/frame-00003.png").exists());
    // A run can start from a frame of another run.
    let on = json(at, "solve --from-run run --frame t=0.5 --beta 9 --t-end 39.5");
    let (x, y) = (&on["final_tokens"], &solved["final_tokens"]);
    for i in 0..8 {
        for c in 0..2 {
            assert!((number(&x[i][c]) - number(&y[i][c])).abs() < 1e-6, "token {i}");
        }
    }
    snapshot::refusals("frames", at, &[]);
}

const GRID: &str = "name = 'grid'\nn = 4\nd = 2\nbeta = [1, 3]\nt_end = 2\nrealisations = 2\nsamples = 5\nobservables = ['positions']\nmasses = [1, 1, 1, 5]\n";

#[test]
fn densities_have_films() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let circle = "measure --space circle --density cos:1=0.2 --beta 2 --t-end 0.5 --movie";
    let plain = json(at, "measure --space circle --density cos:1=0.2 --beta 2 --t-end 0.5");
    assert_eq!(json(at, &format!("{circle} film.gif")), plain, "a film must not change numbers");
    let film = std::fs::read(at.join("film.gif")).expect("a film");
    assert!(film.starts_with(b"GIF89a") && film.len() > 10_000);
    json(at, &format!("{circle} frames/"));
    assert_eq!(std::fs::read_dir(at.join("frames")).expect("frames").count(), 120);
    refused(
        at,
        "measure --space zonal --density cos:1=0.2 --beta 2 --t-end 0.5 --movie film.gif",
        "the circle or S^2",
    );
    refused(at, &format!("{circle} film.avi"), "--movie: found film.avi");
}

#[test]
fn cells_of_experiments_have_frames_masses_and_methods() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::write(at.join("grid.toml"), GRID).expect("writable");
    let ran = json(at, "run grid.toml");
    let path = ran["folder"].as_str().expect("a folder").to_owned();
    let id = ran["cells"][1]["cell"].as_str().expect("an id").to_owned();
    let frame = json(
        at,
        &format!("energy --from-run {path} --frame cell={},realisation=1,t=1.2 --beta 3", &id[..6]),
    );
    // The same tokens, read from the table of the cell. Row 2 of 5 is the last one up to t = 1.2.
    let table = std::fs::read_to_string(at.join(&path).join("cells").join(&id).join("table.csv"))
        .expect("a table");
    let row: Vec<f64> = table
        .lines()
        .filter(|l| l.starts_with("1,"))
        .nth(2)
        .expect("a row")
        .split(',')
        .map(|v| v.parse().expect("a number"))
        .collect();
    std::fs::write(
        at.join("x.csv"),
        row[2..].chunks(2).map(|p| format!("{},{}\n", p[0], p[1])).collect::<String>(),
    )
    .expect("writable");
    std::fs::write(at.join("m.csv"), "1\n1\n1\n5\n").expect("writable");
    let again = json(at, "energy --tokens x.csv --masses m.csv --beta 3");
    assert_eq!((row[1], &frame["energy"]), (1.0, &again["energy"]));
    assert_ne!(again["energy"], json(at, "energy --tokens x.csv --beta 3")["energy"]);
    refused(
        at,
        &format!("energy --from-run {path} --beta 3"),
        "expected cell=ID, one of 2 finished cells",
    );
    refused(
        at,
        &format!("energy --from-run {path} --frame cell={id} --beta 3"),
        "expected realisation=R",
    );
    refused(
        at,
        &format!("energy --from-run {path} --frame cell={id},realisation=7 --beta 3"),
        "a realisation from 0 to 1",
    );
    // The method is part of the key of a cell. The default is not, so that names of older results
    // stay valid.
    let plain = json(at, "run grid.toml --dry-run")["folder"].clone();
    for (more, same) in [
        ("integrator = 'dopri5'\n", false),
        ("kernel = 'direct'\n", false),
        ("max_steps = 3\n", false),
        ("title = 'other'\n", false),
        ("", true),
    ] {
        std::fs::write(at.join("other.toml"), format!("{GRID}{more}")).expect("writable");
        assert_eq!(json(at, "run other.toml --dry-run")["folder"] == plain, same, "{more}");
    }
    std::fs::write(at.join("short.toml"), format!("{GRID}max_steps = 3\nintegrator = 'dopri5'\n"))
        .expect("writable");
    let out = run(at, "run short.toml");
    assert_eq!(out.status.code(), Some(4), "a budget of three steps is spent");
    for (text, expected) in [
        ("masses = [1, 2]\n", "masses: found 2 masses, expected one for each of n = 4 tokens"),
        ("masses = [1, 2, 0, 1]\n", "masses"),
        ("integrator = 'rk4'\n", "unknown integrator `rk4`"),
        ("kernel = 'tils'\n", "unknown kernel `tils`"),
        ("kernel = 'harmonics'\n", "kernel"),
        (
            "stepper = 'layer'\nmax_steps = 4\n",
            "max_steps: only error-controlled steps have this key",
        ),
        ("accuracy = 2\n", "accuracy"),
        ("n = 5\n", "duplicate key `n`"),
    ] {
        std::fs::write(
            at.join("bad.toml"),
            format!("{}{text}", GRID.replace("masses = [1, 1, 1, 5]\n", "")),
        )
        .expect("writable");
        refused(at, "run bad.toml", expected);
    }
}

#[test]
fn many_small_cells_share_one_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::write(
        at.join("many.toml"),
        "name='many'\nn=[3,4]\nd=2\nbeta='0.5..2:lin20'\nt_end=0.2\nsamples=3\nobservables=['inner-range']\n",
    )
    .expect("writable");
    let ran = json(at, "run many.toml");
    let top = at.join(ran["folder"].as_str().expect("a folder"));
    let files = |p: &std::path::Path| std::fs::read_dir(p).expect("a folder").count();
    assert_eq!((files(&top.join("cells")), ran["cells"].as_array().map(Vec::len)), (0, Some(40)));
    assert!(files(&top) <= 10, "{} files", files(&top));
    let table = std::fs::read_to_string(top.join("tables.csv")).expect("tables");
    let rows: Vec<&str> = table.lines().filter(|l| !l.starts_with('#')).collect();
    assert!(rows[0].starts_with("cell,realisation,t,") && rows.len() == 1 + 40 * 3, "{}", rows[0]);
    let id = ran["cells"][7]["cell"].as_str().expect("an id");
    assert_eq!(rows.iter().filter(|r| r.starts_with(id)).count(), 3);
    // Only the cell of a damaged line is run again.
    let journal = top.join("cells.jsonl");
    let text = std::fs::read_to_string(&journal).expect("a journal");
    std::fs::write(&journal, text.replacen("\"table\":\"", "\"table\":\"A", 1)).expect("writable");
    assert_eq!(json(at, "run many.toml --dry-run")["finished"], 39);
    json(at, "run many.toml");
    assert_eq!(std::fs::read_to_string(top.join("tables.csv")).expect("tables"), table);
}

/// An NPY file with two-byte numbers.
fn halves(descr: &str, shape: &str, bits: &[u16]) -> Vec<u8> {
    npy(descr, shape, &bits.iter().flat_map(|b| b.to_le_bytes()).collect::<Vec<u8>>())
}

/// An NPY file with these bytes.
fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(data);
    out
}

/// NumPy stores a mask as booleans, and whole numbers in one to eight bytes.
#[test]
fn masks_are_booleans_or_whole_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::write(at.join("x.csv"), "1,0\n0.6,0.8\n0,-1\n").expect("writable");
    let seen: [u8; 9] = [1, 0, 0, 1, 1, 0, 1, 0, 1];
    std::fs::write(at.join("m.csv"), "1,0,0\n1,1,0\n1,0,1\n").expect("writable");
    let velocity = |mask: &str| {
        json(at, &format!("velocity --tokens x.csv --beta 2 --mask {mask}"))["velocity"].clone()
    };
    let expected = velocity("m.csv");
    let wide = |bytes: usize, big: bool| -> Vec<u8> {
        let one = |v: u8| {
            let mut all = vec![0; bytes];
            all[if big { bytes - 1 } else { 0 }] = v;
            all
        };
        seen.iter().flat_map(|v| one(*v)).collect()
    };
    for (descr, data) in [
        ("|b1", seen.to_vec()),
        ("|i1", seen.to_vec()),
        ("|u1", seen.to_vec()),
        ("<u2", wide(2, false)),
        (">i2", wide(2, true)),
        ("<u4", wide(4, false)),
        (">u8", wide(8, true)),
    ] {
        std::fs::write(at.join("m.npy"), npy(descr, "(3, 3)", &data)).expect("writable");
        assert_eq!(velocity("m.npy"), expected, "{descr}");
    }
    // A byte that is neither false nor true, and a number that is neither 0 nor 1.
    let wrong: Vec<u8> = seen.iter().map(|v| 2 * v).collect();
    std::fs::write(at.join("b.npy"), npy("|b1", "(3, 3)", &wrong)).expect("writable");
    refused(at, "velocity --tokens x.csv --beta 2 --mask b.npy", "found 2 as a boolean");
    std::fs::write(at.join("i.npy"), npy("|i1", "(3, 3)", &wrong)).expect("writable");
    refused(at, "velocity --tokens x.csv --beta 2 --mask i.npy", "zeros and ones");
    let times = npy("<M8[s]", "(3, 3)", &wide(8, false));
    std::fs::write(at.join("t.npy"), times).expect("writable");
    refused(at, "velocity --tokens x.csv --beta 2 --mask t.npy", "whole numbers or booleans");
    // The order of this machine has a name; no order at all has none.
    let floats: Vec<u8> = seen.iter().flat_map(|v| f64::from(*v).to_ne_bytes()).collect();
    std::fs::write(at.join("m.npy"), npy("=f8", "(3, 3)", &floats)).expect("writable");
    assert_eq!(velocity("m.npy"), expected, "=f8");
    std::fs::write(at.join("f.npy"), npy("|f8", "(3, 3)", &floats)).expect("writable");
    refused(at, "velocity --tokens x.csv --beta 2 --mask f.npy", "element type |f8");
}

#[test]
fn short_floats_pipes_and_layers() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    // (0.6, 0.8), (1, 0) and (-0.8, 0.6) in float16 and bfloat16: unit vectors up to the rounding
    // of these types.
    let half: [u16; 6] = [0x38cd, 0x3a66, 0x3c00, 0, 0xba66, 0x38cd];
    let brain: [u16; 6] = [0x3f1a, 0x3f4d, 0x3f80, 0, 0xbf4d, 0x3f1a];
    std::fs::write(at.join("exact.csv"), "0.6,0.8\n1,0\n-0.8,0.6\n").expect("writable");
    let exact = number(&json(at, "energy --tokens exact.csv --beta 2")["energy"]);
    for (name, descr, bits, roundoff) in
        [("f2", "<f2", half, 2f64.powi(-11)), ("bf", "|V2", brain, 2f64.powi(-8))]
    {
        std::fs::write(at.join(format!("{name}.npy")), halves(descr, "(3, 2)", &bits))
            .expect("writable");
        let found = number(&json(at, &format!("energy --tokens {name}.npy --beta 2"))["energy"]);
        // The energy changes by at most beta times its size times the error of the inner products,
        // which is four rounding errors.
        assert!(
            (found / exact - 1.0).abs() < 2.0 * 4.0 * roundoff
                && found.to_bits() != exact.to_bits(),
            "{name}: {found} {exact}"
        );
    }
    // Rows that are not unit vectors up to the rounding of their type are refused.
    std::fs::write(at.join("long.npy"), halves("<f2", "(1, 2)", &[0x3c00, 0x3400]))
        .expect("writable");
    refused(at, "energy --tokens long.npy --beta 2", "--normalise");
    std::fs::write(at.join("torn.npy"), &halves("<f2", "(3, 2)", &half)[..130]).expect("writable");
    refused(at, "energy --tokens torn.npy --beta 2", "truncated");
    // Layers are chosen by number. Without a number, the error names the flag.
    std::fs::write(at.join("layers.npy"), halves("<f2", "(3, 1, 2)", &half)).expect("writable");
    assert_eq!(json(at, "velocity --tokens layers.npy --frame 1 --beta 2")["n"], 1);
    refused(
        at,
        "velocity --tokens layers.npy --beta 2",
        "expected a layer with --frame, from 0 to 2",
    );
    refused(at, "velocity --tokens layers.npy --frame 3 --beta 2", "a layer from 0 to 2");
    // Standard input and a pipe.
    let mut child = command(at, "energy --tokens - --beta 2 --format json")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    child.stdin.take().expect("a pipe").write_all(b"0.6 0.8\n1 0\n-0.8 0.6\n").expect("written");
    let out = child.wait_with_output().expect("ended");
    let piped = object(&out, "energy --tokens -");
    assert_eq!(number(&piped["energy"]).to_bits(), exact.to_bits());
    std::fs::write(at.join("semi.csv"), "0,6;0,8\n1,0;0,0\n").expect("writable");
    refused(
        at,
        "energy --tokens semi.csv --beta 2",
        "which has semicolons (and perhaps decimal commas)",
    );
}

#[test]
fn criteria_of_theorems_decide_some_starts() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::write(at.join("half.csv"), "1,0,0\n0,1,0\n0,0,1\n-0.1,0.1,0.98994949366116654\n")
        .expect("writable");
    let decided = json(at, "certify start --criteria --tokens half.csv --beta 4");
    let margin = number(&decided["hemisphere"]["margin"]);
    assert!(decided["decided"] == true && margin > 0.3, "{decided}");
    // The margin holds for all given tokens.
    let w: Vec<f64> =
        decided["hemisphere"]["w"].as_array().expect("a vector").iter().map(number).collect();
    for row in
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-0.1, 0.1, 0.989_949_493_661_166_5]]
    {
        assert!(row.iter().zip(&w).map(|(a, b)| a * b).sum::<f64>() >= margin - 1e-15);
    }
    let undecided =
        run(at, "certify start --criteria --init polygon --n 5 --d 2 --beta 4 --format json");
    let answer: Value = serde_json::from_slice(&undecided.stdout).expect("JSON");
    assert!(
        undecided.status.code() == Some(3)
            && answer["decided"] == false
            && answer["at_rest"] == true,
        "{answer}"
    );
    refused(
        at,
        "certify start --criteria --tokens half.csv --beta 4 --dynamics repulsive-sa",
        "--dynamics",
    );
}

#[test]
fn text_is_short_and_csv_is_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let text = |arguments: &str| String::from_utf8(run(at, arguments).stdout).expect("text");
    let solve = "solve --init uniform --n 20 --d 12 --beta 1 --t-end 0.1";
    let short = text(solve);
    assert!(
        short.contains("... and 12 more (--all-digits, --format csv)")
            && short.lines().all(|l| l.len() < 160),
        "{short}"
    );
    assert_eq!(
        text(&format!("{solve} --all-digits")).lines().filter(|l| l.contains("mass")).count(),
        20
    );
    let csv = text(&format!("{solve} --format csv"));
    let rows: Vec<&str> = csv.lines().filter(|l| !l.starts_with('#')).collect();
    assert!(
        rows[0].starts_with("final_tokens_0,final_tokens_1,") && rows.len() == 21,
        "{}",
        rows[0]
    );
    assert!(
        csv.contains("# outcome: reached")
            && rows[1].split(',').next().is_some_and(|v| v.parse::<f64>().is_ok())
    );
    assert!(text("energy --init uniform --n 3 --d 2 --beta 400").lines().all(|l| l.len() < 80));
    assert!(text("list laws --format csv").starts_with("name,summary\n"));
}

/// Only lists that belong together are columns, also where other lists have the same length.
#[test]
fn csv_has_the_columns_of_one_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let csv = |arguments: &str| printed(at, &format!("{arguments} --format csv"));
    let head = |arguments: &str| {
        let csv = csv(arguments);
        csv.lines().find(|l| !l.starts_with('#')).expect("a table").to_owned()
    };
    // There are three tokens and three orbits.
    let orbits = head("landscape --n 3 --beta 2");
    assert!(orbits.starts_with("clusters,"), "{orbits}");
    assert_eq!(orbits, head("landscape --n 4 --beta 2"));
    // Each token is a cluster.
    assert_eq!(
        head("clusters --init uniform --n 3 --d 2 --linking-distance 1e-9"),
        "sizes,masses,centres_0,centres_1,radii"
    );
    assert_eq!(
        head("solve --init uniform --n 3 --d 2 --beta 1 --t-end 0.1"),
        "final_tokens_0,final_tokens_1,final_masses,labels"
    );
    assert_eq!(head("predict gamma --n 4 --beta 1 --times 1,2"), "gamma,gamma_error,times");
    // What is not printed is named, and no line of a text stands outside a comment.
    let landscape = csv("landscape --n 3 --beta 2");
    assert!(landscape.contains("# only with --format json: masses, "), "{landscape}");
    let text = csv("explain wendel");
    assert_eq!(text.lines().find(|l| !l.starts_with('#')), Some("kind,text"), "{text}");
}

/// The reasons that `entropy` gives: too few tokens, tokens that coincide.
#[test]
fn entropy_names_the_reason_of_a_missing_estimate() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let write = |name: &str, text: &str| std::fs::write(at.join(name), text).expect("writable");
    write("one.csv", "1,0\n");
    refused(at, "entropy --tokens one.csv", "tokens: found 1 token, expected at least two");
    write("three.csv", "1,0\n0.6,0.8\n0,-1\n");
    refused(
        at,
        "entropy --tokens three.csv",
        "--neighbours: found 3, expected a number from 1 to 2: each of 3 tokens has 2 others",
    );
    let ring: String = (0..40)
        .map(|k| {
            let a = 0.1 * f64::from(k * k % 61);
            format!("{},{}\n", a.cos(), a.sin())
        })
        .collect();
    let copies = "0.6,0.8\n".repeat(4);
    write("copies.csv", &format!("{ring}{copies}"));
    let out = run(at, "entropy --tokens copies.csv");
    let (text, notes) =
        (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(text.contains("infinite: tokens coincide"), "{text}");
    assert!(
        notes.contains("layer 0: 4 tokens coincide with 3 or more others")
            && !notes.contains("nearest neighbours: in 1 of 1 layers the bias"),
        "{notes}"
    );
    assert!(json(at, "entropy --tokens copies.csv")["nearest_neighbour"][0].is_null());
    // With one more neighbour no ball has volume 0.
    let out = json(at, "entropy --tokens copies.csv --neighbours 4");
    assert!(out["nearest_neighbour"][0].is_number(), "{out}");
}

/// Small slips in files, each with a hint of its own.
#[test]
fn slips_in_files_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let write = |name: &str, text: &str| std::fs::write(at.join(name), text).expect("writable");
    write("first.csv", "1,\n0.6,0.8\n");
    let call = "energy --tokens first.csv --beta 1";
    refused(at, call, "first.csv, line 1, column 2: found nothing, expected a number");
    write("last.csv", "0.6,0.8\n1,\n");
    let call = "energy --tokens last.csv --beta 1";
    refused(at, call, "last.csv, line 2, column 2: found nothing, expected a number");
    write("comma.csv", "1,0,\n0.6,0.8,\n");
    assert_eq!(json(at, "energy --tokens comma.csv --beta 1")["n"], 2);
    write("minus.csv", "\u{2212}1,0\n0.6,0.8\n");
    refused(at, "energy --tokens minus.csv --beta 1", "a typographic minus");
    // Degrees.
    write("degrees.csv", "0\n90\n180\n");
    let out = run(at, "energy --angles degrees.csv --beta 1");
    assert!(String::from_utf8_lossy(&out.stderr).contains("180 are read as radians"));
    write("radians.csv", "0\n3\n6\n");
    assert!(run(at, "energy --angles radians.csv --beta 1").stderr.is_empty());
    // TOML has hexadecimal numbers.
    let toml = |seed: &str| {
        let text = format!("name = 'a'\nn = 4\nd = 2\nbeta = 1\nt_end = 1\nseed = {seed}\n");
        write("e.toml", &text);
    };
    toml("255");
    let wanted = json(at, "run e.toml")["cells"].clone();
    toml("0xff");
    assert_eq!(json(at, "run e.toml")["cells"], wanted);
    // Times and numbers beyond the usual have exponents.
    json(at, "solve --init uniform --n 3 --d 2 --beta 1 --t-end 1e300 --out far --samples 3");
    let table = std::fs::read_to_string(at.join("far/timeline.csv")).expect("a table");
    let rows = table.lines().filter(|l| !l.starts_with('#'));
    assert!(table.contains("1e300") && rows.clone().all(|l| l.len() < 300), "{table}");
    // The probability underflows, its logarithm does not.
    let wendel = json(at, "predict wendel --n 10000000 --d 2");
    let log = wendel["log_probability"].as_f64().expect("a number");
    assert!((log / (1e7f64.ln() - 9_999_999.0 * std::f64::consts::LN_2) - 1.0).abs() < 1e-12);
}
