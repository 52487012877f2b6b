//! The public API of the library crates, listed from their sources.
//!
//! Each crate has its listing in `public-api.txt`. A change of the API is a change of that file, which a reviewer sees and a test
//! asks for. The listing is made from the syntax alone, so that it does not depend on the compiler's version; what macros expand to
//! is not listed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use syn::{Attribute, Field, Fields, File, ImplItem, Item, Meta, TraitItem, Type, UseTree, Visibility, parse_quote};

/// The crates whose API is listed.
pub(crate) const CRATES: [&str; 7] =
    ["emphatic", "emphatic-chart", "emphatic-diagnosis", "emphatic-lab", "emphatic-paper", "emphatic-problems", "emphatic-text"];

/// Returns where the listing of a crate is kept.
pub(crate) fn file(name: &str) -> String {
    format!("crates/{name}/public-api.txt")
}

/// Lists the public items of a crate: each definition once, at the shortest path it can be named by.
pub(crate) fn listing(root: &Path, name: &str) -> Result<String, String> {
    let source = root.join("crates").join(name).join("src");
    let tree = Module::read(&source.join("lib.rs"), &source)?;
    let mut lister = Lister { tree: &tree, public: BTreeMap::new(), modules: BTreeSet::new(), foreign: BTreeSet::new() };
    lister.list(&[], &name.replace('-', "_"))?;
    Ok(lister.text())
}

/// A module with its items; those that are only compiled for tests are left out.
struct Module {
    items: Vec<Item>,
    children: BTreeMap<String, Module>,
}

impl Module {
    fn read(file: &Path, children_in: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let parsed = syn::parse_file(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        Self::new(parsed.items, children_in)
    }

    fn new(items: Vec<Item>, children_in: &Path) -> Result<Self, String> {
        let items: Vec<Item> = items.into_iter().filter(|item| !is_left_out(attributes(item))).collect();
        let mut children = BTreeMap::new();
        for item in &items {
            let Item::Mod(module) = item else { continue };
            let name = module.ident.to_string();
            let child = match &module.content {
                Some((_, items)) => Self::new(items.clone(), &children_in.join(&name))?,
                None => Self::read(&file_of(children_in, &name), &children_in.join(&name))?,
            };
            children.insert(name, child);
        }
        Ok(Self { items, children })
    }

    fn at(&self, path: &[String]) -> Option<&Module> {
        path.iter().try_fold(self, |module, name| module.children.get(name))
    }

    /// Calls `visit` with every item of this module and of those below.
    fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a Item)) {
        self.items.iter().for_each(&mut *visit);
        self.children.values().for_each(|child| child.each(visit));
    }
}

fn file_of(dir: &Path, name: &str) -> PathBuf {
    let file = dir.join(format!("{name}.rs"));
    if file.exists() { file } else { dir.join(name).join("mod.rs") }
}

/// What a path in a `use` leads to.
enum Target {
    Module(Vec<String>),
    /// An item, by its module and its place there.
    Item(Vec<String>, usize),
    /// Something of another crate.
    Foreign,
}

struct Lister<'a> {
    tree: &'a Module,
    /// Where each public item can be named from, by its module and its place there.
    public: BTreeMap<(Vec<String>, usize), BTreeSet<String>>,
    /// The modules that were listed, with the path they were reached by.
    modules: BTreeSet<(Vec<String>, String)>,
    /// Items of other crates that are exported again.
    foreign: BTreeSet<String>,
}

impl Lister<'_> {
    /// Notes what can be named through this module, which is reached by `path`.
    fn list(&mut self, module: &[String], path: &str) -> Result<(), String> {
        if !self.modules.insert((module.to_vec(), path.to_owned())) {
            return Ok(());
        }
        let Some(items) = self.tree.at(module).map(|module| &module.items) else { return Ok(()) };
        for (place, item) in items.iter().enumerate() {
            match item {
                Item::Mod(child) if is_public(&child.vis) => {
                    let name = child.ident.to_string();
                    self.list(&joined(module, &name), &format!("{path}::{name}"))?;
                }
                Item::Use(import) if is_public(&import.vis) => {
                    for (target, name) in imports(&import.tree) {
                        self.export(module, &target, &name, path)?;
                    }
                }
                item => {
                    if let Some(name) = public_name(item) {
                        let names = self.public.entry((module.to_vec(), place)).or_default();
                        names.insert(format!("{path}::{name}"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Notes that `pub use target as name` stands in a module.
    fn export(&mut self, module: &[String], target: &[String], name: &str, path: &str) -> Result<(), String> {
        if name == "*" {
            return Err(format!("{path}: `pub use {}::*`: name what is exported", target.join("::")));
        }
        match self.resolve(module, target, 0) {
            Target::Module(found) => self.list(&found, &format!("{path}::{name}"))?,
            Target::Item(found, place) => {
                self.public.entry((found, place)).or_default().insert(format!("{path}::{name}"));
            }
            Target::Foreign => {
                self.foreign.insert(format!("pub use {}; // as {path}::{name}", target.join("::")));
            }
        }
        Ok(())
    }

    /// Follows a path from a module, through imports.
    fn resolve(&self, module: &[String], path: &[String], depth: usize) -> Target {
        let (mut at, mut rest) = match path.first().map(String::as_str) {
            Some("crate") => (Vec::new(), &path[1..]),
            _ => (module.to_vec(), path),
        };
        while let Some((name, after)) = rest.split_first() {
            rest = after;
            match name.as_str() {
                "self" => continue,
                "super" => {
                    at.pop();
                    continue;
                }
                _ => {}
            }
            let Some(found) = self.tree.at(&at) else { return Target::Foreign };
            if found.children.contains_key(name) {
                at.push(name.clone());
                continue;
            }
            if let Some(place) = found.items.iter().position(|item| item_name(item).as_ref() == Some(name)) {
                return Target::Item(at, place);
            }
            let import = found.items.iter().find_map(|item| match item {
                Item::Use(import) => imports(&import.tree).into_iter().find(|(_, imported)| imported == name),
                _ => None,
            });
            // A chain of imports ends; a circle of them is no Rust.
            let Some((mut target, _)) = import.filter(|_| depth < 32) else { return Target::Foreign };
            target.extend(rest.iter().cloned());
            return self.resolve(&at, &target, depth + 1);
        }
        Target::Module(at)
    }

    /// Writes everything down, in the order of the paths.
    fn text(&self) -> String {
        let shortest = |names: &BTreeSet<String>| names.iter().min_by_key(|name| name.matches("::").count()).cloned();
        let mut sections = BTreeMap::new();
        let mut names = BTreeSet::new();
        for ((module, place), paths) in &self.public {
            let Some(item) = self.tree.at(module).map(|module| &module.items[*place]) else { continue };
            names.extend(item_name(item));
            if let Some(path) = shortest(paths) {
                sections.insert(path.clone(), (item, paths.iter().filter(|other| **other != path).collect::<Vec<_>>()));
            }
        }
        let mut text = String::new();
        for (path, (item, others)) in &sections {
            let _ = writeln!(text, "// {path}");
            for other in others {
                let _ = writeln!(text, "// also {other}");
            }
            let _ = writeln!(text, "{}", printed(vec![shown(item)]));
            let implementations = self.implementations(item, &names);
            if !implementations.is_empty() {
                let _ = writeln!(text, "{}", printed(implementations));
            }
        }
        self.foreign.iter().for_each(|line| text = format!("{text}{line}\n"));
        text
    }

    /// What is implemented for a type, or a trait for types that are not this crate's.
    fn implementations(&self, of: &Item, public: &BTreeSet<String>) -> Vec<Item> {
        let Some(name) = item_name(of) else { return Vec::new() };
        let mut list = Vec::new();
        self.tree.each(&mut |item| {
            let Item::Impl(implementation) = item else { return };
            let own_type = type_name(&implementation.self_ty);
            let mut implementation = implementation.clone();
            implementation.attrs.clear();
            match implementation.trait_.as_ref().map(|(path, _)| path.clone()) {
                None if own_type.as_ref() == Some(&name) => {
                    implementation.items.retain(is_public_member);
                    implementation.items.iter_mut().for_each(without_body);
                    if !implementation.items.is_empty() {
                        list.push(Item::Impl(implementation));
                    }
                }
                Some(path) => {
                    let implemented = path.segments.last().map(|segment| segment.ident.to_string());
                    let is_of_type = own_type.as_ref() == Some(&name) && matches!(of, Item::Struct(_) | Item::Enum(_));
                    let is_of_trait = implemented.as_ref() == Some(&name) && !own_type.is_some_and(|own| public.contains(&own));
                    if is_of_type || is_of_trait {
                        implementation.items.clear();
                        list.push(Item::Impl(implementation));
                    }
                }
                None => {}
            }
        });
        list.sort_by_cached_key(|item| (matches!(item, Item::Impl(one) if one.trait_.is_some()), printed(vec![item.clone()])));
        list
    }
}

fn joined(module: &[String], name: &str) -> Vec<String> {
    [module, &[name.to_owned()]].concat()
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Items that only tests see, or that are hidden from the documentation.
fn is_left_out(attributes: &[Attribute]) -> bool {
    let is = |attribute: &Attribute, name: &str, value: &str| match &attribute.meta {
        Meta::List(list) => list.path.is_ident(name) && list.tokens.to_string() == value,
        _ => false,
    };
    attributes.iter().any(|attribute| is(attribute, "cfg", "test") || is(attribute, "doc", "hidden"))
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn item_name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// The name of an item that is public where it stands.
fn public_name(item: &Item) -> Option<String> {
    let public = match item {
        Item::Const(item) => is_public(&item.vis),
        Item::Enum(item) => is_public(&item.vis),
        Item::Fn(item) => is_public(&item.vis),
        Item::Macro(item) => item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export")),
        Item::Static(item) => is_public(&item.vis),
        Item::Struct(item) => is_public(&item.vis),
        Item::Trait(item) => is_public(&item.vis),
        Item::Type(item) => is_public(&item.vis),
        _ => false,
    };
    item_name(item).filter(|_| public)
}

/// The name of a type, without its path and its arguments.
fn type_name(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        Type::Reference(reference) => type_name(&reference.elem),
        _ => None,
    }
}

/// The paths that a `use` imports, each with the name it gets.
fn imports(tree: &UseTree) -> Vec<(Vec<String>, String)> {
    match tree {
        UseTree::Path(path) => {
            let first = path.ident.to_string();
            let below = imports(&path.tree).into_iter();
            below.map(|(rest, name)| ([&[first.clone()], &rest[..]].concat(), name)).collect()
        }
        UseTree::Name(name) if name.ident == "self" => vec![],
        UseTree::Name(name) => vec![(vec![name.ident.to_string()], name.ident.to_string())],
        UseTree::Rename(rename) => vec![(vec![rename.ident.to_string()], rename.rename.to_string())],
        UseTree::Glob(_) => vec![(Vec::new(), "*".to_owned())],
        UseTree::Group(group) => group.items.iter().flat_map(imports).collect(),
    }
}

/// An item as its users see it: no bodies, no private fields, and of the attributes those that users depend on.
fn shown(item: &Item) -> Item {
    let mut item = item.clone();
    match &mut item {
        Item::Fn(function) => {
            keep_attributes(&mut function.attrs);
            function.block = parse_quote!({});
        }
        Item::Const(constant) => {
            keep_attributes(&mut constant.attrs);
            constant.expr = parse_quote!(_);
        }
        Item::Static(item) => {
            keep_attributes(&mut item.attrs);
            item.expr = parse_quote!(_);
        }
        Item::Struct(item) => {
            keep_attributes(&mut item.attrs);
            show_fields(&mut item.fields);
        }
        Item::Enum(item) => {
            keep_attributes(&mut item.attrs);
            for variant in &mut item.variants {
                variant.attrs.clear();
                variant.fields.iter_mut().for_each(|field| field.attrs.clear());
            }
        }
        Item::Trait(item) => {
            keep_attributes(&mut item.attrs);
            item.items.iter_mut().for_each(show_member_of_trait);
        }
        Item::Type(item) => keep_attributes(&mut item.attrs),
        Item::Macro(item) => {
            let name = item.ident.clone();
            return parse_quote!(macro_rules! #name {});
        }
        _ => {}
    }
    item
}

fn keep_attributes(attributes: &mut Vec<Attribute>) {
    let kept = ["derive", "non_exhaustive", "must_use", "deprecated"];
    attributes.retain(|attribute| kept.iter().any(|name| attribute.path().is_ident(name)));
}

/// Private fields become one: that there are some is part of the API.
fn show_fields(fields: &mut Fields) {
    let is_private = |field: &Field| !is_public(&field.vis);
    let some_private = fields.iter().any(is_private);
    match fields {
        Fields::Named(named) => {
            named.named = std::mem::take(&mut named.named).into_iter().filter(|field| !is_private(field)).collect();
            if some_private {
                named.named.push(parse_quote!(private: _));
            }
        }
        Fields::Unnamed(unnamed) => {
            for field in unnamed.unnamed.iter_mut().filter(|field| is_private(field)) {
                field.ty = parse_quote!(_);
            }
        }
        Fields::Unit => {}
    }
    fields.iter_mut().for_each(|field| field.attrs.clear());
}

fn show_member_of_trait(member: &mut TraitItem) {
    match member {
        TraitItem::Fn(function) => {
            function.attrs.clear();
            function.default = function.default.is_some().then(|| parse_quote!({ .. }));
        }
        TraitItem::Type(associated) => associated.attrs.clear(),
        TraitItem::Const(constant) => {
            constant.attrs.clear();
            constant.default = constant.default.take().map(|(equals, _)| (equals, parse_quote!(_)));
        }
        _ => {}
    }
}

fn is_public_member(member: &ImplItem) -> bool {
    match member {
        ImplItem::Fn(function) => is_public(&function.vis) && !is_left_out(&function.attrs),
        ImplItem::Const(constant) => is_public(&constant.vis),
        _ => false,
    }
}

fn without_body(member: &mut ImplItem) {
    match member {
        ImplItem::Fn(function) => {
            keep_attributes(&mut function.attrs);
            function.block = parse_quote!({});
        }
        ImplItem::Const(constant) => {
            constant.attrs.clear();
            constant.expr = parse_quote!(_);
        }
        _ => {}
    }
}

/// Items as text. A method that has a body in its trait ends in `{ .. }`.
fn printed(items: Vec<Item>) -> String {
    let text = prettyplease::unparse(&File { shebang: None, frontmatter: None, attrs: Vec::new(), items });
    text.replace(" {}\n", ";\n").replace(" {\n        ..\n    }", " { .. }")
}
