//! Frames of runs, kinds of input, masses and methods of experiments.

use crate::program::{Place, command, entries, items, number, numbers, object, rows, text, words};
use crate::snapshot;
use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn every_command_takes_a_frame_of_a_run() {
    let at = Place::with(&[("masses.csv", "1\n2\n1\n3\n1\n1\n1\n2\n")]);
    let start = "--init uniform --n 8 --d 2 --seed 3 --beta 9";
    let observed = "--observables positions,log-energy,clusters --times 0,0.5,40 --out run";
    let solved = at.json(&format!("solve {start} --masses masses.csv --t-end 40 {observed}"));
    let log_energy =
        |call: &str| number(&at.json(&format!("energy {call} --energy-scale unit"))["log_energy"]);
    let energy = |flags: &str| log_energy(&format!("--from-run run {flags} --beta 9"));
    // The last frame by name, by row and by time agrees with the result of the run, including
    // masses.
    let last = number(&solved["log_energy"]);
    for flags in ["", "--frame last", "--frame 2", "--frame t=40"] {
        let gap = (energy(flags) - last).abs();
        assert!(gap <= 16.0 * f64::EPSILON * last.abs(), "{flags}: {gap:e}");
    }
    // The first frame is the draw from the law.
    let drawn = log_energy(&format!("{start} --masses masses.csv"));
    assert!((energy("--frame 0") - drawn).abs() < 1e-14);
    assert_eq!(energy("--frame t=0.4").to_bits(), energy("--frame 0").to_bits());
    assert!(energy("--frame t=0.5") > energy("--frame 0"));
    let clusters = at.json("clusters --from-run run --frame last --beta 9");
    assert_eq!(clusters["clusters"], solved["clusters"]);
    assert!(at.json("clusters --from-run run")["mergers"].is_array());
    assert_eq!(at.json("modes --from-run run --frame t=0 --beta 9")["space"], "circle");
    at.refused("saddles --from-run run --frame last --beta 9", "masses: found unequal ones");
    at.json(&format!("solve {start} --t-end 40 --out equal"));
    let saddle = at.json("saddles --from-run equal --beta 9");
    let [point] = items(&saddle["points"]) else { panic!("{saddle}") };
    assert!(number(&point["residual"]) < 1e-12, "{point}");
    assert_eq!(at.json("entropy --from-run run --frame 0")["n"], 8);
    // With ffmpeg on the path, a film of two kinds is written. Without it, an error says that it is
    // missing.
    let movie = "movie --from-run run --beta 9 --dpi 40 --out";
    let tool = Command::new("ffmpeg").arg("-version").output();
    let has_tool = tool.is_ok_and(|o| o.status.success());
    for (name, magic, place) in [("run.gif", "GIF89a", 0), ("run.mp4", "ftyp", 4)] {
        if name == "run.mp4" && !has_tool {
            at.refused(&format!("{movie} {name}"), "ffmpeg");
            continue;
        }
        assert_eq!(at.json(&format!("{movie} {name}"))["frames"], 3);
        let film = std::fs::read(at.join(name)).expect("a film");
        assert!(film[place..].starts_with(magic.as_bytes()), "{name}");
        let block = at.json(&format!("explain {name}"));
        assert!(words(&block["reproduce"]).contains("movie"), "{block}");
    }
    at.json(&format!("{movie} frames/ --observable none"));
    assert!(at.join("frames/frame-00003.png").exists());
    // A run can start from a frame of another run.
    let on = at.json("solve --from-run run --frame t=0.5 --beta 9 --t-end 39.5");
    let [x, y] = [&on, &solved].map(|run| numbers(&run["final_tokens"]));
    assert!(x.len() == 16 && x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-6), "{x:?} {y:?}");
    snapshot::refusals("frames", &at, &[]);
}

#[test]
fn densities_have_films() {
    let at = Place::with(&[]);
    let measure = |space: &str, more: &str| {
        format!("measure --space {space} --density cos:1=0.2 --beta 2 --t-end 0.5 {more}")
    };
    let plain = at.json(&measure("circle", ""));
    let filmed = at.json(&measure("circle", "--movie film.gif"));
    assert_eq!(filmed, plain, "a film must not change numbers");
    let film = std::fs::read(at.join("film.gif")).expect("a film");
    assert!(film.starts_with(b"GIF89a") && film.len() > 10_000);
    at.json(&measure("circle", "--movie frames/"));
    assert_eq!(entries(&at.join("frames")).len(), 120);
    at.refused(&measure("zonal", "--movie film.gif"), "the circle or S^2");
    at.refused(&measure("circle", "--movie film.avi"), "--movie: found film.avi");
}

const GRID: &str = "name = 'grid'\nn = 4\nd = 2\nbeta = [1, 3]\nt_end = 2\nrealisations = 2\nsamples = 5\nobservables = ['positions']\n";

#[test]
fn cells_of_experiments_have_frames_masses_and_methods() {
    let at = Place::with(&[("m.csv", "1\n1\n1\n5\n")]);
    let grid = format!("{GRID}masses = [1, 1, 1, 5]\n");
    at.write("grid.toml", &grid);
    let ran = at.json("run grid.toml");
    let (path, id) = (words(&ran["folder"]), words(&ran["cells"][1]["cell"]));
    let call = |frame: &str| format!("energy --beta 3 --from-run {path} {frame}");
    let frame = at.json(&call(&format!("--frame cell={},realisation=1,t=1.2", &id[..6])));
    // The same tokens, read from the table of the cell. Row 2 of 5 is the last one up to t = 1.2.
    let table = at.read(format!("{path}/cells/{id}/table.csv"));
    let row = table.lines().filter(|l| l.starts_with("1,")).nth(2).expect("a row");
    let row: Vec<&str> = row.split(',').collect();
    at.write("x.csv", row[2..].chunks(2).map(|p| p.join(",") + "\n").collect::<String>());
    let again = at.json("energy --tokens x.csv --masses m.csv --beta 3");
    assert!(row[1].parse::<f64>() == Ok(1.0) && frame["energy"] == again["energy"], "{again}");
    assert_ne!(again["energy"], at.json("energy --tokens x.csv --beta 3")["energy"]);
    for (frame, why) in [
        ("", "expected cell=ID, one of 2 finished cells"),
        (&format!("--frame cell={id}"), "expected realisation=R"),
        (&format!("--frame cell={id},realisation=7"), "a realisation from 0 to 1"),
    ] {
        at.refused(&call(frame), why);
    }
    // The method is part of the key of a cell. The default is not, so that names of older results
    // stay valid.
    let with = |more: &str| {
        at.write("other.toml", format!("{grid}{more}"));
        "run other.toml"
    };
    for (more, same) in [
        ("integrator = 'dopri5'\n", false),
        ("kernel = 'direct'\n", false),
        ("max_steps = 3\n", false),
        ("title = 'other'\n", false),
        ("", true),
    ] {
        let other = at.json(&format!("{} --dry-run", with(more)));
        assert_eq!(other["folder"] == ran["folder"], same, "{more}");
    }
    let out = at.run(with("max_steps = 3\nintegrator = 'dopri5'\n"));
    assert_eq!(out.status.code(), Some(4), "a budget of three steps is spent");
    for (text, expected) in [
        ("masses = [1, 2]\n", "masses: found 2 masses, expected one for each of n = 4 tokens"),
        ("masses = [1, 2, 0, 1]\n", "masses"),
        ("integrator = 'rk4'\n", "unknown integrator `rk4`"),
        ("kernel = 'tils'\n", "unknown kernel `tils`"),
        ("kernel = 'harmonics'\n", "kernel"),
        ("stepper = 'layer'\nmax_steps = 4\n", "max_steps: only error-controlled steps"),
        ("accuracy = 2\n", "accuracy"),
        ("n = 5\n", "duplicate key `n`"),
    ] {
        at.write("bad.toml", format!("{GRID}{text}"));
        at.refused("run bad.toml", expected);
    }
}

#[test]
fn many_small_cells_share_one_table() {
    let at = Place::with(&[(
        "many.toml",
        "name='many'\nn=[3,4]\nd=2\nbeta='0.5..2:lin20'\nt_end=0.2\nsamples=3\nobservables=['inner-range']\n",
    )]);
    let ran = at.json("run many.toml");
    let top = at.results(&ran);
    assert_eq!((entries(&top.join("cells")).len(), items(&ran["cells"]).len()), (0, 40));
    assert!(entries(&top).len() <= 10, "{:?}", entries(&top));
    let table = at.read(top.join("tables.csv"));
    let lines = rows(&table);
    assert!(lines[0].starts_with("cell,realisation,t,"), "{}", lines[0]);
    assert_eq!(lines.len(), 1 + 40 * 3);
    let id = words(&ran["cells"][7]["cell"]);
    assert_eq!(lines.iter().filter(|r| r.starts_with(id)).count(), 3);
    // Only the cell of a damaged line is run again.
    let journal = top.join("cells.jsonl");
    let damaged = at.read(&journal).replacen("\"table\":\"", "\"table\":\"A", 1);
    std::fs::write(&journal, damaged).expect("writable");
    assert_eq!(at.json("run many.toml --dry-run")["finished"], 39);
    at.json("run many.toml");
    assert_eq!(at.read(top.join("tables.csv")), table);
}

/// An NPY file with two-byte numbers.
fn halves(descr: &str, shape: &str, bits: &[u16]) -> Vec<u8> {
    npy(descr, shape, &bits.iter().flat_map(|b| b.to_le_bytes()).collect::<Vec<u8>>())
}

/// An NPY file with these bytes.
fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let width = (10 + header.len() + 1).next_multiple_of(64) - 11;
    let header = format!("{header:width$}\n");
    let size = (header.len() as u16).to_le_bytes();
    [&b"\x93NUMPY\x01\x00"[..], &size, header.as_bytes(), data].concat()
}

/// NumPy stores a mask as booleans, and whole numbers in one to eight bytes.
#[test]
fn masks_are_booleans_or_whole_numbers() {
    let tokens = ("x.csv", "1,0\n0.6,0.8\n0,-1\n");
    let at = Place::with(&[tokens, ("m.csv", "1,0,0\n1,1,0\n1,0,1\n")]);
    let seen: [u8; 9] = [1, 0, 0, 1, 1, 0, 1, 0, 1];
    let call = |mask: &str| format!("velocity --tokens x.csv --beta 2 --mask {mask}");
    let expected = at.json(&call("m.csv"))["velocity"].clone();
    let wide = |bytes: usize, big: bool| -> Vec<u8> {
        let one = |v: u8| {
            let mut all = vec![0; bytes];
            all[if big { bytes - 1 } else { 0 }] = v;
            all
        };
        seen.iter().flat_map(|v| one(*v)).collect()
    };
    let floats: Vec<u8> = seen.iter().flat_map(|v| f64::from(*v).to_ne_bytes()).collect();
    for (descr, data) in [
        ("|b1", seen.to_vec()),
        ("|i1", seen.to_vec()),
        ("|u1", seen.to_vec()),
        ("<u2", wide(2, false)),
        (">i2", wide(2, true)),
        ("<u4", wide(4, false)),
        (">u8", wide(8, true)),
        // The order of this machine.
        ("=f8", floats.clone()),
    ] {
        at.write("m.npy", npy(descr, "(3, 3)", &data));
        assert_eq!(at.json(&call("m.npy"))["velocity"], expected, "{descr}");
    }
    // A byte that is neither false nor true, a number that is neither 0 nor 1, times, and no order
    // of bytes.
    let wrong: Vec<u8> = seen.iter().map(|v| 2 * v).collect();
    for (descr, data, why) in [
        ("|b1", &wrong, "found 2 as a boolean"),
        ("|i1", &wrong, "zeros and ones"),
        ("<M8[s]", &wide(8, false), "whole numbers or booleans"),
        ("|f8", &floats, "element type |f8"),
    ] {
        at.write("m.npy", npy(descr, "(3, 3)", data));
        at.refused(&call("m.npy"), why);
    }
}

#[test]
fn short_floats_pipes_and_layers() {
    let at = Place::with(&[("exact.csv", "0.6,0.8\n1,0\n-0.8,0.6\n")]);
    // (0.6, 0.8), (1, 0) and (-0.8, 0.6) in float16 and bfloat16: unit vectors up to the rounding
    // of these types.
    let half: [u16; 6] = [0x38cd, 0x3a66, 0x3c00, 0, 0xba66, 0x38cd];
    let brain: [u16; 6] = [0x3f1a, 0x3f4d, 0x3f80, 0, 0xbf4d, 0x3f1a];
    let energy =
        |file: &str| number(&at.json(&format!("energy --tokens {file} --beta 2"))["energy"]);
    let exact = energy("exact.csv");
    for (descr, bits, roundoff) in [("<f2", half, 2f64.powi(-11)), ("|V2", brain, 2f64.powi(-8))] {
        at.write("short.npy", halves(descr, "(3, 2)", &bits));
        let found = energy("short.npy");
        // The energy changes by at most beta times its size times the error of the inner products,
        // which is four rounding errors.
        let near = (found / exact - 1.0).abs() < 2.0 * 4.0 * roundoff;
        assert!(near && found.to_bits() != exact.to_bits(), "{descr}: {found} {exact}");
    }
    // Rows that are not unit vectors up to the rounding of their type are refused.
    at.write("long.npy", halves("<f2", "(1, 2)", &[0x3c00, 0x3400]));
    at.write("torn.npy", &halves("<f2", "(3, 2)", &half)[..130]);
    at.write("layers.npy", halves("<f2", "(3, 1, 2)", &half));
    at.write("semi.csv", "0,6;0,8\n1,0;0,0\n");
    // Layers are chosen by number. Without a number, the error names the flag.
    assert_eq!(at.json("velocity --tokens layers.npy --frame 1 --beta 2")["n"], 1);
    at.refuses(&[
        ("energy --tokens long.npy --beta 2", "--normalise"),
        ("energy --tokens torn.npy --beta 2", "truncated"),
        ("velocity --tokens layers.npy --beta 2", "expected a layer with --frame, from 0 to 2"),
        ("velocity --tokens layers.npy --frame 3 --beta 2", "a layer from 0 to 2"),
        ("energy --tokens semi.csv --beta 2", "semicolons (and perhaps decimal commas)"),
    ]);
    // Standard input and a pipe.
    let mut child = command(&at, "energy --tokens - --beta 2 --format json")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    child.stdin.take().expect("a pipe").write_all(b"0.6 0.8\n1 0\n-0.8 0.6\n").expect("written");
    let piped = object(&child.wait_with_output().expect("ended"), "energy --tokens -");
    assert_eq!(number(&piped["energy"]).to_bits(), exact.to_bits());
}

#[test]
fn criteria_of_theorems_decide_some_starts() {
    let given =
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-0.1, 0.1, 0.989_949_493_661_166_5]];
    let at = Place::with(&[]);
    at.write("half.csv", given.map(|[x, y, z]| format!("{x},{y},{z}\n")).concat());
    let call = "certify start --criteria --beta 4";
    let decided = at.json(&format!("{call} --tokens half.csv"));
    let margin = number(&decided["hemisphere"]["margin"]);
    assert!(decided["decided"] == true && margin > 0.3, "{decided}");
    // The margin holds for all given tokens.
    let w = numbers(&decided["hemisphere"]["w"]);
    for row in given {
        assert!(row.iter().zip(&w).map(|(a, b)| a * b).sum::<f64>() >= margin - 1e-15);
    }
    let answer = at.answer(&format!("{call} --init polygon --n 5 --d 2"), 3);
    assert!(answer["decided"] == false && answer["at_rest"] == true, "{answer}");
    at.refused(&format!("{call} --tokens half.csv --dynamics repulsive-sa"), "--dynamics");
}

#[test]
fn text_is_short_and_csv_is_complete() {
    let at = Place::with(&[]);
    let solve = "solve --init uniform --n 20 --d 12 --beta 1 --t-end 0.1";
    let short = at.printed(solve);
    assert!(short.contains("... and 12 more (--all-digits, --format csv)"), "{short}");
    assert!(short.lines().all(|l| l.len() < 160), "{short}");
    let whole = at.printed(&format!("{solve} --all-digits"));
    assert_eq!(whole.lines().filter(|l| l.contains("mass")).count(), 20);
    let csv = at.printed(&format!("{solve} --format csv"));
    let lines = rows(&csv);
    assert!(lines[0].starts_with("final_tokens_0,final_tokens_1,"), "{}", lines[0]);
    assert!(lines.len() == 21 && csv.contains("# outcome: reached"), "{csv}");
    assert!(lines[1].split(',').next().is_some_and(|v| v.parse::<f64>().is_ok()));
    let wide = at.printed("energy --init uniform --n 3 --d 2 --beta 400");
    assert!(wide.lines().all(|l| l.len() < 80), "{wide}");
    assert!(at.printed("list laws --format csv").starts_with("name,summary\n"));
}

/// Only lists that belong together are columns, also where other lists have the same length.
#[test]
fn csv_has_the_columns_of_one_table() {
    let at = Place::with(&[]);
    let csv = |call: &str| at.printed(&format!("{call} --format csv"));
    // There are three tokens and three orbits. In `clusters` each token is a cluster.
    let orbits = rows(&csv("landscape --n 4 --beta 2"))[0].to_owned();
    assert!(orbits.starts_with("clusters,"), "{orbits}");
    for (call, head) in [
        ("landscape --n 3 --beta 2", &orbits[..]),
        (
            "clusters --init uniform --n 3 --d 2 --linking-distance 1e-9",
            "sizes,masses,centres_0,centres_1,radii",
        ),
        (
            "solve --init uniform --n 3 --d 2 --beta 1 --t-end 0.1",
            "final_tokens_0,final_tokens_1,final_masses,labels",
        ),
        ("predict gamma --n 4 --beta 1 --times 1,2", "gamma,gamma_error,times"),
        // No line of a text stands outside a comment.
        ("explain wendel", "kind,text"),
    ] {
        assert_eq!(rows(&csv(call))[0], head, "{call}");
    }
    // What is not printed is named.
    let landscape = csv("landscape --n 3 --beta 2");
    assert!(landscape.contains("# only with --format json: masses, "), "{landscape}");
}

/// The reasons that `entropy` gives: too few tokens, tokens that coincide.
#[test]
fn entropy_names_the_reason_of_a_missing_estimate() {
    let at = Place::with(&[("one.csv", "1,0\n"), ("three.csv", "1,0\n0.6,0.8\n0,-1\n")]);
    at.refuses(&[
        ("entropy --tokens one.csv", "tokens: found 1 token, expected at least two"),
        ("entropy --tokens three.csv", "--neighbours: found 3, expected a number from 1 to 2"),
    ]);
    let angle = |k: i32| 0.1 * f64::from(k * k % 61);
    let ring: String =
        (0..40).map(|k| format!("{},{}\n", angle(k).cos(), angle(k).sin())).collect();
    at.write("copies.csv", format!("{ring}{}", "0.6,0.8\n".repeat(4)));
    let out = at.run("entropy --tokens copies.csv");
    let (shown, notes) = (text(&out.stdout), text(&out.stderr));
    assert!(shown.contains("infinite: tokens coincide"), "{shown}");
    assert!(notes.contains("layer 0: 4 tokens coincide with 3 or more others"), "{notes}");
    assert!(!notes.contains("nearest neighbours: in 1 of 1 layers the bias"), "{notes}");
    assert!(at.json("entropy --tokens copies.csv")["nearest_neighbour"][0].is_null());
    // With one more neighbour no ball has volume 0.
    let out = at.json("entropy --tokens copies.csv --neighbours 4");
    assert!(out["nearest_neighbour"][0].is_number(), "{out}");
}

/// Small slips in files, each with a hint of its own.
#[test]
fn slips_in_files_are_named() {
    let at = Place::with(&[]);
    for (rows, why) in [
        ("1,\n0.6,0.8\n", "x.csv, line 1, column 2: found nothing, expected a number"),
        ("0.6,0.8\n1,\n", "x.csv, line 2, column 2: found nothing, expected a number"),
        ("\u{2212}1,0\n0.6,0.8\n", "a typographic minus"),
    ] {
        at.write("x.csv", rows);
        at.refused("energy --tokens x.csv --beta 1", why);
    }
    at.write("x.csv", "1,0,\n0.6,0.8,\n");
    assert_eq!(at.json("energy --tokens x.csv --beta 1")["n"], 2);
    for (angles, note) in [("0\n90\n180\n", "180 are read as radians"), ("0\n3\n6\n", "")] {
        at.write("angles.csv", angles);
        let notes = at.notes("energy --angles angles.csv --beta 1");
        assert!(notes.contains(note) && notes.is_empty() == note.is_empty(), "{notes}");
    }
    // TOML has hexadecimal numbers.
    let [decimal, wanted] = ["255", "0xff"].map(|seed| {
        let text = format!("name = 'a'\nn = 4\nd = 2\nbeta = 1\nt_end = 1\nseed = {seed}\n");
        at.write("e.toml", text);
        at.json("run e.toml")["cells"].clone()
    });
    assert_eq!(decimal, wanted);
    // Times and numbers beyond the usual have exponents.
    at.json("solve --init uniform --n 3 --d 2 --beta 1 --t-end 1e300 --out far --samples 3");
    let table = at.read("far/timeline.csv");
    assert!(table.contains("1e300") && rows(&table).iter().all(|l| l.len() < 300), "{table}");
    // The probability underflows, its logarithm does not.
    let log = number(&at.json("predict wendel --n 10000000 --d 2")["log_probability"]);
    assert!((log / (1e7f64.ln() - 9_999_999.0 * std::f64::consts::LN_2) - 1.0).abs() < 1e-12);
}
