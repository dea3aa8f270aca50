//! The import graph of the crate, read from its sources: which file takes something from which.
//!
//! Every path counts, in `use` items (grouped or not) and in the code, whether it begins with `crate`, `self`, `super`, a child module or a name that a `use`
//! binds. A path is followed through re-exports to the file that holds the item. A re-export alone makes no import: `pub use child::Item` shows what a child
//! holds, the parent uses it only where it also says `Item`. Nor do `mod child;` and the registries, which the build script writes.

pub mod names;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use tokens::tokens;

/// One file takes something from another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// The file that takes, relative to the folder of the project.
    pub from: String,
    /// The file that holds what is taken.
    pub to: String,
    /// Whether only a unit test inside the file takes it.
    pub test: bool,
}

type Names = Vec<String>;

/// What a `use` binds: a name, its path, and whether others may see it.
struct Binding {
    name: String,
    path: Names,
    shown: bool,
}

/// A module, in its own file or inline.
#[derive(Default)]
struct Module {
    file: String,
    test: bool,
    bindings: Vec<Binding>,
    /// Paths of more than one segment, and single names, in the code.
    mentions: BTreeSet<Names>,
}

/// What is called for every `mod name;`, with its names, its `#[path]` and whether only tests see it.
type Child<'a> = dyn FnMut(&mut Crate, Names, Option<String>, bool) + 'a;

/// The crate: modules by their names from the root.
#[derive(Default)]
pub struct Crate {
    modules: BTreeMap<Names, Module>,
}

impl Crate {
    /// Reads all modules below `src/lib.rs`.
    pub fn read(root: &Path) -> Self {
        let mut all = Self::default();
        all.file(root, Path::new("src/lib.rs"), Names::new(), false);
        all
    }

    fn file(&mut self, root: &Path, path: &Path, name: Names, test: bool) {
        let text = fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let file = path.to_string_lossy().replace('\\', "/");
        self.text(&file, &text, name, test, &mut |all, child, place, test| {
            let own = path.file_stem().is_some_and(|s| s == "mod" || s == "lib");
            let folder = if own { path.parent().map(Path::to_path_buf) } else { Some(path.with_extension("")) }.expect("a folder");
            let last = child.last().expect("a name").clone();
            let candidates = [folder.join(format!("{last}.rs")), folder.join(&last).join("mod.rs")];
            let place = place.map(|p| clean(&path.parent().expect("a folder").join(p)));
            let found = place.or_else(|| candidates.into_iter().find(|c| root.join(c).is_file()));
            all.file(root, &found.unwrap_or_else(|| panic!("{file}: no file for mod {last}")), child, test);
        });
    }

    /// Reads the text of a file; `child` is called for every `mod name;`.
    fn text(&mut self, file: &str, text: &str, name: Names, test: bool, child: &mut Child) {
        let words = tokens(text);
        let is = |k: usize, w: &str| words.get(k).is_some_and(|t| t == w);
        // Inline modules that are open, each with the depth of its braces.
        let mut open: Vec<(Names, usize)> = vec![(name.clone(), 0)];
        self.modules.insert(name, Module { file: file.into(), test, ..Module::default() });
        let (mut depth, mut k) = (0, 0);
        while k < words.len() {
            let here = open.last().expect("the file").0.clone();
            match words[k].as_str() {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if open.len() > 1 && open.last().is_some_and(|o| o.1 == depth) {
                        open.pop();
                    }
                }
                "mod" if is(k + 2, ";") || is(k + 2, "{") => {
                    let inner: Names = here.iter().cloned().chain([words[k + 1].clone()]).collect();
                    let before = &words[words[..k].iter().rposition(|w| w == ";" || w == "}" || w == "{").map_or(0, |p| p + 1)..k];
                    let only_tests = self.modules[&here].test || before.windows(3).any(|w| w == ["cfg", "(", "test"]);
                    if is(k + 2, ";") {
                        let place = before.iter().position(|w| w == "path").map(|p| before[p + 2].trim_matches('"').to_owned());
                        child(self, inner, place, only_tests);
                    } else {
                        self.modules.insert(inner.clone(), Module { file: file.into(), test: only_tests, ..Module::default() });
                        open.push((inner, depth));
                        depth += 1;
                    }
                    k += 2;
                }
                "use" if !is(k + 1, "<") => {
                    let end = (k..words.len()).find(|e| words[*e] == ";").unwrap_or(words.len());
                    let shown = k > 0 && (words[k - 1] == "pub" || words[k - 1] == ")");
                    let mut out = Vec::new();
                    tree(&words[k + 1..end], &mut Names::new(), &mut out);
                    let bindings = out.into_iter().map(|(name, path)| Binding { name, path, shown });
                    self.modules.get_mut(&here).expect("known").bindings.extend(bindings);
                    k = end;
                }
                word if starts_a_name(word) && !(k > 0 && (words[k - 1] == "::" || words[k - 1] == "." || words[k - 1] == "fn")) => {
                    let mut path = vec![word.to_owned()];
                    while is(k + 1, "::") && words.get(k + 2).is_some_and(|w| starts_a_name(w)) {
                        path.push(words[k + 2].clone());
                        k += 2;
                    }
                    self.modules.get_mut(&here).expect("known").mentions.insert(path);
                }
                _ => {}
            }
            k += 1;
        }
    }

    /// Follows a path from a module to the file that holds what it names; `None` for what is not of this crate.
    fn holder(&self, at: &Names, path: &[String], steps: usize) -> Option<String> {
        let (mut module, mut rest) = (at.clone(), path);
        match path.first()?.as_str() {
            "crate" => (module, rest) = (Names::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|s| s == "super") {
                    module.pop();
                    rest = &rest[1..];
                }
            }
            first => {
                let mut child = at.clone();
                child.push(first.to_owned());
                let bound = self.modules.get(at)?.bindings.iter().any(|b| b.name == first);
                if !bound && !self.modules.contains_key(&child) {
                    return None;
                }
            }
        }
        while let Some(next) = rest.first() {
            let mut child = module.clone();
            child.push(next.clone());
            if self.modules.contains_key(&child) && rest.len() > 1 {
                (module, rest) = (child, &rest[1..]);
                continue;
            }
            let own = self.modules.get(&module)?;
            // A function may have the name of a module beside it: what is bound comes first, a path of itself does not lead further.
            if let Some(binding) = own.bindings.iter().find(|b| b.name == *next).filter(|_| steps < 20) {
                let onward: Names = binding.path.iter().chain(&rest[1..]).cloned().collect();
                let found = if onward == path && module == *at { None } else { self.holder(&module, &onward, steps + 1) };
                return found.or_else(|| (steps > 0 || module != *at).then(|| own.file.clone()));
            }
            if self.modules.contains_key(&child) {
                (module, rest) = (child, &rest[1..]);
                continue;
            }
            break;
        }
        self.modules.get(&module).map(|m| m.file.clone())
    }

    /// All imports between different files.
    pub fn imports(&self) -> BTreeSet<Import> {
        let mut out = BTreeSet::new();
        for (name, module) in &self.modules {
            let used = |b: &&Binding| !b.shown || module.mentions.iter().any(|m| m[0] == b.name);
            let bound = module.bindings.iter().filter(used).map(|b| &b.path);
            for path in bound.chain(module.mentions.iter().filter(|m| m.len() > 1)) {
                if let Some(to) = self.holder(name, path, 0).filter(|to| *to != module.file) {
                    out.insert(Import { from: module.file.clone(), to, test: module.test });
                }
            }
        }
        out
    }
}

/// The files that lie on a circle of imports, unit tests apart, each with the files of the circle it can go to and come back from.
pub fn circles(imports: &BTreeSet<Import>) -> BTreeMap<String, BTreeSet<String>> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    imports.iter().filter(|i| !i.test).for_each(|i| next.entry(&i.from).or_default().push(&i.to));
    let reached = |start: &str| {
        let (mut seen, mut todo) = (BTreeSet::new(), next.get(start).cloned().unwrap_or_default());
        while let Some(file) = todo.pop() {
            if seen.insert(file.to_owned()) {
                todo.extend(next.get(file).into_iter().flatten());
            }
        }
        seen
    };
    let all: BTreeMap<&str, BTreeSet<String>> = next.keys().map(|f| (*f, reached(f))).collect();
    let both = |f: &str| all[f].iter().filter(|g| all.get(g.as_str()).is_some_and(|back| back.contains(f))).cloned().collect();
    all.keys().filter(|f| all[*f].contains(**f)).map(|f| ((*f).to_owned(), both(f))).collect()
}

/// The leaves of the tree of a `use` item: the name that each binds, and its path.
fn tree(words: &[String], prefix: &mut Names, out: &mut Vec<(String, Names)>) {
    let mut branches: Vec<&[String]> = Vec::new();
    let (mut depth, mut start) = (0i32, 0);
    for (k, word) in words.iter().enumerate() {
        depth += i32::from(word == "{") - i32::from(word == "}");
        if depth == 0 && word == "," {
            branches.push(&words[start..k]);
            start = k + 1;
        }
    }
    branches.push(&words[start..]);
    for branch in branches {
        let kept = prefix.len();
        let mut k = 0;
        while k < branch.len() && branch[k] != "{" && branch[k] != "as" {
            if branch[k] != "::" {
                prefix.push(branch[k].clone());
            }
            k += 1;
        }
        if branch.get(k).is_some_and(|w| w == "{") {
            tree(&branch[k + 1..branch.len() - 1], prefix, out);
        } else if prefix.len() > kept {
            if prefix.last().is_some_and(|l| (l == "self" && prefix.len() > 1) || l == "*") {
                prefix.pop();
            }
            let name = branch.get(k + 1).filter(|_| branch.get(k).is_some_and(|w| w == "as")).or(prefix.last()).cloned();
            out.push((name.unwrap_or_default(), prefix.clone()));
        }
        prefix.truncate(kept);
    }
}

fn starts_a_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && !matches!(word, "as" | "pub" | "in" | "let" | "mut" | "ref" | "where")
}

/// A path without `..`.
fn clean(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        if part.as_os_str() == ".." {
            out.pop();
        } else {
            out.push(part);
        }
    }
    out
}

#[test]
fn the_reader_follows_groups_supers_and_re_exports() {
    let mut all = Crate::default();
    let mut add = |file: &str, name: &[&str], text: &str| {
        all.text(file, text, name.iter().map(ToString::to_string).collect(), false, &mut |_, _, _, _| ());
    };
    add("lib", &[], "pub mod a; pub mod b;");
    add("a", &["a"], "mod inner; mod other; pub use inner::{Inner, Shown}; pub struct Own; fn f(_: Inner) {} // use crate::b::Item;");
    add(
        "a/inner",
        &["a", "inner"],
        "use super::{Own, other::{self, x as y}}; const T: &str = \"crate::b::Item\"; /* super::super::b::f */",
    );
    add("a/other", &["a", "other"], "use super::*; #[cfg(test)] mod tests { use super::super::super::b::Item; }");
    add("b", &["b"], "use crate::{a::{Shown, self}, b::*}; fn f<'a>(c: char) { let _ = ('\"', a::Own, std::fs::read, c); }");
    add("c", &["c"], "fn f() { crate::a::Shown::new(); self::g(); super::b::f(); }");
    let seen: Vec<String> = all.imports().iter().map(|i| format!("{} {}{}", i.from, i.to, if i.test { " test" } else { "" })).collect();
    let wanted = ["a a/inner", "a/inner a", "a/inner a/other", "a/other a", "a/other b test", "b a", "b a/inner", "c a/inner", "c b"];
    assert_eq!(seen, wanted);
    let on: Vec<String> = circles(&all.imports()).into_keys().collect();
    assert_eq!(on, ["a", "a/inner", "a/other"]);
}
