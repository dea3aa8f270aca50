//! Builds the registries: every plug-in folder's `mod.rs` names its files with plain `pub mod name;` lines, each file
//! exports one `ENTRY`, and this script writes the slice of all entries. A file without its line is a build error.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

const FOLDERS: [(&str, &str); 8] = [
    ("dynamics", "src/attention/dynamics"),
    ("maps", "src/recurrent/map"),
    ("laws", "src/sphere/law"),
    ("mass_laws", "src/sphere/mass_law"),
    ("claims", "src/theorem/claim"),
    ("observables", "src/flow/observable"),
    ("studies", "src/study"),
    ("figures", "paper_figs"),
];

fn main() {
    println!("cargo::rerun-if-changed=src/build.rs");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    for (name, folder) in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        let register = fs::read_to_string(format!("{folder}/mod.rs")).unwrap_or_default();
        let mut files: Vec<String> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|f| f.ok()?.file_name().into_string().ok())
            .filter_map(|f| f.strip_suffix(".rs").map(str::to_owned))
            .filter(|f| f != "mod")
            .collect();
        files.sort();
        for file in &files {
            let line = format!("pub mod {file};");
            assert!(register.lines().any(|l| l == line), "{folder}/{file}.rs is not registered: add `{line}` to {folder}/mod.rs");
        }
        let entries: Vec<String> = files.iter().map(|f| format!("&{f}::ENTRY")).collect();
        let path = Path::new(&out).join(format!("{name}.rs"));
        fs::write(path, format!("&[{}]", entries.join(", "))).expect("OUT_DIR is writable");
    }
    documentation(Path::new(&out));
    experiments(Path::new(&out));
    println!("cargo::rustc-env=METASTABLE_COMMIT={}", commit().unwrap_or_else(|| "unknown".into()));
    println!("cargo::rustc-env=METASTABLE_RUSTC={}", compiler().unwrap_or_else(|| "unknown".into()));
}

/// The sources of a plug-in folder, in the order of its registry.
fn sources(folder: &str) -> Vec<String> {
    let mut files: Vec<_> = fs::read_dir(folder).into_iter().flatten().filter_map(|f| Some(f.ok()?.path())).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "rs") && f.file_stem().is_some_and(|s| s != "mod"));
    files.sort_by_key(|f| f.file_stem().map(ToOwned::to_owned));
    files.iter().map(|f| fs::read_to_string(f).unwrap_or_default()).collect()
}

/// Collects the section "Derivation" of every claim's documentation, and the first lines of every figure's file.
fn documentation(out: &Path) {
    let derivations: Vec<String> = sources("src/theorem/claim").iter().map(|s| derivation(s)).collect();
    let about = |s: &String| s.lines().map_while(|l| l.strip_prefix("//!")).collect::<Vec<_>>().join(" ");
    let figures: Vec<String> = sources("paper_figs").iter().map(about).collect();
    for (name, texts) in [("derivations.rs", derivations), ("figure_docs.rs", figures)] {
        fs::write(out.join(name), format!("&{texts:?}")).expect("OUT_DIR is writable");
    }
}

/// The lines between `# Derivation` and the entry, without their comment marks.
fn derivation(source: &str) -> String {
    let (before, _) = source.split_once("\npub static ENTRY").unwrap_or_default();
    let Some((_, text)) = before.split_once("/// # Derivation\n") else { return String::new() };
    let lines: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("///")).map(|l| l.strip_prefix(' ').unwrap_or(l)).collect();
    lines.join("\n").trim().to_owned()
}

/// Embeds `experiments/*.toml` as (name, text), so that the binary runs them from any folder.
fn experiments(out: &Path) {
    println!("cargo::rerun-if-changed=experiments");
    let mut files: Vec<String> = fs::read_dir("experiments")
        .into_iter()
        .flatten()
        .filter_map(|f| f.ok()?.file_name().into_string().ok())
        .filter(|f| f.ends_with(".toml"))
        .collect();
    files.sort();
    let entries: Vec<String> = files
        .iter()
        .map(|f| format!("({:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/experiments/{f}\")))", f.trim_end_matches(".toml")))
        .collect();
    fs::write(out.join("experiments.rs"), format!("&[{}]", entries.join(", "))).expect("OUT_DIR is writable");
}

/// The commit of the checkout, read from the files of git: nothing but cargo is needed.
fn commit() -> Option<String> {
    let own = git_folder()?;
    let watched = |path: PathBuf| -> Option<String> {
        let text = fs::read_to_string(&path).ok()?;
        println!("cargo::rerun-if-changed={}", path.display());
        Some(text.trim().to_owned())
    };
    let head = watched(own.join("HEAD"))?;
    let Some(name) = head.strip_prefix("ref: ") else { return Some(head) };
    // A branch in the file of all branches gets a file of its own with the next commit: the log of HEAD
    // tells of it.
    let _ = watched(own.join("logs").join("HEAD"));
    // Branches of a second checkout are those of the first.
    let common = fs::read_to_string(own.join("commondir")).map_or(own.clone(), |shared| own.join(shared.trim()));
    watched(common.join(name)).or_else(|| {
        // git gathers branches in one file: a commit and a name on each line.
        let packed = watched(common.join("packed-refs"))?;
        packed.lines().find_map(|l| l.strip_suffix(name)?.strip_suffix(' ').map(str::to_owned))
    })
}

/// The folder of git; in a second checkout (`git worktree`) a file says where it is.
fn git_folder() -> Option<PathBuf> {
    let place = Path::new(".git");
    if place.is_dir() {
        return Some(place.to_owned());
    }
    let said = fs::read_to_string(place).ok()?;
    said.trim().strip_prefix("gitdir: ").map(PathBuf::from)
}

fn compiler() -> Option<String> {
    let output = std::process::Command::new(env::var("RUSTC").ok()?).arg("--version").output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
