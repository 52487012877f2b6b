//! The public API of the library crates, listed from their sources.
//!
//! Each crate has its listing in `public-api.txt`. A change of the API is a change of that file, which a reviewer sees and a test
//! asks for. The listing is made from the syntax alone, so that it does not depend on the compiler's version; of what macros expand
//! to, only the builders of parts are listed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Block, Field, Fields, File, Ident, ImplItem, ImplItemConst, Item, ItemConst, ItemMacro,
    ItemStruct, Meta, TraitItemFn, Type, UseTree, Visibility, parse_quote,
};

/// The crates whose API is listed.
pub(crate) const CRATES: [&str; 7] = [
    "emphatic",
    "emphatic-chart",
    "emphatic-diagnosis",
    "emphatic-lab",
    "emphatic-paper",
    "emphatic-problems",
    "emphatic-text",
];

/// Lists the public items of a crate: each definition once, at the shortest path it can be named by.
pub(crate) fn listing(root: &Path, name: &str) -> Result<String, String> {
    let source = root.join("crates").join(name).join("src");
    let tree = Module::read(&source.join("lib.rs"), &source)?;
    let mut lister =
        Lister { tree: &tree, public: BTreeMap::new(), modules: BTreeSet::new(), foreign: BTreeSet::new() };
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
        let mut items: Vec<Item> = items
            .into_iter()
            .filter(|item| !head(item).is_some_and(|(_, _, attributes)| is_left_out(attributes)))
            .collect();
        let builders: Vec<Item> = items.iter().filter_map(builder).flatten().collect();
        items.extend(builders);
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
                    if let Some((name, true, _)) = head(item) {
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
            if let Some(place) = found.items.iter().position(|item| name_of(item).as_ref() == Some(name)) {
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
        let shortest =
            |names: &BTreeSet<String>| names.iter().min_by_key(|name| name.matches("::").count()).cloned();
        let mut sections = BTreeMap::new();
        let mut names = BTreeSet::new();
        for ((module, place), paths) in &self.public {
            let Some(item) = self.tree.at(module).map(|module| &module.items[*place]) else { continue };
            names.extend(name_of(item));
            if let Some(path) = shortest(paths) {
                sections.insert(
                    path.clone(),
                    (item, paths.iter().filter(|other| **other != path).collect::<Vec<_>>()),
                );
            }
        }
        let mut text = String::new();
        for (path, (item, others)) in &sections {
            let _ = writeln!(text, "// {path}");
            for other in others {
                let _ = writeln!(text, "// also {other}");
            }
            let _ = writeln!(text, "{}", printed(vec![(*item).clone()]));
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
        let Some(name) = name_of(of) else { return Vec::new() };
        let mut list = Vec::new();
        self.tree.each(&mut |item| {
            let Item::Impl(implementation) = item else { return };
            let own_type = type_name(&implementation.self_ty);
            let mut implementation = implementation.clone();
            match implementation.trait_.as_ref().map(|(path, _)| path.clone()) {
                None if own_type.as_ref() == Some(&name) => {
                    implementation.items.retain(is_public_member);
                    if !implementation.items.is_empty() {
                        list.push(Item::Impl(implementation));
                    }
                }
                Some(path) => {
                    let implemented = path.segments.last().map(|segment| segment.ident.to_string());
                    let is_of_type =
                        own_type.as_ref() == Some(&name) && matches!(of, Item::Struct(_) | Item::Enum(_));
                    let is_of_trait = implemented.as_ref() == Some(&name)
                        && !own_type.is_some_and(|own| public.contains(&own));
                    if is_of_type || is_of_trait {
                        implementation.items.clear();
                        list.push(Item::Impl(implementation));
                    }
                }
                None => {}
            }
        });
        list.sort_by_cached_key(|item| {
            (matches!(item, Item::Impl(one) if one.trait_.is_some()), printed(vec![item.clone()]))
        });
        list
    }
}

/// What `settings! { Part<R, …>(…) => Builder; name: …; … }` writes: the builder, with a setter for each setting.
fn builder(call: &Item) -> Option<Vec<Item>> {
    let Item::Macro(call) = call else { return None };
    let text = call.mac.tokens.to_string();
    let (of, settings) = text.split_once(';').filter(|_| call.mac.path.is_ident("settings"))?;
    let (part, builder) = of.split_once("=>")?;
    let (part, inputs) = part.split_once('(')?;
    let (name, generics) = part.split_once('<')?;
    let bounds: Vec<&str> = generics.trim().trim_end_matches('>').split(',').collect();
    let parameters: Vec<&str> = bounds.iter().map(|bound| bound.split(':').next().unwrap_or(bound)).collect();
    let parameters = parameters.join(",");
    let bounds: String = bounds[1..].iter().map(|bound| format!(", {bound}<R>")).collect();
    let inputs = inputs.trim().trim_end_matches(')').replacen("features", "features: impl Into<Features>", 1);
    let names =
        settings.split(';').filter_map(|setting| setting.split_once(':')).map(|(name, _)| name.trim());
    let setters: String = names.map(|name| format!("pub fn {name}(self, {name}: R) -> Self {{}}")).collect();
    let items = format!(
        "#[derive(Clone, Debug)] #[must_use] pub struct {builder}<{parameters}> {{ settings: () }}
        impl<R: Real{bounds}> {name}<{parameters}> {{ pub fn builder({inputs}) -> {builder}<{parameters}> {{}} }}
        impl<R: Real{bounds}> {builder}<{parameters}> {{
            pub fn build(self) -> Result<{name}<{parameters}>, SettingError> {{}}
            {setters}
        }}"
    );
    syn::parse_file(&items).ok().map(|file| file.items)
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

/// What an item is called, who sees it, and its attributes; `None` for items without a name of their own.
fn head(item: &Item) -> Option<(&Ident, bool, &[Attribute])> {
    Some(match item {
        Item::Const(item) => (&item.ident, is_public(&item.vis), &item.attrs),
        Item::Enum(item) => (&item.ident, is_public(&item.vis), &item.attrs),
        Item::Fn(item) => (&item.sig.ident, is_public(&item.vis), &item.attrs),
        Item::Macro(item) => (
            item.ident.as_ref()?,
            item.attrs.iter().any(|one| one.path().is_ident("macro_export")),
            &item.attrs,
        ),
        Item::Mod(item) => (&item.ident, is_public(&item.vis), &item.attrs),
        Item::Static(item) => (&item.ident, is_public(&item.vis), &item.attrs),
        Item::Struct(item) => (&item.ident, is_public(&item.vis), &item.attrs),
        Item::Trait(item) => (&item.ident, is_public(&item.vis), &item.attrs),
        Item::Type(item) => (&item.ident, is_public(&item.vis), &item.attrs),
        _ => return None,
    })
}

fn name_of(item: &Item) -> Option<String> {
    head(item).map(|(ident, ..)| ident.to_string())
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
            below.map(|(rest, name)| ([std::slice::from_ref(&first), &rest[..]].concat(), name)).collect()
        }
        UseTree::Name(name) if name.ident == "self" => vec![],
        UseTree::Name(name) => vec![(vec![name.ident.to_string()], name.ident.to_string())],
        UseTree::Rename(rename) => vec![(vec![rename.ident.to_string()], rename.rename.to_string())],
        UseTree::Glob(_) => vec![(Vec::new(), "*".to_owned())],
        UseTree::Group(group) => group.items.iter().flat_map(imports).collect(),
    }
}

/// Leaves what users see: no bodies, no private fields, and of the attributes those that users depend on.
struct Interface;

impl VisitMut for Interface {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        let kept = ["derive", "non_exhaustive", "must_use", "deprecated"];
        attributes.retain(|attribute| kept.iter().any(|name| attribute.path().is_ident(name)));
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        block.stmts.clear();
    }

    fn visit_item_const_mut(&mut self, item: &mut ItemConst) {
        visit_mut::visit_item_const_mut(self, item);
        item.expr = parse_quote!(_);
    }

    fn visit_impl_item_const_mut(&mut self, item: &mut ImplItemConst) {
        visit_mut::visit_impl_item_const_mut(self, item);
        item.expr = parse_quote!(_);
    }

    /// Whether a method has a body in its trait matters to those who implement it.
    fn visit_trait_item_fn_mut(&mut self, function: &mut TraitItemFn) {
        visit_mut::visit_trait_item_fn_mut(self, function);
        function.default = function.default.is_some().then(|| parse_quote!({ .. }));
    }

    fn visit_item_macro_mut(&mut self, item: &mut ItemMacro) {
        let name = &item.ident;
        *item = parse_quote!(macro_rules! #name {});
    }

    /// Private fields become one: that there are some is part of the API.
    fn visit_item_struct_mut(&mut self, item: &mut ItemStruct) {
        visit_mut::visit_item_struct_mut(self, item);
        match &mut item.fields {
            Fields::Named(fields) => {
                let all = std::mem::take(&mut fields.named);
                let (public, private): (Vec<Field>, Vec<Field>) =
                    all.into_iter().partition(|field| is_public(&field.vis));
                fields.named = public.into_iter().collect();
                if !private.is_empty() {
                    fields.named.push(parse_quote!(private: _));
                }
            }
            Fields::Unnamed(fields) => {
                let private = fields.unnamed.iter_mut().filter(|field| !is_public(&field.vis));
                private.for_each(|field| field.ty = parse_quote!(_));
            }
            Fields::Unit => {}
        }
    }
}

fn is_public_member(member: &ImplItem) -> bool {
    match member {
        ImplItem::Fn(function) => is_public(&function.vis) && !is_left_out(&function.attrs),
        ImplItem::Const(constant) => is_public(&constant.vis),
        _ => false,
    }
}

/// Items as text. A method that has a body in its trait ends in `{ .. }`.
fn printed(mut items: Vec<Item>) -> String {
    items.iter_mut().for_each(|item| Interface.visit_item_mut(item));
    let text = prettyplease::unparse(&File { shebang: None, frontmatter: None, attrs: Vec::new(), items });
    text.replace(" {}\n", ";\n").replace(" {\n        ..\n    }", " { .. }")
}
