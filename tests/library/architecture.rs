//! Rules for the sources. Files and folders of a package do not import each other in a cycle.
//! Files are short. Below the lab no module prints, reads files or looks at a clock.
//!
//! Packages are found by their manifests. Imports are read with `syn`, from `use` items and from
//! paths in the code. Such a path begins with `crate`, `self`, `super`, a child module or a name
//! that a `use` binds. A path is followed through re-exports to the file that holds the item, and
//! ends where it leaves the package. A re-export alone is no import: after `pub use child::Item`
//! the parent imports the child only if its own code names `Item`. Two more things are no imports:
//! `mod child;`, and the value of a `static`: it may be a table of modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;
use syn::visit::{self, Visit};

type Names = Vec<String>;
/// Pairs of files: the first imports from the second.
type Imports = BTreeSet<(PathBuf, PathBuf)>;

/// A module, in its own file or inline.
#[derive(Default)]
struct Module {
    file: PathBuf,
    /// Whether it is compiled only for unit tests.
    test: bool,
    /// Names bound by `use`: the name, its path, and whether it is re-exported.
    bindings: Vec<(String, Names, bool)>,
    /// Paths in the code.
    paths: BTreeSet<Names>,
}

/// The modules of a package by their names from its root.
#[derive(Default)]
struct Package {
    modules: BTreeMap<Names, Module>,
    /// The module that is being read.
    here: Names,
}

impl Package {
    /// Reads all modules below the root of a library.
    fn read(root: &Path) -> Self {
        let mut all = Self::default();
        all.file(root, Names::new(), false);
        all
    }

    fn file(&mut self, path: &Path, name: Names, test: bool) {
        let file =
            syn::parse_file(&read(path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        self.items(path, name, test, &file.items);
    }

    fn items(&mut self, file: &Path, name: Names, test: bool, items: &[syn::Item]) {
        self.modules.insert(name.clone(), Module { file: file.into(), test, ..Module::default() });
        let outer = std::mem::replace(&mut self.here, name);
        items.iter().for_each(|item| self.visit_item(item));
        self.here = outer;
    }

    fn module(&mut self) -> &mut Module {
        self.modules.get_mut(&self.here).expect("the module that is being read")
    }

    /// The leaves of a `use` item.
    fn bind(&mut self, tree: &syn::UseTree, prefix: &Names, exported: bool) {
        let with = |name: &syn::Ident| -> Names {
            let name = Some(name.to_string()).filter(|n| prefix.is_empty() || n != "self");
            prefix.iter().cloned().chain(name).collect()
        };
        let path = match tree {
            syn::UseTree::Path(next) => return self.bind(&next.tree, &with(&next.ident), exported),
            syn::UseTree::Group(group) => {
                return group.items.iter().for_each(|t| self.bind(t, prefix, exported));
            }
            syn::UseTree::Name(leaf) => with(&leaf.ident),
            syn::UseTree::Rename(leaf) => with(&leaf.ident),
            _ => prefix.clone(),
        };
        let name = if let syn::UseTree::Rename(leaf) = tree {
            Some(leaf.rename.to_string())
        } else {
            path.last().cloned()
        };
        self.module().bindings.extend(name.map(|n| (n, path, exported)));
    }

    /// Follows a path from a module to the file that holds the item; `None` for an item of another
    /// package.
    fn defining_file(&self, at: &Names, path: &[String], steps: usize) -> Option<&Path> {
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
            _ => {}
        }
        loop {
            let own = &self.modules[&module];
            let Some(next) = rest.first() else { return Some(&own.file) };
            let child: Names = module.iter().chain([next]).cloned().collect();
            let deeper = self.modules.contains_key(&child);
            // A function may have the name of a sibling module: bound names come first. A binding
            // to its own path is not followed.
            let binding = own
                .bindings
                .iter()
                .find(|b| b.0 == *next)
                .filter(|_| steps < 20 && !(deeper && rest.len() > 1));
            if let Some((_, to, _)) = binding {
                let onward: Names = to.iter().chain(&rest[1..]).cloned().collect();
                return if onward == path && module == *at {
                    None
                } else {
                    self.defining_file(&module, &onward, steps + 1)
                };
            }
            if !deeper {
                // An item of this module, or a name of another package.
                return (rest.len() < path.len() && !module.is_empty()).then_some(&own.file);
            }
            (module, rest) = (child, &rest[1..]);
        }
    }

    /// All imports between different files, without unit tests.
    fn imports(&self) -> Imports {
        let mut out = Imports::new();
        for (name, module) in self.modules.iter().filter(|m| !m.1.test) {
            let used =
                |b: &&(String, Names, bool)| !b.2 || module.paths.iter().any(|p| p[0] == b.0);
            let bound = module.bindings.iter().filter(used).map(|b| &b.1);
            for path in bound.chain(module.paths.iter().filter(|p| p.len() > 1)) {
                let to = self.defining_file(name, path, 0).filter(|to| *to != module.file);
                out.extend(to.map(|to| (module.file.clone(), to.to_path_buf())));
            }
        }
        out
    }

    /// Imports between the folders and files at the root of the package.
    fn layers(&self) -> BTreeSet<(String, String)> {
        let top: BTreeMap<&Path, &String> =
            self.modules.iter().filter_map(|(n, m)| Some((m.file.as_path(), n.first()?))).collect();
        let between = |(a, b): &(PathBuf, PathBuf)| {
            Some(((*top.get(&**a)?).clone(), (*top.get(&**b)?).clone()))
        };
        self.imports().iter().filter_map(between).filter(|(a, b)| a != b).collect()
    }

    /// Whether a folder or a file at the root of the package has this name.
    fn has_layer(&self, name: &str) -> bool {
        self.modules.keys().any(|n| *n == [name])
    }
}

impl<'a> Visit<'a> for Package {
    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        let is_test = |a: &syn::Attribute| {
            a.path().is_ident("cfg") && a.parse_args::<syn::Ident>().is_ok_and(|i| i == "test")
        };
        let test = self.module().test || item.attrs.iter().any(is_test);
        let name: Names = self.here.iter().cloned().chain([item.ident.to_string()]).collect();
        let file = self.module().file.clone();
        if let Some((_, items)) = &item.content {
            return self.items(&file, name, test, items);
        }
        let beside = file.parent().expect("a folder");
        let own = file.file_stem().is_some_and(|s| s == "mod" || s == "lib");
        let folder = if own { beside.to_path_buf() } else { file.with_extension("") };
        let given = item.attrs.iter().find(|a| a.path().is_ident("path")).map(|a| match &a.meta {
            syn::Meta::NameValue(syn::MetaNameValue {
                value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }),
                ..
            }) => clean(&beside.join(path.value())),
            _ => panic!("{}: a path of {}", file.display(), item.ident),
        });
        let inside = folder.join(item.ident.to_string());
        let candidates = [inside.join("mod.rs"), inside.with_extension("rs")];
        let place = given.or_else(|| candidates.into_iter().find(|c| c.is_file()));
        self.file(&place.unwrap_or(inside), name, test);
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        self.bind(&item.tree, &Names::new(), !matches!(item.vis, syn::Visibility::Inherited));
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        if path.leading_colon.is_none() {
            let names = path.segments.iter().map(|s| s.ident.to_string()).collect();
            self.module().paths.insert(names);
        }
        visit::visit_path(self, path);
    }

    /// The arguments of a macro need not be expressions: its words are read, without string
    /// literals.
    fn visit_macro(&mut self, item: &'a syn::Macro) {
        self.visit_path(&item.path);
        let text =
            item.tokens.to_string().replace("\\\"", "").replace("'\"'", "").replace(" :: ", "::");
        for word in text
            .split('"')
            .step_by(2)
            .flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':'))
        {
            let names: Names =
                word.split("::").filter(|n| !n.is_empty()).map(str::to_owned).collect();
            if !names.is_empty() && !word.starts_with(':') {
                self.module().paths.insert(names);
            }
        }
    }

    fn visit_item_static(&mut self, item: &'a syn::ItemStatic) {
        self.visit_type(&item.ty);
    }

    fn visit_visibility(&mut self, _: &'a syn::Visibility) {}

    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}
}

/// A path without `..`.
fn clean(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |out, part| match part {
        Component::ParentDir => out.parent().expect("inside").to_path_buf(),
        _ => out.join(part),
    })
}

/// The edges that lie on cycles, or on paths between two cycles.
fn cycles<T: Ord + Clone>(mut edges: BTreeSet<(T, T)>) -> BTreeSet<(T, T)> {
    loop {
        let (from, to): (BTreeSet<T>, BTreeSet<T>) = edges.iter().cloned().unzip();
        let inner: BTreeSet<(T, T)> =
            edges.iter().filter(|(a, b)| to.contains(a) && from.contains(b)).cloned().collect();
        if inner.len() == edges.len() {
            return edges;
        }
        edges = inner;
    }
}

/// All files below a folder whose names end in `ending`.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("a folder of the project").flatten().map(|e| e.path());
    let below =
        entries.flat_map(|path| if path.is_dir() { files(&path, ending) } else { vec![path] });
    below.filter(|f| f.to_string_lossy().ends_with(ending)).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// All packages: folder, manifest and modules.
static PACKAGES: LazyLock<Vec<(PathBuf, String, Package)>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifests =
        [vec![root.join("Cargo.toml")], files(&root.join("src"), "Cargo.toml")].concat();
    let packages = manifests.iter().filter_map(|manifest| {
        let folder = manifest.parent().expect("a folder");
        let library =
            ["lib.rs", "src/lib.rs"].map(|l| folder.join(l)).into_iter().find(|l| l.is_file())?;
        Some((folder.to_path_buf(), read(manifest), Package::read(&library)))
    });
    packages.collect()
});

#[test]
fn files_and_folders_of_a_package_have_no_import_cycles() {
    let mut count = 0;
    for (folder, _, package) in PACKAGES.iter() {
        let imports = package.imports();
        count += imports.len();
        assert!(
            cycles(imports).is_empty(),
            "{}: {:#?}",
            folder.display(),
            cycles(package.imports())
        );
        let folders = cycles(package.layers());
        assert!(folders.is_empty(), "{}: {folders:#?}", folder.display());
    }
    assert!(count > 1000, "only {count} imports read");
}

#[test]
fn files_stay_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for path in
        ["src", "paper_figs", "tests", "benches"].iter().flat_map(|f| files(&root.join(f), ".rs"))
    {
        let lines = read(&path).lines().count();
        assert!(lines <= 750, "{} has {lines} lines", path.display());
    }
}

/// The keys in all sections of a manifest whose heading meets a condition.
fn keys(manifest: &str, section: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let sections = manifest
        .split("\n[")
        .filter_map(|s| s.split_once("]\n"))
        .filter(|(heading, _)| section(heading));
    let lines = sections.flat_map(|(_, text)| text.lines());
    lines
        .filter_map(|l| l.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A package that does not use the lab is a pure library: its callers decide where output goes.
/// Build scripts are exempt: they print for Cargo.
#[test]
fn below_the_lab_no_module_prints_reads_files_or_looks_at_a_clock() {
    let name = |manifest: &str| {
        manifest
            .lines()
            .find_map(|l| l.strip_prefix("name = "))
            .expect("a name")
            .trim_matches('"')
            .to_owned()
    };
    let used = |manifest: &str| {
        keys(manifest, |h| {
            h == "dependencies" || h.starts_with("target.") && h.ends_with(".dependencies")
        })
    };
    let scripts: BTreeSet<String> =
        PACKAGES.iter().flat_map(|p| keys(&p.1, |h| h == "build-dependencies")).collect();
    // Packages that contain the lab or depend on a package that contains it.
    let mut outer: BTreeSet<String> = BTreeSet::new();
    let is_outer = |(folder, manifest, package): &(PathBuf, String, Package),
                    outer: &BTreeSet<String>| {
        folder.ends_with("lab") || !package.has_layer("lab") && !used(manifest).is_disjoint(outer)
    };
    for _ in PACKAGES.iter() {
        outer = PACKAGES
            .iter()
            .filter(|p| p.2.has_layer("lab") || is_outer(p, &outer))
            .map(|p| name(&p.1))
            .collect();
    }
    assert!(!outer.is_empty(), "no lab");
    let mut count = 0;
    for (_, _, package) in
        PACKAGES.iter().filter(|p| !is_outer(p, &outer) && !scripts.contains(&name(&p.1)))
    {
        let mut above = BTreeSet::from(["lab".to_owned()]);
        let layers = package.layers();
        for _ in &layers {
            let found: Names = layers
                .iter()
                .filter(|(_, to)| above.contains(to))
                .map(|(from, _)| from.clone())
                .collect();
            above.extend(found);
        }
        for (_, module) in package
            .modules
            .iter()
            .filter(|(name, _)| name.first().is_some_and(|n| !above.contains(n)))
        {
            let (file, text) = (module.file.display(), read(&module.file));
            count += 1;
            for word in [
                "println!",
                "eprintln!",
                "std::fs",
                "Instant::now",
                "SystemTime",
                "current_num_threads",
            ] {
                assert!(!text.contains(word), "{file}: {word}");
            }
        }
    }
    assert!(count > 300, "only {count} modules are below the lab");
}

#[test]
fn paths_are_followed_through_groups_super_and_re_exports() {
    let mut all = Package::default();
    let mut add = |file: &str, name: &[&str], text: &str| {
        let items = syn::parse_file(text).expect("Rust").items;
        all.items(Path::new(file), name.iter().map(ToString::to_string).collect(), false, &items);
    };
    add("lib", &[], "pub use other::x;");
    add(
        "a",
        &["a"],
        "pub use inner::{Inner, Shown}; pub struct Own; fn f(_: Inner) {} // use crate::b::Item;",
    );
    add(
        "a/inner",
        &["a", "inner"],
        "use super::{Own, other::{self, x as y}}; const T: &str = \"crate::b::Item\"; /* super::super::b::f */",
    );
    add(
        "a/other",
        &["a", "other"],
        "use super::*; #[cfg(test)] mod tests { use super::super::super::b::Item; }",
    );
    add(
        "b",
        &["b"],
        "use crate::{a::{Shown, self}, x}; fn f<'a>(c: char) { let _ = ('\"', a::Own, std::fs::read, crate::x::y, c); }",
    );
    add(
        "c",
        &["c"],
        "fn f() { crate::a::Shown::new(); self::g(); assert!(1, \"crate::a\", super::b::f()); }",
    );
    let seen: Vec<String> = all
        .imports()
        .iter()
        .map(|(from, to)| format!("{} {}", from.display(), to.display()))
        .collect();
    assert_eq!(
        seen,
        [
            "a a/inner",
            "a/inner a",
            "a/inner a/other",
            "a/other a",
            "b a",
            "b a/inner",
            "c a/inner",
            "c b"
        ]
    );
    let in_cycles: BTreeSet<PathBuf> =
        cycles(all.imports()).into_iter().map(|(from, _)| from).collect();
    assert_eq!(in_cycles, ["a", "a/inner", "a/other"].map(PathBuf::from).into());
    assert_eq!(
        all.layers(),
        [("b", "a"), ("c", "a"), ("c", "b")].map(|(a, b)| (a.to_owned(), b.to_owned())).into()
    );
}
