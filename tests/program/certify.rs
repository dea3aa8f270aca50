//! `certify`: statements, the distance from the given clusters, certificates and their verifier,
//! refusals.

use crate::program::{Place, items, number, rows, text, words};
use metastable::theorem::{self, Case, Context, Finding, Method, Stop, run_trial};
use serde_json::Value;
use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::path::Path;

const POINT: &str = "certify critical-point --tokens";

fn angles(at: &Place, name: &str, angles: &[f64]) {
    let rows: Vec<String> = angles.iter().map(|a| format!("{},{}", a.cos(), a.sin())).collect();
    at.write(name, rows.join("\n"));
}

/// The cause that is printed if nothing is proved. The exit code is 3, as the help says.
fn unproved(at: &Place, arguments: &str) -> String {
    let result = at.answer(arguments, 3);
    assert_eq!(result["proved"], false, "{result}");
    words(&result["cause"]).to_owned()
}

/// A folder with the regular triangle, of which one corner is moved by t: the nearest critical
/// point is the triangle turned by t / 3, 2 t / 3 from the corner.
fn triangle(t: f64) -> Place {
    let at = Place::with(&[]);
    angles(&at, "t.csv", &[t, TAU / 3.0, 2.0 * TAU / 3.0]);
    at
}

/// The sentence of an accepted certificate.
fn accepted(at: &Place, file: &str) -> String {
    let answer = at.json(&format!("certify check {file}"));
    assert_eq!(answer["accepted"], true, "{answer}");
    words(&answer["statement"]).to_owned()
}

#[test]
fn the_distance_from_the_given_rows_is_printed_and_bounded() {
    // The displacements are 0.0098 and 0.0102 rad for the default radius 0.01, and 0.02 for twice
    // the radius.
    let (at, far) = (triangle(0.0147), triangle(0.0153));
    let call = |rest: &str| format!("{POINT} t.csv --beta 8 {rest}");
    let proof = at.json(&call("--out near.json"));
    // The distance is exact to first order. The second-order term is the square of the
    // displacement, 2e-4.
    assert!((number(&proof["distance"]) - 0.0098).abs() < 1e-4, "{proof}");
    assert!(proof["clusters_given"] == 3 && proof["clusters"] == 3, "{proof}");
    let why = unproved(&far, &call("--out far.json"));
    for part in ["rad from the given rows (--radius 0.01)", "3 clusters;", "--radius any"] {
        assert!(why.contains(part), "{why}");
    }
    assert!(!far.join("far.json").exists());
    far.json(&call("--radius 0.0103"));
    unproved(&at, &call("--radius 0.0097"));
    at.refused(&call("--radius -1"), "--radius");
    at.refused(&call("--radius 0.1 --anywhere"), "");
    // At beta = 0 all tokens with the sum 0 are critical: no box has only one of them.
    angles(&at, "free.csv", &[0.0, 1.0, 2.0, 3.0].map(|k| k * FRAC_PI_2));
    assert!(!unproved(&at, &format!("{POINT} free.csv --beta 0 --anywhere")).is_empty());
}

#[test]
fn a_distant_critical_point_is_proved_only_on_request() {
    let at = Place::with(&[]);
    // Twelve arbitrary tokens on the circle.
    let all: Vec<f64> = (0..12).map(|k| 2.4 * f64::from(k * k) + 0.3 * f64::from(k)).collect();
    angles(&at, "any.csv", &all);
    let why = unproved(&at, &format!("{POINT} any.csv --beta 6"));
    let proof = at.json(&format!("{POINT} any.csv --beta 6 --anywhere"));
    let (left, distance) = (number(&proof["clusters"]), number(&proof["distance"]));
    assert!(left < 12.0 && distance > 0.1, "{proof}");
    assert!(why.contains(&format!("has {left} clusters, not the 12 given")), "{why}");
    assert!(why.contains(&format!("{distance:.2e}")[..3]), "{why} {distance}");
    // A point with merged clusters is another point, however near it is.
    angles(&at, "close.csv", &[0.0, 1e-3, PI]);
    let why = unproved(&at, &format!("{POINT} close.csv --beta 3 --radius 1"));
    assert!(why.contains("2 clusters, not the 3 given"), "{why}");
    let shown = at.printed(&format!("{POINT} close.csv --beta 3 --anywhere"));
    assert!(shown.contains("2 clusters (3 were given: some merged)"), "{shown}");
}

#[test]
fn the_statement_is_printed_written_and_checked() {
    let at = triangle(0.0);
    let call = format!("{POINT} t.csv --beta 8 --sizes 2,1,2 --anywhere --out proof.json");
    let (proof, file) = (at.json(&call), at.read("proof.json"));
    for exact in ["", "--exact"] {
        assert!(
            accepted(&at, &format!("proof.json {exact}")).contains("exactly one is a critical")
        );
    }
    let shown = at.json("certify check proof.json");
    for (text, part) in [
        (&proof, "statement"),
        (&proof, "not_excluded"),
        (&proof["proof"], "statement"),
        (&shown, "statement"),
        (&shown, "not_excluded"),
    ] {
        assert!(file.contains(words(&text[part])), "{part}");
    }
    let (statement, open) = (words(&proof["statement"]), words(&proof["not_excluded"]));
    assert!(statement.contains("whole clusters") && !file.contains("up to rotation"));
    assert!(statement.contains("sum_q s_q <A p_q, y_q> = 0"), "{statement}");
    assert!(open.contains("split a cluster") && open.contains("off the slice"), "{open}");
    for call in [&format!("{POINT} t.csv --beta 8")[..], "certify check proof.json"] {
        let text = at.printed(call);
        assert!(text.contains("exactly one is a critical point"), "{text}");
        assert!(text.contains("not excluded: critical points that split a cluster"), "{text}");
    }
    // The statement of version 1 claims more than is proved, and version 2 has texts that are not
    // checked. A text that says more than the numbers is refused. With a statement that fits, the
    // signs decide.
    let line = file.lines().find(|l| l.contains("\"unstable\"")).expect("a line");
    let bent = file.replace(line, "  \"unstable\": 0,");
    for (text, why) in [
        (file.replace("version 3", "version 1"), "prove the point again"),
        (file.replace("exactly one", "no other one"), ""),
        (bent.replace("has 2 positive", "has 0 positive"), "positive and"),
        (bent, "other parts"),
    ] {
        assert_ne!(text, file);
        at.write("changed.json", text);
        at.refused("certify check changed.json", why);
    }
}

#[test]
fn too_many_clusters_are_refused() {
    let at = Place::with(&[]);
    angles(&at, "many.csv", &(0..401).map(|k| f64::from(k) * 0.01).collect::<Vec<_>>());
    let row = |k: usize| {
        (0..64).map(|a| if a == k % 64 { "1" } else { "0" }).collect::<Vec<_>>().join(",")
    };
    at.write("wide.csv", (0..40).map(row).collect::<Vec<_>>().join("\n"));
    at.refused(&format!("{POINT} many.csv --beta 8"), "found 401, expected at most 400");
    at.refused(&format!("{POINT} wide.csv --beta 8"), "40 x 65 = 2600, expected at most 2000");
}

#[test]
fn every_proof_and_check_tests_the_processor_first() {
    // Subnormals cannot be switched off without unsafe code, so this test looks for the call in the
    // source. Another test covers the check itself.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/proofs/critical_point");
    for (file, head) in [
        ("check.rs", "pub fn check(c: &Certificate) -> Result<()> {\n"),
        ("prove.rs", "fn prove_near(mut certificate: Certificate) -> Result<Certificate> {\n"),
    ] {
        let text = std::fs::read_to_string(root.join(file)).expect("a source file");
        let (_, body) = text.split_once(head).expect("the entry");
        assert!(body.starts_with("    check_fp_environment()?;\n"), "{file}");
    }
}

/// Eight tokens on the circle at beta = 2.
const EIGHT: &str = "certify start --init uniform --n 8 --d 2 --seed 3 --beta 2";

#[test]
fn nothing_is_called_proved_without_a_check() {
    let files = [("x.csv", "1,0\n0.6,0.8\n"), ("pair.csv", "1,0\n-1,0\n"), ("two.csv", "0\n3\n")];
    let at = Place::with(&files);
    // With the exit code of the answer.
    for (line, code) in [
        ("landscape --n 4 --beta 2", 0),
        ("landscape --n 3 --beta 2 --benign", 0),
        ("landscape --n 3 --beta -0.7 --benign", 2),
        ("landscape --n 3 --d 3 --beta 2", 0),
        ("landscape --n 4 --d 3 --beta -1.7 --benign", 2),
        ("certify critical-point --tokens pair.csv --beta 2", 0),
        ("certify start --tokens x.csv --beta 1", 0),
        ("certify start --init cap:radius=0.5 --n 3 --d 2 --beta 1 --starts 2", 0),
        ("certify dwell --from 2 --to 1 --beta 3", 0),
        ("modes --samples two.csv --beta 2", 0),
        ("modes --samples two.csv --beta 2 --circle", 0),
    ] {
        let [checked, plain] = [line.to_owned(), format!("{line} --unchecked")].map(|call| {
            let out = at.run(&call);
            assert_eq!(out.status.code(), Some(code), "{call}: {}", text(&out.stderr));
            text(&out.stdout)
        });
        let both = checked.contains("proved") && checked.contains("the verifier accepts");
        assert!(both, "{checked}");
        assert!(!plain.contains("proved") && plain.contains("not checked"), "{plain}");
        let answer = at.answer(&format!("{line} --unchecked"), code);
        for word in ["proved", "certified"] {
            let claimed = answer[word] == true || answer[word].as_u64() > Some(0);
            assert!(!claimed, "{line}: {word} without a check");
        }
        assert_ne!(answer["proof"]["by"], "verifier", "{line}");
    }
}

#[test]
fn a_start_is_proved_and_the_verifier_agrees() {
    let at = Place::with(&[]);
    let proof = at.json(&format!("{EIGHT} --radius 1e-6 --out proof.txt"));
    assert!(proof["proved"] == true && proof["file"] == "proof.txt", "{proof}");
    for (key, low, high) in [
        ("t_hemisphere", 1e-3, 50.0),
        ("error_bound", 1e-6, 1e-2),
        ("growth", 0.0, 10.0),
        ("steps", 1.0, 50.0),
    ] {
        let found = number(&proof[key]);
        assert!(low <= found && found <= high, "{key} {found}");
    }
    let file = at.read("proof.txt");
    assert!(file.starts_with("metastable-trajectory 3\ndynamics sa\ntokens 8\n"), "{file:.200}");
    let statement = accepted(&at, "proof.txt --exact");
    let head = "sa, beta = 2: all starts of 8 tokens with masses 0.125, 0.125";
    assert!(statement.starts_with(head), "{statement}");
    // The verifier computes the same error bound, but without rounding.
    let exact = statement.rsplit("at most ").next().expect("a bound").trim_end_matches(')');
    let (own, exact) = (number(&proof["error_bound"]), exact.parse::<f64>().expect("a number"));
    assert!(exact <= 1.1 * own && own <= 2.0 * exact, "{own} {exact}");
    // A truncated certificate and one with another radius are refused.
    let change = |line: &str| match line.split(' ').next() {
        Some("next") => (None, Some(line.to_owned())),
        Some("radius") => (Some(line.to_owned()), Some("radius 1p-2".to_owned())),
        _ => (Some(line.to_owned()), Some(line.to_owned())),
    };
    let (cut, wide): (Vec<_>, Vec<_>) = file.lines().map(change).unzip();
    for (name, lines, why) in
        [("cut.txt", cut, "a line `next` is missing"), ("wide.txt", wide, "leaves its tube")]
    {
        at.write(name, lines.into_iter().flatten().map(|l| l + "\n").collect::<String>());
        for exact in ["", "--exact"] {
            at.refused(&format!("certify check {name} {exact}"), why);
        }
    }
}

#[test]
fn many_starts_are_counted_and_their_certificates_checked() {
    let at = triangle(0.0);
    let five = "certify start --init uniform --n 5 --d 2 --beta 1";
    let all = at.json(&format!("{five} --seed 3 --starts 4 --exact"));
    for key in ["starts", "proved", "checked", "accepted"] {
        assert_eq!(all[key], 4, "{key}");
    }
    // A ball as large as the circle cannot be proved. The causes are counted and the exit code is
    // 3.
    let answer = at.answer(&format!("{five} --radius 0.9 --starts 3"), 3);
    let lost: f64 = items(&answer["not_proved"]).iter().map(|l| number(&l["starts"])).sum();
    assert!(answer["proved"] == 0 && (lost - 3.0).abs() < 0.5, "{answer}");
    at.refused("certify start --tokens t.csv --beta 1 --starts 3", "--init");
    at.refused(&format!("{five} --starts 0"), "--starts");
}

#[test]
fn critical_points_of_interactions_are_proved_and_verified() {
    let at = triangle(1e-3);
    let call = format!("{POINT} t.csv --out proof.json --interaction");
    let proof = at.json(&format!("{call} power:p=2"));
    assert!(proof["unstable_directions"] == 0 && proof["morse_index"] == 2, "{proof}");
    for exact in ["", "--exact"] {
        accepted(&at, &format!("proof.json {exact}"));
    }
    at.write("bent.json", at.read("proof.json").replace("s^p", "s*s^p"));
    at.refused("certify check bent.json", "positive and");
    at.refused(&format!("{call} exp(beta*s) --beta 3"), "--force");
    let with_beta = at.json(&format!("{call} exp(beta*s) --beta 3 --force"));
    assert_eq!(with_beta["unstable_directions"], 2);
    at.refused(&format!("{call} exp(bta*s) --beta 3"), "did you mean `beta`");
    at.refused(&format!("{call} relu(s+0.5)"), "kink");
    at.refused(&format!("{POINT} t.csv"), "");
}

#[test]
fn experiments_and_checks_count_proofs() {
    let study = "name = \"proofs\"\nn = 4\nd = 2\nbeta = 1\nrealisations = 3\nt_end = 1\n\
                 certify = true\nobservables = [\"clusters\"]\n";
    let bad = study.replace("n = 4", "n = 4\ndynamics = \"repulsive-sa\"");
    let at = Place::with(&[("study.toml", study), ("bad.toml", &bad)]);
    let ran = at.json("run study.toml");
    let last = |file: &str| {
        let text = at.read(Path::new(words(&ran["folder"])).join(file));
        let last = |l: &str| l.rsplit(',').next().expect("a column").to_owned();
        rows(&text).into_iter().map(last).collect::<Vec<_>>()
    };
    assert_eq!(last("results.csv"), ["proved", "1", "1", "1"]);
    assert_eq!(last("cells.csv"), ["proved_share", "1"]);
    at.refused("run bad.toml", "certify");
    let claim = theorem::find("single-cluster").expect("a claim");
    let cases = [
        Case::new(5, 2, 1.0, "sa").with_law("uniform"),
        Case::new(2, 3, 0.5, "usa").with_law("uniform"),
    ];
    let record = theorem::sweep(claim, &Default::default(), &cases, 2, 1).expect("a record");
    assert_eq!(record.certified, Some((4, 4)));
}

#[test]
fn a_violation_gets_a_certificate_if_an_enclosure_decides() {
    let at = Place::with(&[]);
    // Below its threshold, cos(2 pi/5) / sin^2(2 pi/5) = 0.34, the statement is false.
    let range = "--n 5 --d 2 --beta 0.2..0.33 --beyond";
    let found = at.json(&format!("hunt large-beta-polygon {range} --minutes 0.05 --out c.json"));
    let (own, certified) = (number(&found["margin"]), number(&found["certified_margin"]));
    assert!(found["certified"] == true && certified < 0.0 && own <= certified, "{found}");
}

#[test]
fn hunts_respect_the_time_limit_and_test_shares_by_many_draws() {
    let at = Place::with(&[]);
    let result = at.json("hunt separated-start --minutes 0.01");
    assert!(result["found"] == false && result["level"] == 0.95, "{result}");
    assert!(number(&result["share"]) >= 0.95, "{result}");
    assert!(number(&result["budget"]["trials"]) >= 64.0, "{result}");
    let result = at.json("hunt sphere-modes --minutes 0.02");
    assert_eq!(result["found"], false, "{result}");
    // One trial counts the modes of hundreds of samples; it is ended within.
    let (claim, stop) = (theorem::find("sphere-modes").expect("a claim"), Stop::default());
    stop.set();
    let context = Context::fresh(1, &["stopped"], Method::default()).with_stop(&stop);
    let trial = run_trial(claim, &claim.domain.ends()[0], context).expect("a trial");
    assert!(matches!(trial.finding, Finding::Unfinished(_)), "{:?}", trial.finding);
}

#[test]
fn failed_proofs_report_their_cause() {
    let at = triangle(0.0);
    let answer = at.answer("certify start --tokens t.csv --beta 2", 3);
    assert!(words(&answer["cause"]).starts_with("steady-state"), "{answer}");
    assert!(answer["proved"] == false && answer["t"].is_number(), "{answer}");
    assert!(number(&answer["token"]) < 3.0, "{answer}");
    at.refuses(&[
        (
            "certify start --tokens t.csv --beta 2 --dynamics repulsive-sa",
            "sa, usa, causal-sa or causal-usa",
        ),
        ("certify start --tokens t.csv --beta -1", "beta"),
        ("certify start --tokens t.csv", "--beta"),
        ("certify start --tokens t.csv --beta 2 --sizes 1,2,1", ""),
        ("certify critical-point --tokens t.csv --beta 2 --exact", ""),
    ]);
}

#[test]
fn proofs_exist_for_all_dynamics_and_masses_and_are_verified() {
    let at = Place::with(&[("m.csv", "1\n2\n0.5\n1\n3\n")]);
    let five = "certify start --init uniform --n 5 --d 2 --out proof.txt --force";
    for kind in ["sa", "usa", "causal-sa", "causal-usa"] {
        at.json(&format!("{five} --seed 4 --beta 2 --masses m.csv --dynamics {kind}"));
        accepted(&at, "proof.txt --exact");
    }
    // Clusters merge on the way at beta = 9.
    at.json(&format!("{five} --seed 2 --beta 9"));
    accepted(&at, "proof.txt --exact");
}

#[test]
fn one_token_and_light_tokens_of_causal_attention_are_proved() {
    // No hemisphere contains the three tokens. In the norm of the masses, the rounding errors of
    // the others are 0.6 for the second token.
    let three = ("three.csv", "1,0\n-0.6,0.8\n-0.6,-0.8\n");
    let at = Place::with(&[("one.csv", "0.6,0,0.8\n"), three]);
    let start = "certify start --out proof.txt --force --tokens";
    for kind in ["sa", "usa", "causal-sa", "causal-usa"] {
        let proof = at.json(&format!("{start} one.csv --beta 4 --dynamics {kind}"));
        let statement = words(&proof["statement"]);
        assert!(proof["steps"] == 0 && statement.contains("whose one token starts on"), "{proof}");
        accepted(&at, "proof.txt --exact");
    }
    // The criteria of the theorems decide this case too.
    assert_eq!(at.json("certify start --criteria --tokens one.csv --beta 4")["decided"], true);
    // Under USA, a light first token hardly moves the others, so they do not meet in the tested
    // time.
    for (masses, kinds) in [
        ("1\n1e-30\n1\n", &["causal-sa", "causal-usa"][..]),
        ("1e-30\n1\n1\n", &["causal-sa"]),
        ("1e-30\n1e-30\n1\n", &["causal-sa"]),
    ] {
        at.write("light.csv", masses);
        for kind in kinds {
            let call = format!("{start} three.csv --masses light.csv --beta 1 --dynamics {kind}");
            let proof = at.json(&call);
            assert!(number(&proof["steps"]) > 0.0, "{proof}");
            assert!(number(&proof["error_bound"]) < 1e-6, "{proof}");
            accepted(&at, "proof.txt --exact");
        }
    }
}

#[test]
fn dwell_times_are_bounded_from_both_sides() {
    let at = Place::with(&[]);
    for kind in ["sa", "usa"] {
        let given = format!("--from 2 --to 0.5 --beta 50 --dynamics {kind}");
        let t = at.json(&format!("certify dwell {given}"));
        let (low, high) = (number(&t["lower"]), number(&t["upper"]));
        assert!(low < high && high < low * (1.0 + 1e-6), "{low} {high}");
        let other = number(&at.json(&format!("predict two-cluster-time {given}"))["time"]);
        let within = low * (1.0 - 1e-11) <= other && other <= high * (1.0 + 1e-11);
        assert!(within, "{low} {high} {other}");
    }
    at.refuses(&[
        ("certify dwell --from 2 --to 0.5", "--beta"),
        ("certify dwell --from 0.5 --to 2 --beta 3", "to <= from < pi"),
        ("certify dwell --from 2 --to 0.5 --beta 3 --share 1.5", ""),
        ("certify dwell --from 2 --to 0.5 --beta 3 --dynamics causal-sa", ""),
    ]);
}

/// The answer of a call that writes `proof.txt`, which is checked, and a half of which is refused.
fn proved(at: &Place, call: &str, code: i32) -> (Value, String) {
    let _ = std::fs::remove_file(at.join("proof.txt"));
    let answer = at.answer(&format!("landscape {call} --out proof.txt"), code);
    let (statement, text) = (accepted(at, "proof.txt"), at.read("proof.txt"));
    at.write("half.txt", &text[..text.len() / 2]);
    at.refused("certify check half.txt", "refused");
    (answer, statement)
}

#[test]
fn whole_landscapes_are_proved_and_checked() {
    let at = Place::with(&[("zero.csv", "1\n0\n1\n")]);
    let (found, statement) = proved(&at, "--n 5 --beta 4", 0);
    assert!(found["complete"] == true && found["undecided"] == 0, "{found}");
    assert_eq!(items(&found["orbits"]).len(), 7);
    assert!(statement.contains("exactly 7 critical points"), "{statement}");
    let (found, statement) = proved(&at, "--n 4 --d any --beta 4", 0);
    assert!(found["complete"] == true && items(&found["orbits"]).len() == 6, "{found}");
    assert!(statement.contains("on spheres"), "{statement}");
    assert!(statement.contains("exactly 6 critical points"), "{statement}");
    for call in ["--n 6 --beta -0.5..2 --benign", "--n 4 --d any --beta 2..3 --benign"] {
        assert_eq!(proved(&at, call, 0).0["benign"], true, "{call}");
    }
    // A counterexample has exit code 2, an open question 3.
    let found = at.answer("landscape --n 4 --d 3 --beta -1.7 --benign", 2);
    assert_eq!(found["benign"], false);
    let (found, _) = proved(&at, "--n 3 --beta -0.7 --benign", 2);
    assert_eq!(found["benign"], false);
    assert_eq!(found["counterexample"]["point"]["unstable_directions"], 0);
    let found = at.answer("landscape --n 3 --d any --beta -0.7..-0.6", 3);
    assert_eq!(found["complete"], false);
    assert!((-0.7..-0.6).contains(&number(&found["undecided_beta"][0][0])), "{found}");
    // At beta = ln(2) / 2 two opposite clusters of 4 and 2 tokens are degenerate: the double next
    // to it does not decide the sign of their eigenvalue. The regular tetrahedron is degenerate at
    // beta = -3/2.
    for call in ["--n 6 --beta 0.34657359027997264", "--n 4 --d 3 --beta -1.5"] {
        assert_eq!(at.answer(&format!("landscape {call}"), 3)["complete"], false, "{call}");
    }
    for (call, why) in [
        ("--n 5 --d 1 --beta 1", "a number from 3 to 1000; or any"),
        ("--n 5 --d three --beta 1", "a number from 3 to 1000; or any"),
        ("--n 6 --d 3 --beta 1", "from 2 to 5 tokens"),
        ("--n 4 --d 3 --beta 1,2", "a number or an interval a..b, each in [-10, 100]"),
        ("--n 4 --d 3 --beta -1..1", "continua"),
        ("--n 4 --d any --beta 0", "continua"),
        ("--n 40 --beta 1", "from 2 to 12 tokens"),
        ("--n 12 --beta 1", "would take about"),
        ("--n 4 --beta 0", "continua"),
        ("--n 4 --beta 1,2", "a number or an interval a..b, each in [-10, 100]"),
        ("--beta 1", "--n"),
        ("--n 3 --interaction relu(s)", "two derivatives"),
        ("--n 3 --interaction s^3 --beta 1..2", "fixed parameters"),
        ("--masses 1..2,3,3 --beta 1", "benign"),
        ("--masses 1..2,3,3 --beta 1 --n 4", "the number of masses"),
        ("--masses zero.csv --beta 1", "positive masses"),
        ("--n 3 --beta 1 --shard 2/2 --out s.txt", "0 <= k < K"),
    ] {
        at.refused(&format!("landscape {call}"), why);
    }
}

#[test]
fn landscapes_have_shares_interactions_and_boxes_of_masses() {
    let at = Place::with(&[]);
    // Shares are joined, and interactions have their own texts.
    for k in [0, 1] {
        let line = format!("landscape --n 5 --beta 1..8 --benign --out {k}.txt --shard {k}/2");
        let shown = at.shown(&line);
        assert!(shown.contains("this share is decided"), "{shown}");
        at.refused(&format!("certify check {k}.txt"), "refused");
    }
    let joined = proved(&at, "--n 5 --beta 1..8 --benign --from 0.txt,1.txt", 0).0;
    assert_eq!(joined["benign"], true);
    let out = at.run("landscape --n 4 --interaction s^3 --benign --out cubic.txt");
    let found = text(&out.stdout);
    assert_eq!(out.status.code(), Some(2));
    assert!(found.contains("phi(s) = s^3") && !found.contains("beta"), "{found}");
    accepted(&at, "cubic.txt");
    let lines = "--masses 1..1.1,1..1.1,2 --beta 1 --benign";
    assert_eq!(proved(&at, lines, 0).0["benign"], true);
}
