//! Every flag of every command is tried with a good value, which must change the output, and with a
//! bad one, which must be refused by a sentence with the value found and the form expected.
//! Commands, flags and conflicts are read from the definitions of the command line. A command that
//! cannot be called fails, and so does a flag without a good value here.

use crate::program::{run, text};
use metastable::operation::{Kind, Operation, Parameter};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Arguments of commands in addition to their required flags; flags that a command does not have
/// are left out.
const CALLS: &str = "
    bench --seconds 0.01 --n 8 --d 8 --heads 2
    certify check ../pair.json; certify critical-point --tokens ../pair.csv --beta 3 --radius any
    check layer-energy --quick
    clusters --radius 0.5; compare rnn --n 3 --d 3 --layers 3 --exponents 1; completions bash
    energy --beta 3; saddles --beta 3; entropy --tokens ../many.csv; explain cone-speed
    figure saddle-kernel --out k.svg; hunt cone-speed-printed --minutes 0.01 --out h.json
    landscape --n 3 --beta 3; continue --n 3 --beta 2..3; list laws; man pages
    measure --space circle --density cos:1=0.2 --beta 3
    model ../models/bert --ids ../models/ids.csv; modes --samples ../angles.csv --beta 3
    rates --tokens ../triangle.csv --beta -2 --starts 6; solve --beta 3; velocity --beta 3
    movie --beta 3 --t-end 10 --samples 3 --dpi 30 --out film.gif; plot ../grid --y log_energy --out p.svg
    predict consensus --dynamics usa --beta 3; predict growth-rates --beta 3; predict kac-rice --n 100; predict normalisation --scheme pre
    predict boolean-limit --start 1; predict rank-collapse --start -3
    predict parking --d 2 --beta 50; predict polygon --dynamics usa --beta 3; predict third-derivative --beta 3
    predict random-weights --start 0.1 --times 1; run ../e.toml
";

/// Values of required flags; `--tokens` is used wherever there is an `--init`.
const REQUIRED: &str =
    "--tokens ../x.csv --n 8 --d 4 --m 4 --beta 3 --t-end 1 --times 1 --modes 4 --from 2 --to 1
    --variance 1 --c 1 --lambda 1 --mu 0.3 --tau 0.1 --kappa 30";

/// Good calls of a flag, in all commands or in the commands named first. A numeric flag without
/// a row gets a number. The words are added to the usual call and replace the same flags,
/// conflicting flags and other names; `-` removes a flag; flags that a command does not have are
/// left out. Marks at the end: `=` the output may stay the same, `~` it changes or the call is
/// refused, `!` the call is refused, `*` all values are good.
const GOOD: &str = "
    --accuracy 1e-12 =; --angles ../angles.csv
    --band 10,90; --beta 2; --by n; --shard 0/2
    --connections sa; --coupling ../symmetric.csv; --criteria
    --d 3 --init uniform --n 3; --density cos:1=0.1; --dpi 31; --dynamics usa; --energy-scale unit
    --exponents 2; --frame 0 --from-run ../run; --fit line
    certify start --frame 1 --from-run ../few; certify start --from-run ../few; --theory t
    --from 2.1; --init uniform --n 3 --d 2; --integrator dopri5; --interaction power:p=2
    --keep-every 1 --out new =; --kernel rows =; --law cap:radius=0.3
    --log-from 0.1 --samples 4 --out new; --masses ../masses.csv
    --max-steps 2 --t-end 1e9; --merge !; --merge-radius 1; --method volume
    --model ../model.toml; --mpi !; --n 5 --init uniform --d 2
    --noise kappa=1,step=0.1; --normalise --tokens ../long.csv
    movie --observables grad-norm; --observables clusters --out new; --out new
    --particles 64 --method lagrangian; --plateau 1,1 --from-run ../run --radius -
    --radii ../masses.csv --model norm=pre; clusters --radius 1 --tokens ../y.csv; certify critical-point --radius 1 --tokens ../y.csv; --from-run ../run --radius -
    --rtol 1e-3; movie --samples 4; --samples 4 --out new
    --scheme post; --seed 5 --init uniform --n 3 --d 2; --set beta=3
    --share 0.3; --size nature1; --sizes 1,2; --space flat
    --stop-at-one-cluster --t-end 1e9; --theme dark
    --time-scale u2 --dynamics usa; --times 0.5 --out new; --tokens ../y.csv
    --where t=0.5; --x clusters; --y clusters
    bench --d 4 =; bench --heads 4 =; certify critical-point --all-digits !
    certify start --all-digits --criteria; 
    certify critical-point --interaction power:p=2 --beta -; energy --interaction power:p=2 --beta -
    landscape --interaction power:p=2 --beta -
    certify critical-point --masses ../masses.csv !; certify dwell --to 0.5
    certify start --dynamics usa
    certify start --masses ../masses.csv; certify start --radius 1e-3; certify --out new.json
    certify start --starts 3 --init uniform --n 3 --d 2; check --all !
    check --beyond --n 33 --d 2 --beta 1 --dynamics sa --law uniform; check --shard 0/2 --out new
    check --trials 5 --quick -
    certify start --normalise --tokens ../long.csv =
    entropy --normalise --tokens ../long.csv --neighbours 1 =
    entropy --tokens ../y.csv --neighbours 1; 
    figure --shard 0/2 !
    figure --dpi 100 --out k.png; figure --published !; figure --out new
    figure --from-run ../run timeline; figure --runs new timeline =
    figure --tokens ../two.npz:h inner-products; hunt --beyond --n 9 --d 2 --beta 1
    hunt --dynamics usa !; hunt --law cap:radius=0.3 !; hunt --minutes 0.02 =
    continue --n 4; continue --beta 2..2.5; continue --start 1+1+1; continue --branches-only
    continue --masses ../masses.csv; continue --interaction sigmoid:k=1..2 --beta -
    landscape --d any; landscape --n 4; landscape --beta 2..3; landscape --shard 0/2 --out new
    landscape --from ../masses.csv --out new !; hunt --out other.json
    measure --kernel-beta 4 --tokens ../angles.csv
    measure --volumes 64 --method volume --t-end 0.1; measure --d 4 --space zonal
    measure --modes 16; certify critical-point --radius 1 --tokens ../y.csv; measure --movie film.gif; measure --noise kappa=3; measure --space zonal
    measure --tokens ../angles.csv; model --tokens ../models/embeddings.csv
    model --ids ../angles.csv; model --iterate 0 --layers 3; model --layers 4 --iterate 0
    model --report --out new; model --text a *; model --without-attention --out new
    modes --interaction s^2 --space circle --beta - --samples ../angles.csv; modes --samples ../masses.csv
    modes --space sphere2 --samples ../sphere.csv; movie --frame 0 --from-run ../run --t-end -
    movie --all-digits !; movie --noise kappa=1,step=0.1 !; movie --out film.png; movie --log-from 0.2; measure --density cos:1=0.1; predict --start 0.2; predict --radius 2
    movie --from-run ../run --t-end -; movie --space sphere =; page --out other.html
    plot --dpi 100 --out p.png; plot --log x; plot --out p.png; predict kac-rice --radius 2; predict kac-rice --space circle --n -; predict --tau 0.2
    predict --time-scale u2 --dynamics usa ~; predict --v -1; predict parking --beta 60
    predict bipartite --mu 0.4; predict boolean-limit --start 0.4; predict gaussian-closure --variance 0.4
    predict --quantiles 0.2,0.3; rates --all-digits; rates --angles ../angles.csv ~
    rates --beta -3; rates --d 2 --n 4 --tokens -; rates --frame 0 --from-run ../run ~
    rates --from-run ../run ~; rates --init uniform --n 3 --d 2 ~; rates --kappa 20
    rates --interaction power:p=2 --beta - ~; rates --masses ../masses.csv !
    rates --n 4 --d 2 --tokens -; rates --normalise --tokens ../long.csv ~
    rates --seed 5 --init uniform --n 3 --d 2 ~; rates --starts 5 =; rates --tokens ../y.csv ~
    run --out other; saddles --interaction power:p=2 --tokens - --n 4 --d 2 --beta -
    saddles --masses ../masses.csv !; saddles --starts 3 --tokens - --n 4 --d 2
    solve --kernel rows; velocity --accuracy 1e-12; velocity --kernel rows
    velocity --noise kappa=1,step=0.1 !
";

/// Other ways to call commands, each with flags that must not be ignored there either: every
/// further flag changes the output, or is refused.
const VARIANTS: &str = "
    saddles --n 4 --d 2 --beta 3 --starts 6; saddles --n 4 --d 3 --beta 2 --starts 6
    saddles --n 4 --d 2 --interaction power:p=2 --starts 6
    saddles --n 4 --d 2 --beta 3,4 --starts 6; saddles --n 4 --d 2 --beta 3 --starts 6 --connections usa
    landscape --n 3 --beta 1 --benign; landscape --n 3 --beta 1..2 --benign
    landscape --n 3 --beta -0.7 --benign; landscape --n 3 --d 3 --beta 2
    landscape --n 3 --d 3 --beta 1 --benign; landscape --n 3 --interaction softplus:k=10
    landscape --n 3 --interaction s^3 --benign; landscape --masses 1,2,3 --beta 2
    continue --n 3 --beta 2..3 --branches-only; continue --start 1+1+1 --n 3 --beta 2..3
    continue --masses 1..2,1,1 --beta 2; continue --n 3 --interaction sigmoid:k=1..2
    modes --samples ../angles.csv --beta 3 --space circle; modes --samples ../sphere.csv --beta 3 --space sphere2
    modes --samples ../angles.csv --interaction s^2 --space circle; modes --from-run ../run --beta 3
    measure --space zonal --d 3 --density cos:1=0.2 --beta 3 --t-end 0.1 ~ --particles
    measure --space sphere2 --density vmf:kappa=2 --beta 1 --t-end 0.1 ~ --particles
    measure --space circle --density cos:1=0.2 --method volume --beta 3 --t-end 0.1
    measure --space circle --density cos:1=0.2 --method lagrangian --beta 3 --t-end 0.1 ~ --modes
    measure --tokens ../angles.csv --space circle --kernel-beta 4 --beta 3 --t-end 0.1 ~ --particles
    measure --density ../masses.csv --space circle --beta 3 --t-end 0.1 ~ --particles
    certify start --tokens ../x.csv --beta 3 --criteria
    certify start --init uniform --n 3 --d 2 --beta 1 --starts 2
    certify start --tokens ../x.csv --beta 1 --radius 1e-4
    certify critical-point --tokens ../pair.csv --interaction power:p=2 ~ --sizes --radius
    certify dwell --from 2 --to 1 --beta 3 --dynamics usa
    energy --tokens ../x.csv --beta 3 --hessian; energy --tokens ../x.csv --interaction power:p=2
    entropy --tokens ../many.csv --neighbours 2
    clusters --from-run ../run; velocity --tokens ../x.csv --beta 3 --dynamics usa
    solve --tokens ../x.csv --beta 3 --t-end 1 --dynamics usa ~ --stop-at-one-cluster
    solve --tokens ../x.csv --beta 3 --t-end 1 --model mask=causal ~ --stop-at-one-cluster
";

/// Flags that may leave the output of variants as it is: accuracy and speed, limits that are not
/// reached, tokens that have length 1, and places for files whose contents are the output.
const HARMLESS: &str = "--normalise --accuracy --kernel --simd --max-steps --max-starts --max-modes \
                        --keep-every --seed --rtol --atol --integrator --dpi --size --theme";

/// Rows of [`GOOD`] whose flags may leave the output as it is.
const MARKED_AS_SILENT: usize = 11;

/// Flags whose output was compared with that without them.
static COMPARED: AtomicUsize = AtomicUsize::new(0);
/// Flags that may leave the output as it is.
static NOT_COMPARED: AtomicUsize = AtomicUsize::new(0);

/// A command, with its full name and its parameters.
struct Subcommand {
    words: String,
    table: Vec<Parameter>,
}

fn subcommands() -> Vec<Subcommand> {
    let of = |o: &Operation| Subcommand { words: o.full_name(), table: (o.parameters)() };
    metastable::cli::operations().map(of).collect()
}

/// The flag of a parameter.
fn long(p: &Parameter) -> String {
    format!("--{}", p.name.replace('_', "-"))
}

/// A call: words in order, flags with their values.
type Call = Vec<Vec<String>>;

fn rows(table: &str) -> impl Iterator<Item = &str> {
    table.split(['\n', ';']).map(str::trim).filter(|r| !r.is_empty())
}

/// The rest of the row of a table that begins with these words.
fn row<'a>(table: &'a str, start: &str) -> Option<&'a str> {
    rows(table)
        .find_map(|l| l.strip_prefix(start).filter(|rest| rest.is_empty() || rest.starts_with(' ')))
}

impl Subcommand {
    /// Words as a call: a flag that takes a value gets the next word.
    fn call(&self, words: &str) -> Call {
        let mut out = Call::new();
        for word in words.split_whitespace() {
            let takes = |l: &&mut Vec<String>| {
                let value =
                    self.flag(&l[0]).map_or(l[0].starts_with("--"), |p| p.kind != Kind::Switch);
                word == "-" || value && l.len() < 2 && !word.starts_with("--")
            };
            match out.last_mut().filter(takes) {
                Some(flag) => flag.push(word.to_owned()),
                None => out.push(vec![word.to_owned()]),
            }
        }
        out
    }

    fn flag(&self, word: &str) -> Option<&Parameter> {
        let name = word.strip_prefix("--")?.replace('-', "_");
        let is_it = |p: &&Parameter| p.name == name || p.also().contains(&name.as_str());
        self.table.iter().find(|p| is_it(p) && !p.is_positional())
    }

    /// Whether one of two flags excludes the other.
    fn exclude(&self, a: &Parameter, b: &Parameter) -> bool {
        a.excludes().contains(&b.name) || b.excludes().contains(&a.name)
    }

    /// The flags that help shows.
    fn flags(&self) -> Vec<String> {
        let shown = self.table.iter().filter(|p| !p.is_hidden() && !p.is_positional());
        shown.map(long).collect()
    }

    /// A call to which these words are added.
    fn with(&self, base: &Call, words: &Call) -> Call {
        let is_name = |w: &Vec<String>| !w[0].starts_with("--");
        let known: Call =
            words.iter().filter(|w| is_name(w) || self.flag(&w[0]).is_some()).cloned().collect();
        let gone = |w: &&Vec<String>| w.get(1).is_some_and(|v| v == "-");
        let flags: Vec<&Parameter> =
            known.iter().filter(|w| !gone(w)).filter_map(|w| self.flag(&w[0])).collect();
        let names = known.iter().any(is_name);
        let stays = |w: &&Vec<String>| match self.flag(&w[0]) {
            Some(a) => {
                known.iter().all(|k| k[0] != w[0]) && flags.iter().all(|f| !self.exclude(f, a))
            }
            None => !names,
        };
        base.iter().filter(stays).chain(known.iter().filter(|w| !gone(w))).cloned().collect()
    }

    /// The usual call.
    fn usual(&self) -> Call {
        let group = self.words.split(' ').next().unwrap_or_default();
        let own = row(CALLS, &self.words)
            .or_else(|| row(CALLS, group).filter(|r| !r.is_empty() && group == "bench"))
            .unwrap_or_default();
        let needed = |w: &Vec<String>| {
            self.flag(&w[0]).is_some_and(|p| {
                p.required && self.table.iter().all(|q| !p.unless().contains(&q.name))
                    || w[0] == "--tokens" && self.flag("--init").is_some()
            })
        };
        let required: Call = self.call(REQUIRED).into_iter().filter(needed).collect();
        self.with(&required, &self.call(own))
    }
}

/// The effects of a call: exit code, result and files (both without times), notes.
struct Effects {
    code: Option<i32>,
    result: String,
    files: BTreeMap<PathBuf, Vec<u8>>,
    message: String,
}

impl Effects {
    fn success(&self) -> bool {
        // Verdicts are results too, and so is the state of a run that reached its largest number of
        // steps.
        matches!(self.code, Some(0 | 2 | 3)) || self.code == Some(4) && !self.result.is_empty()
    }
}

/// Runs a call in a new folder beside the input files. Text output is compared for flags that
/// change only the text.
fn effects_of(at: &Path, subcommand: &Subcommand, call: &Call) -> Effects {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let folder = at.join(NEXT.fetch_add(1, Ordering::Relaxed).to_string());
    std::fs::create_dir(&folder).expect("writable");
    let words = format!("{} {}", subcommand.words, call.concat().join(" "));
    let out = run(
        &folder,
        &if words.contains("--all-digits") || words.contains("--markdown") {
            words
        } else {
            words + " --format json"
        },
    );
    let mut files = BTreeMap::new();
    read(&folder, &mut files);
    let mut result = text(&out.stdout);
    if let Ok(mut value) = serde_json::from_str(&result) {
        strip(&mut value);
        result = value.to_string();
    }
    Effects { code: out.status.code(), result, files, message: text(&out.stderr) }
}

/// The files of a folder. Tables are without comments, and records have only names, since both
/// contain the command.
fn read(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for path in std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()) {
        if path.is_dir() {
            read(&path, files);
            continue;
        }
        let mut bytes = std::fs::read(&path).expect("a file");
        let kept = match path.extension().and_then(|e| e.to_str()) {
            Some("csv" | "svg") => {
                let comment = |l: &&[u8]| l.starts_with(b"#") || l.starts_with(b"<metadata>");
                bytes.split(|b| *b == b'\n').filter(|l| !comment(l)).flatten().copied().collect()
            }
            Some("json" | "txt" | "html" | "npy") => Vec::new(),
            // A film begins with its provenance.
            _ => bytes.split_off(bytes.windows(2).rposition(|w| w == b"\"}").unwrap_or(0)),
        };
        files.insert(path.components().skip(folder.components().count()).collect(), kept);
    }
}

/// Leaves out numbers that depend on the clock: times, rates, repetitions.
fn strip(value: &mut serde_json::Value) {
    if let Some(object) = value.as_object_mut() {
        let clock = |key: &str| {
            ["second", "per_", "peak", "repetitions", "gflops"].iter().any(|c| key.contains(c))
        };
        object.retain(|key, _| {
            !clock(key)
                && !key.starts_with("times_")
                && !["hours", "trials"].contains(&key.as_str())
        });
        object.values_mut().for_each(strip);
    } else if let Some(list) = value.as_array_mut() {
        list.iter_mut().for_each(strip);
    }
}

/// Writes the input files.
fn prepare(at: &Path) {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models");
    std::fs::create_dir_all(at.join("models/bert")).expect("writable");
    let write = |name: &str, bytes: &[u8]| std::fs::write(at.join(name), bytes).expect("writable");
    let circle = |k: u32| 0.7 * f64::from(k) + 0.1 * f64::from(k * k % 7);
    let many: String = (0..40).map(circle).map(|a| format!("{},{}\n", a.cos(), a.sin())).collect();
    for (name, text) in [
        ("x.csv", "1,0\n0.6,0.8\n0,-1\n"),
        ("y.csv", "1,0\n0.8,0.6\n0,-1\n"),
        ("long.csv", "2,0\n0.6,0.9\n0,-1\n"),
        ("angles.csv", "0\n1\n2\n"),
        ("triangle.csv", "1,0\n-0.5,0.8660254037844386\n-0.5,-0.8660254037844386\n"),
        ("masses.csv", "1\n2\n3\n"),
        ("square.csv", "1,2\n-1,0.5\n"),
        ("symmetric.csv", "0.5,0.2\n0.2,-0.4\n"),
        ("pair.csv", "1,0\n-1,0\n"),
        ("sphere.csv", "1,0,0\n0,1,0\n0,0,1\n"),
        ("many.csv", &many),
        ("model.toml", "mask = 'causal'\n"),
        ("models/embeddings.csv", &format!("{0}\n{0}\n", vec!["0.25"; 16].join(","))),
        (
            "grid.toml",
            "name = 'grid'\nn = 4\nd = 2\nbeta = [2, 3]\nt_end = 1\ntimes = [0, 0.5, 1]\nrealisations = 2\nobservables = ['log-energy', 'clusters']\n",
        ),
        ("e.toml", "name = 'e'\nn = 4\nd = 2\nbeta = 2\nt_end = 1\n"),
    ] {
        write(name, text.as_bytes());
    }
    let npz =
        |arrays: &[(&str, &[usize], &[f64])]| metastable::lab::npz::bytes(arrays).expect("arrays");
    let given: [(&str, &[usize], &[f64]); 4] = [
        ("w", &[2, 2], &[1.0, 0.0, 0.0, 1.0]),
        ("x", &[3, 2], &[1.0, 0.0, 0.6, 0.8, -1.0, 0.0]),
        ("s", &[3], &[0.0, 0.1, 3.0]),
        ("h", &[2, 3, 2], &[1.0, 0.0, 0.6, 0.8, -1.0, 0.0, 1.0, 0.0, 0.8, 0.6, -1.0, 0.0]),
    ];
    write("two.npz", &npz(&given));
    write(
        "mlp.npz",
        &npz(&[
            ("w1", &[1, 2], &[1.0, 2.0]),
            ("b1", &[1], &[0.5]),
            ("w2", &[2, 1], &[1.0, -1.0]),
            ("b2", &[2], &[0.0, 0.1]),
        ]),
    );
    for name in ["ids.csv", "bert/config.json", "bert/model.safetensors", "bert/tokenizer.json"] {
        std::fs::copy(models.join(name), at.join("models").join(name)).expect("copied");
    }
    for words in [
        "hunt cone-speed-printed --minutes 5 --out h.json",
        "certify critical-point --tokens pair.csv --beta 3 --out pair.json",
        "run grid.toml --out grids",
        "solve --init uniform --n 3 --d 2 --beta 3 --t-end 1 --out few --observables positions --samples 9",
        "solve --init uniform --n 20 --d 2 --beta 2 --t-end 1 --out run --observables positions,log-energy,clusters --samples 9 --log-from 0.1",
    ] {
        let out = run(at, words);
        assert!(out.status.success(), "{words}: {}", text(&out.stderr));
    }
    let grid = std::fs::read_dir(at.join("grids"))
        .expect("a folder")
        .flatten()
        .next()
        .expect("a run")
        .path();
    std::fs::rename(grid, at.join("grid")).expect("moved");
}

/// The faults of a flag of a command.
fn faults(at: &Path, subcommand: &Subcommand, usual: &(Call, Effects), flag: &str) -> Vec<String> {
    let group = subcommand.words.split(' ').next().unwrap_or_default();
    let starts =
        [format!("{} {flag}", subcommand.words), format!("{group} {flag}"), flag.to_owned()];
    let arg = subcommand.flag(flag).expect("a flag of the command");
    let words = match starts.iter().find_map(|s| row(GOOD, s)) {
        Some(words) => words,
        None if arg.kind == Kind::Switch => "",
        None if arg.kind == Kind::Real => " 0.4",
        None if arg.kind == Kind::Whole => " 5",
        None => return vec![format!("{} {flag}: add a good value to GOOD", subcommand.words)],
    };
    // Commands that measure times may always give other output.
    let mark =
        words.chars().last().filter(|c| "=~!*".contains(*c)).or((group == "bench").then_some('='));
    let good = subcommand.with(
        &usual.0,
        &subcommand.call(&format!("{flag}{}", words.trim_end_matches(['=', '~', '!', '*']))),
    );
    let line = |call: &Call| format!("{} {}", subcommand.words, call.concat().join(" "));
    let effects_of = |words: &Call| effects_of(at, subcommand, words);
    let mut out = Vec::new();
    let effects = effects_of(&good);
    let refused = effects.code == Some(1);
    if mark == Some('!') && !refused
        || !(effects.success() || refused && matches!(mark, Some('!' | '~')))
    {
        out.push(format!("{}: exit code {:?}: {}", line(&good), effects.code, effects.message));
    } else if !refused && mark == Some('=') {
        NOT_COMPARED.fetch_add(1, Ordering::Relaxed);
    } else if !refused {
        COMPARED.fetch_add(1, Ordering::Relaxed);
        let without: Call = good.iter().filter(|w| w[0] != flag).cloned().collect();
        let same = |other: &Effects| other.result == effects.result && other.files == effects.files;
        let other = if without == usual.0 {
            None
        } else {
            Some(effects_of(&without)).filter(Effects::success)
        };
        if same(other.as_ref().unwrap_or(&usual.1)) {
            out.push(format!("{}: without effect", line(&good)));
        }
    }
    if arg.kind != Kind::Switch && !matches!(mark, Some('!' | '*')) {
        // The value `?` is neither a number nor a name nor a file. A folder cannot be created
        // inside a file.
        let writes = ["--out", "--movie", "--runs"].contains(&flag);
        let value = if writes { "../x.csv/?" } else { "?" };
        let bad: Call = good
            .iter()
            .map(|w| if w[0] == flag { vec![w[0].clone(), value.to_owned()] } else { w.clone() })
            .collect();
        let Effects { code, message, .. } = effects_of(&bad);
        let about = [flag, "unknown ", "error: ?", "../x.csv"].iter().any(|w| message.contains(w));
        let expected = ["expected", "known: ", "nearest", "did you mean", "no such", "could not"]
            .iter()
            .any(|w| message.contains(w));
        let sentence = message.lines().any(|l| l.starts_with("error: "));
        if !(code == Some(1) || writes && code == Some(5))
            || !sentence
            || !about
            || !expected
            || !writes && !message.contains('?')
        {
            out.push(format!("{}: exit code {code:?}: {message}", line(&bad)));
        }
    }
    out
}

#[test]
fn every_flag_changes_the_output_and_wrong_values_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    prepare(at);
    let all = subcommands();
    let mut wrong: Vec<String> = all
        .par_iter()
        .flat_map(|subcommand| {
            let usual = subcommand.usual();
            let effects = effects_of(at, subcommand, &usual);
            if !effects.success() {
                return vec![format!(
                    "{} {}: {}",
                    subcommand.words,
                    usual.concat().join(" "),
                    effects.message
                )];
            }
            let usual = (usual, effects);
            let flags = subcommand.flags();
            flags.par_iter().flat_map_iter(|flag| faults(at, subcommand, &usual, flag)).collect()
        })
        .collect();
    for line in [CALLS, GOOD].into_iter().flat_map(rows) {
        let mut parts = line.split("--");
        let (command, flag) = (
            parts.next().unwrap_or_default().trim(),
            parts.next().and_then(|f| f.split(' ').next()).unwrap_or_default(),
        );
        let begins = |long: &str, short: &str| {
            long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        let of = |l: &&Subcommand| {
            command.is_empty() || begins(command, &l.words) || begins(&l.words, command)
        };
        if !all.iter().filter(of).any(|l| flag.is_empty() || l.flag(&format!("--{flag}")).is_some())
        {
            wrong.push(format!("no command has this row any more: {line}"));
        }
    }
    wrong.sort();
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
    let silent: Vec<&str> = rows(GOOD).filter(|r| r.ends_with('=')).collect();
    assert_eq!(silent.len(), MARKED_AS_SILENT, "{silent:#?}");
    let [compared, not] = [&COMPARED, &NOT_COMPARED].map(|n| n.load(Ordering::Relaxed));
    assert!(compared > 2 * not, "{compared} flags were compared, {not} were not");
}

/// Whether a further flag of a variant is ignored.
fn ignored(
    at: &Path,
    subcommand: &Subcommand,
    base: &(Call, Effects),
    flag: &str,
) -> Option<String> {
    let starts = [format!("{} {flag}", subcommand.words), flag.to_owned()];
    let arg = subcommand.flag(flag).expect("a flag of the command");
    let value = starts.iter().find_map(|s| row(GOOD, s)).and_then(|r| r.split_whitespace().next());
    let value = match arg.kind {
        Kind::Switch => "",
        _ => value.filter(|v| !v.starts_with("--") && !"-!=~*".contains(v)).unwrap_or("0.4"),
    };
    // The call of the variant, with this flag added.
    let call: Call = base
        .0
        .iter()
        .cloned()
        .chain([[flag.to_owned()]
            .into_iter()
            .chain((!value.is_empty()).then(|| value.to_owned()))
            .collect()])
        .collect();
    let found = effects_of(at, subcommand, &call);
    let same = found.result == base.1.result && found.files == base.1.files;
    let is_named = found.message.contains(&format!("{flag} changes nothing"));
    let wrong = found.success() && same && !is_named || !found.success() && found.code != Some(1);
    let line = format!("{} {}", subcommand.words, call.concat().join(" "));
    wrong.then(|| format!("{line}: exit code {:?}, without effect: {}", found.code, found.message))
}

#[test]
fn no_flag_is_ignored_in_other_ways_to_call_a_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    prepare(at);
    let all = subcommands();
    let wrong: Vec<String> = rows(VARIANTS)
        .collect::<Vec<_>>()
        .par_iter()
        .flat_map(|line| {
            let begins = |s: &&Subcommand| {
                line.strip_prefix(s.words.as_str()).is_some_and(|r| r.starts_with(' '))
            };
            let subcommand = all.iter().find(begins).expect("a command");
            // After a tilde: flags that may leave the output of this variant as it is.
            let (words, own) = line.split_once('~').unwrap_or((line, ""));
            let call = subcommand.call(&words[subcommand.words.len()..]);
            let effects = effects_of(at, subcommand, &call);
            if !effects.success() {
                return vec![format!("{line}: {}", effects.message)];
            }
            let given = |flag: &String| call.iter().any(|w| w[0] == *flag);
            let harmless =
                |flag: &String| [HARMLESS, own].iter().any(|h| h.split(' ').any(|h| h == flag));
            let mut flags = subcommand.flags();
            flags.retain(|f| !given(f) && !harmless(f));
            let base = (call, effects);
            flags.par_iter().filter_map(|f| ignored(at, subcommand, &base, f)).collect()
        })
        .collect();
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

/// Every number of a prediction has a description, except repeated inputs.
#[test]
fn every_prediction_describes_its_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = subcommands();
    for subcommand in all.iter().filter(|l| l.words.starts_with("predict ")) {
        let answer = run(
            folder.path(),
            &format!("{} {}", subcommand.words, subcommand.usual().concat().join(" ")),
        );
        let text = text(&answer.stdout);
        let lines: Vec<&str> = text.lines().collect();
        assert!(answer.status.success() && !lines.is_empty(), "{}: {answer:?}", subcommand.words);
        for (k, line) in lines.iter().enumerate().filter(|(_, l)| !l.starts_with(' ')) {
            let key = line.split(':').next().unwrap_or_default();
            let given = ["times", "d", "c", "eps", "scheme", "quantiles"].contains(&key);
            assert!(
                given || lines.get(k + 1).is_some_and(|l| l.starts_with("    ")),
                "{}: {line}",
                subcommand.words
            );
        }
    }
}
