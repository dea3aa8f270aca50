//! Random arguments, files and formulas, from a fixed stream: no call panics, and none takes longer
//! than a limit. `cargo test --release --test program an_hour -- --ignored` does it for an hour.

use crate::cli::mutate;
use crate::program::{command, entries, files_below, printed, text};
use metastable::num::stream::Stream;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Calls that succeed, of which words are replaced, and to which flags are added.
const CALLS: [&str; 24] = [
    "velocity --tokens t.csv --beta 2",
    "energy --tokens t.csv --beta 2",
    "solve --tokens t.csv --beta 2 --t-end 1",
    "measure --space circle --density cos:1=0.2 --beta 2 --t-end 0.1",
    "modes --samples a.csv --beta 2",
    "saddles --n 3 --d 2 --beta 2 --starts 3",
    "landscape --n 3 --beta 2",
    "continue --n 3 --beta 2..3",
    "clusters --tokens t.csv --linking-distance 0.5",
    "entropy --tokens t.csv --neighbours 1",
    "plot run --y clusters --out p.svg",
    "figure saddle-kernel --out f.svg",
    "compare run run",
    "explain cone-speed",
    "list laws",
    "explain run/record.json",
    "certify dwell --from 2 --to 1 --beta 3",
    "certify start --tokens t.csv --beta 1",
    "certify critical-point --tokens t.csv --beta 3 --anywhere",
    "certify check c.txt",
    "run e.toml --dry-run",
    "predict gamma --n 4 --beta 1 --times 1 --dynamics sa",
    "predict wendel --n 4 --d 2",
    "predict kac-rice --n 100 --beta 4",
];

/// Values of flags, good and bad, with a bar after each but the last.
const WORDS: &str = "|-|--|.|0|-0|1|2|3|-1|0.5|1e300|1e-300|nan|inf|1e1000|\
                     999999999999999999999|1..2|1..2:log3|..|a..b|1,2|1,,2|:|=|x=|=1|n=|\u{e9}|\
                     \u{e9}=1|\u{17f}|\u{2026}|t.csv|a.csv|run|e.toml|nothing.csv|uniform|\
                     polygon|sa|usa|cap:radius=1|cap:radius=|power:p=2|power:p=|exp(s)|s^2|\
                     s**2|((|1/s|foo(s)|k/K|0/2|t=1|final|kappa=1,step=0.1|cos:1=0.2|\
                     vmf:kappa=2|1+1+1|2+\u{e9}";

/// One of these values.
fn word(stream: &mut Stream) -> String {
    let all: Vec<&str> = WORDS.split('|').collect();
    all[stream.index(all.len())].to_owned()
}

/// Pieces of formulas.
const PIECES: [&str; 24] = [
    "s", "beta", "k", "pi", "exp", "ln", "sqrt", "tanh", "abs", "relu", "(", ")", "+", "-", "*",
    "/", "^", "2", "0.5", "1e308", ".", ";", " ", "\u{e9}",
];

/// Formulas of which pieces are replaced.
const FORMULAS: [&str; 6] = [
    "exp(beta*s)",
    "1/(1 + exp(-3*(s - 0.2)))",
    "s^2 + 0.5",
    "tanh(s) + 2",
    "cosh(2*s)",
    "power:p=3",
];

/// Longest time of a call. The calls take milliseconds, some of them a second.
const LIMIT: Duration = Duration::from_secs(300);

/// A folder with inputs of all kinds.
struct Inputs {
    folder: tempfile::TempDir,
    /// The files with their contents, by path.
    originals: Vec<(PathBuf, Vec<u8>)>,
    /// The flags of each command.
    flags: BTreeMap<String, Vec<String>>,
}

impl Inputs {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path().join("at");
        std::fs::create_dir(&at).expect("writable");
        for (name, text) in [
            ("t.csv", "1,0\n0.6,0.8\n0,-1\n"),
            ("a.csv", "0\n1\n2\n"),
            ("e.toml", "name = 'e'\nn = [3, 4]\nd = 2\nbeta = 2\nt_end = 1\nsamples = 3\n"),
            ("m.toml", "mask = 'causal'\nnorm = 'pre'\n"),
        ] {
            std::fs::write(at.join(name), text).expect("writable");
        }
        for line in [
            "solve --tokens t.csv --beta 2 --t-end 1 --samples 3 --observables positions,clusters --out run",
            "run e.toml --out runs",
            "landscape --n 3 --beta 2 --out c.txt",
            "certify critical-point --tokens t.csv --beta 3 --anywhere --out c.json",
            "hunt cone-speed-printed --minutes 5 --out h.json",
        ] {
            printed(&at, line);
        }
        std::fs::rename(&entries(&at.join("runs"))[0], at.join("grid")).expect("moved");
        let read = |path: PathBuf| {
            let bytes = std::fs::read(&path).expect("readable");
            (path, bytes)
        };
        let originals = files_below(&at).into_iter().map(read).collect();
        Self { originals, flags: flags(), folder }
    }

    fn at(&self) -> PathBuf {
        self.folder.path().join("at")
    }

    /// The fault of a call, if it has one.
    fn fault(&self, words: &[String]) -> Option<String> {
        let (at, notes) = (self.at(), self.folder.path().join("notes"));
        let errors = std::fs::File::create(&notes).expect("writable");
        let mut child = command(&at, "")
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn()
            .expect("starts");
        let begun = Instant::now();
        let code = loop {
            if let Some(status) = child.try_wait().expect("a status") {
                break status.code();
            }
            if begun.elapsed() > LIMIT {
                let _ = (child.kill(), child.wait());
                return Some(format!("{words:?}: takes longer than {LIMIT:?}"));
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let notes = text(&std::fs::read(&notes).expect("written"));
        let fine = code.is_some_and(|code| code != 101) && !notes.contains("panicked");
        (!fine).then(|| format!("{words:?}: exit code {code:?}: {notes}"))
    }

    /// A call with other words and further flags.
    fn arguments(&self, stream: &mut Stream) -> Vec<String> {
        let line = CALLS[stream.index(CALLS.len())];
        let flags = &self.flags[&name(line)];
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let first = name(line).split(' ').count();
        for _ in 0..stream.index(3).min(words.len() - first) {
            let at = first + stream.index(words.len() - first);
            words[at] = word(stream);
        }
        for _ in 0..stream.index(3) {
            words.push(flags[stream.index(flags.len())].clone());
            if stream.index(5) > 0 {
                words.push(word(stream));
            }
        }
        words
    }

    /// A call that reads files of which one is damaged. The next call restores it.
    fn files(&self, stream: &mut Stream) -> Vec<String> {
        const READERS: [&str; 14] = [
            "velocity --tokens t.csv --beta 2",
            "solve --tokens t.csv --beta 2 --t-end 1 --model m.toml",
            "energy --from-run run --frame 0 --beta 2",
            "clusters --from-run run",
            "movie --from-run run --beta 2 --dpi 20 --out film.gif --force",
            "plot run --y clusters --out p.svg --force",
            "plot grid --x n --y evaluations --out p.svg --force",
            "figure timeline --from-run grid --out f.svg --force",
            "compare run grid",
            "run e.toml --dry-run",
            "certify check c.txt",
            "certify check c.json",
            "landscape --n 3 --beta 2 --out c.txt",
            "hunt h.json",
        ];
        for (path, bytes) in &self.originals {
            if std::fs::read(path).ok().as_ref() != Some(bytes) {
                std::fs::write(path, bytes).expect("writable");
            }
        }
        let (path, bytes) = &self.originals[stream.index(self.originals.len())];
        std::fs::write(path, mutate(bytes, stream)).expect("writable");
        // A damaged file is read by one of the calls that name it, or its folder.
        let part = path.strip_prefix(self.at()).expect("inside").components().next();
        let part = part.map(|p| p.as_os_str().to_string_lossy().into_owned()).unwrap_or_default();
        let reads = |line: &&str| line.split(' ').any(|word| word == part);
        let named: Vec<&str> = READERS.into_iter().filter(reads).collect();
        let line = if named.is_empty() { READERS[0] } else { named[stream.index(named.len())] };
        line.split(' ').map(str::to_owned).collect()
    }

    /// A call with a random formula.
    fn formulas(&self, stream: &mut Stream) -> Vec<String> {
        let base = FORMULAS[stream.index(FORMULAS.len())];
        let mut formula: Vec<char> = base.chars().collect();
        for _ in 0..=stream.index(4) {
            let at = stream.index(formula.len() + 1);
            let piece = PIECES[stream.index(PIECES.len())].chars();
            let end = (at + stream.index(3)).min(formula.len());
            drop(formula.splice(at..end, piece));
        }
        let formula: String = formula.into_iter().collect();
        let line = [
            "velocity --tokens t.csv --dynamics usa --beta 1 --interaction",
            "energy --tokens t.csv --hessian --interaction",
            "modes --samples a.csv --circle --beta 1 --interaction",
            "certify critical-point --tokens t.csv --anywhere --interaction",
        ][stream.index(4)];
        line.split(' ').map(str::to_owned).chain([formula]).collect()
    }
}

/// The words of a call that name its command.
fn name(line: &str) -> String {
    let two = ["certify", "predict"].iter().any(|group| line.starts_with(group));
    line.split(' ').take(1 + usize::from(two)).collect::<Vec<_>>().join(" ")
}

/// The flags of the commands of the calls.
fn flags() -> BTreeMap<String, Vec<String>> {
    let mut root = metastable::cli::command();
    root.build();
    let of = |line: &&str| {
        let name = name(line);
        let find = |level: &clap::Command, word: &str| {
            level.find_subcommand(word).cloned().unwrap_or_else(|| panic!("no command {word}"))
        };
        let own = name.split(' ').fold(root.clone(), |level, word| find(&level, word));
        let without = ["help", "mpi", "version"];
        let all = own.get_arguments().filter_map(|a| a.get_long());
        let all = all.filter(|long| !without.contains(long)).map(|long| format!("--{long}"));
        let all: Vec<String> = all.collect();
        (name, all)
    };
    CALLS.iter().map(of).collect()
}

/// Tries calls of the three kinds in turn until there are enough.
fn try_calls(seed: u64, enough: &dyn Fn(usize) -> bool) {
    let (inputs, mut stream) = (Inputs::new(), Stream::new(seed, &["fuzz"]));
    let mut faults = Vec::new();
    let mut count = 0;
    while !enough(count) {
        let words = match count % 3 {
            0 => inputs.arguments(&mut stream),
            1 => inputs.files(&mut stream),
            _ => inputs.formulas(&mut stream),
        };
        faults.extend(inputs.fault(&words));
        count += 1;
    }
    assert!(faults.is_empty(), "{} of {count} calls:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn random_calls_neither_panic_nor_hang() {
    try_calls(1, &|count| count >= 600);
}

#[test]
#[ignore = "takes an hour"]
fn an_hour_of_random_calls_neither_panics_nor_hangs() {
    let begun = Instant::now();
    try_calls(2, &|_| begun.elapsed() > Duration::from_secs(3600));
}

#[test]
fn the_calls_succeed_before_they_are_changed() {
    let inputs = Inputs::new();
    for line in CALLS {
        printed(&inputs.at(), line);
    }
}
