//! Embeds the experiments of the repository, and names what the program was built from.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

fn main() {
    let folder = "../../experiments";
    let path = |f: &str| format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{folder}/{f}.toml\")");
    let files = metastable_registry::names(folder, "toml");
    let entries: Vec<String> = files.iter().map(|f| format!("({f:?}, include_str!({}))", path(f))).collect();
    metastable_registry::write("experiments", &format!("&[{}]", entries.join(", ")));
    println!("cargo::rustc-env=METASTABLE_COMMIT={}", commit().unwrap_or_else(|| "unknown".into()));
    println!("cargo::rustc-env=METASTABLE_RUSTC={}", compiler().unwrap_or_else(|| "unknown".into()));
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
    let place = Path::new("../../.git");
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
