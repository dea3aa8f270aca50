//! What a user of the library sees: the items that the crate page reaches through modules without
//! `#[doc(hidden)]`, with the methods of their types. The list is tests/data/public_interface.txt;
//! `METASTABLE_RENEW=1 cargo test` writes it anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use syn::{Attribute, Item, UseTree, Visibility};

/// Items that a user sees, at most.
const MOST: usize = 1320;

/// A public type and its crate, for the methods of its `impl` blocks.
type Types = BTreeSet<(String, String)>;

#[derive(Default)]
struct Interface {
    /// Paths of items.
    items: BTreeSet<String>,
    types: Types,
    /// The packages that hold them.
    packages: BTreeSet<String>,
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|a| {
        let list = a.meta.require_list().map(|l| l.tokens.to_string()).unwrap_or_default();
        a.path().is_ident("doc") && list == "hidden" || a.path().is_ident("cfg") && list == "test"
    })
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn items(file: &Path) -> Vec<Item> {
    let text = fs::read_to_string(file).expect("a source file");
    syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display())).items
}

/// The file of a child module.
fn child(file: &Path, name: &str) -> Option<PathBuf> {
    let root = ["mod.rs", "lib.rs"].iter().any(|n| file.ends_with(n));
    let folder = if root { file.parent()?.to_owned() } else { file.with_extension("") };
    let files = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
    files.into_iter().find(|f| f.is_file())
}

/// Public name, attributes and kind of an item.
fn named(item: &Item) -> Option<(&syn::Ident, &[Attribute], &Visibility)> {
    Some(match item {
        Item::Fn(i) => (&i.sig.ident, &i.attrs, &i.vis),
        Item::Struct(i) => (&i.ident, &i.attrs, &i.vis),
        Item::Enum(i) => (&i.ident, &i.attrs, &i.vis),
        Item::Trait(i) => (&i.ident, &i.attrs, &i.vis),
        Item::Const(i) => (&i.ident, &i.attrs, &i.vis),
        Item::Static(i) => (&i.ident, &i.attrs, &i.vis),
        Item::Type(i) => (&i.ident, &i.attrs, &i.vis),
        _ => return None,
    })
}

/// The leaves of a `use` item: the path, and the name that it gets.
fn leaves(tree: &UseTree, before: &[String], out: &mut Vec<(Vec<String>, String)>) {
    let with = |name: &syn::Ident| {
        let name = Some(name.to_string()).filter(|n| before.is_empty() || n != "self");
        before.iter().cloned().chain(name).collect::<Vec<String>>()
    };
    match tree {
        UseTree::Path(next) => leaves(&next.tree, &with(&next.ident), out),
        UseTree::Group(group) => group.items.iter().for_each(|t| leaves(t, before, out)),
        UseTree::Name(leaf) => {
            let path = with(&leaf.ident);
            let name = path.last().cloned().unwrap_or_default();
            out.push((path, name));
        }
        UseTree::Rename(leaf) => out.push((with(&leaf.ident), leaf.rename.to_string())),
        UseTree::Glob(_) => out.push((before.to_vec(), "*".to_owned())),
    }
}

impl Interface {
    /// One item of a file, under the path of the module that shows it.
    fn add(&mut self, item: &Item, package: &str, path: &str) {
        let Some((name, attributes, visibility)) = named(item) else { return };
        if !is_public(visibility) || is_hidden(attributes) {
            return;
        }
        self.items.insert(join(path, &name.to_string()));
        self.types.insert((package.to_owned(), name.to_string()));
        if let Item::Trait(t) = item {
            for method in &t.items {
                if let syn::TraitItem::Fn(f) = method {
                    self.items.insert(format!("{path}::{name}::{}", f.sig.ident));
                }
            }
        }
    }

    /// All public items of a module.
    fn module(&mut self, file: &Path, package: &str, path: &str) {
        for item in items(file) {
            self.add(&item, package, path);
            match &item {
                Item::Mod(m) if is_public(&m.vis) && !is_hidden(&m.attrs) => {
                    if let Some(inside) = child(file, &m.ident.to_string()) {
                        self.module(&inside, package, &format!("{path}::{}", m.ident));
                    }
                }
                Item::Use(u) if is_public(&u.vis) && !is_hidden(&u.attrs) => {
                    let mut all = Vec::new();
                    leaves(&u.tree, &[], &mut all);
                    all.iter().for_each(|(from, name)| {
                        self.export(file, from, name, (package, path));
                    });
                }
                _ => {}
            }
        }
    }

    /// An item of a child module, or the whole of one, that a module exports.
    fn export(&mut self, file: &Path, from: &[String], name: &str, (package, path): (&str, &str)) {
        let from = if from.first().is_some_and(|f| f == "self") { &from[1..] } else { from };
        let other = from.first().and_then(|f| f.strip_prefix("metastable_"));
        if let Some(other) = other.map(str::to_owned) {
            self.packages.insert(other.clone());
            let library = source().join(&other).join("lib.rs");
            let from = &from[1..];
            return match from.last().map(String::as_str) {
                None | Some("self") => self.module(&library, &other, &join(path, name)),
                _ if from.len() == 1 && descend(&library, from).is_none() => {
                    let Some(item) = find(&library, name) else { return };
                    self.export(&library, &item, name, (&other, path));
                }
                _ => self.export(&library, from, name, (&other, path)),
            };
        }
        if name == "*" {
            if let Some(inside) = descend(file, from) {
                self.module(&inside, package, path);
            }
            return;
        }
        let Some((last, modules)) = from.split_last() else { return };
        if let Some(inside) = descend(file, from) {
            return self.module(&inside, package, &join(path, name));
        }
        let Some(home) = descend(file, modules).filter(|_| !modules.is_empty()) else { return };
        for item in items(&home) {
            if named(&item).is_some_and(|n| n.0 == last) {
                self.add(&item, package, path);
            }
            if let Item::Use(u) = &item {
                let mut all = Vec::new();
                leaves(&u.tree, &[], &mut all);
                for (deeper, _) in all.iter().filter(|(_, known)| known == last) {
                    self.export(&home, deeper, name, (package, path));
                }
            }
        }
    }

    /// The methods of the types of a package.
    fn methods(&mut self, folder: &Path, package: &str) {
        for entry in fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()) {
            if entry.is_dir() {
                self.methods(&entry, package);
            } else if entry.extension().is_some_and(|e| e == "rs") {
                self.methods_of(&entry, package);
            }
        }
    }

    fn methods_of(&mut self, file: &Path, package: &str) {
        for item in items(file) {
            let Item::Impl(block) = item else { continue };
            let syn::Type::Path(of) = &*block.self_ty else { continue };
            let Some(name) = of.path.segments.last().map(|s| s.ident.to_string()) else { continue };
            let shown = self.types.contains(&(package.to_owned(), name.clone()));
            if block.trait_.is_some() || !shown {
                continue;
            }
            for member in &block.items {
                if let syn::ImplItem::Fn(f) = member
                    && is_public(&f.vis)
                    && !is_hidden(&f.attrs)
                {
                    self.items.insert(format!("{package}: {name}::{}", f.sig.ident));
                }
            }
        }
    }
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") }
}

/// The path of an item that a file re-exports from a child module.
fn find(file: &Path, name: &str) -> Option<Vec<String>> {
    items(file).into_iter().find_map(|item| {
        let Item::Use(u) = item else { return None };
        let mut all = Vec::new();
        leaves(&u.tree, &[], &mut all);
        all.into_iter().find(|(_, known)| known == name).map(|(from, _)| from)
    })
}

/// The file of a module below another one.
fn descend(file: &Path, names: &[String]) -> Option<PathBuf> {
    names.iter().try_fold(file.to_owned(), |at, name| child(&at, name))
}

/// The interface of the crate page.
fn interface() -> BTreeSet<String> {
    let mut all = Interface::default();
    let face = source().join("lib.rs");
    for item in items(&face) {
        match &item {
            Item::Use(u) if is_public(&u.vis) && !is_hidden(&u.attrs) => {
                let mut parts = Vec::new();
                leaves(&u.tree, &[], &mut parts);
                parts.iter().for_each(|(from, name)| all.export(&face, from, name, ("", "")));
            }
            Item::Mod(m) if is_public(&m.vis) && !is_hidden(&m.attrs) => {
                if let Some(file) = child(&face, &m.ident.to_string()) {
                    all.module(&file, "", &m.ident.to_string());
                }
            }
            _ => {}
        }
    }
    for package in all.packages.clone() {
        all.methods(&source().join(&package), &package);
    }
    all.items
}

#[test]
fn the_public_interface_is_the_listed_one() {
    let found: Vec<String> = interface().into_iter().collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/public_interface.txt");
    if std::env::var_os("METASTABLE_RENEW").is_some() {
        fs::write(&file, found.join("\n") + "\n").expect("writable");
    }
    let text = fs::read_to_string(&file).expect("the list");
    let known: BTreeSet<&str> = text.lines().collect();
    let new: Vec<&String> = found.iter().filter(|f| !known.contains(f.as_str())).collect();
    let gone: Vec<&&str> = known.iter().filter(|k| !found.iter().any(|f| f == *k)).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "new: {new:#?}\ngone: {gone:#?}\nMETASTABLE_RENEW=1 cargo test lists them"
    );
    assert!(found.len() <= MOST, "{} public items, at most {MOST}", found.len());
    // Control: functions, methods of types and of traits are seen.
    for name in ["theorem::check", "sphere::Tokens", "sphere: Tokens::n", "flow::solve"] {
        assert!(known.contains(name), "{name}");
    }
}
