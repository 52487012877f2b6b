//! The public API of the library crates, listed from their sources.
//!
//! Each crate has its listing in `public-api.txt`. A change of the API is a change of that file, which a reviewer sees and a test
//! asks for. The listing is made from the syntax alone, so that it does not depend on the compiler's version; of macros, only
//! `settings!`, which writes the setters of builders, is listed, as it is called. What is exported is found by its name: another public
//! item of the same name is listed with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Block, Field, Fields, File, Ident, ImplItem, ImplItemConst, Item, ItemConst, ItemMacro,
    ItemStruct, Meta, TraitItemFn, Type, UseTree, Visibility, parse_quote,
};

/// The crates whose API is listed.
pub(crate) const CRATES: [&str; 8] = [
    "emphatic",
    "emphatic-chart",
    "emphatic-diagnosis",
    "emphatic-environments",
    "emphatic-lab",
    "emphatic-paper",
    "emphatic-problems",
    "emphatic-text",
];

/// Lists the public items of a crate: each definition once, at the shortest path it can be named by.
pub(crate) fn listing(root: &Path, name: &str) -> Result<String, String> {
    let source = root.join("crates").join(name).join("src");
    let mut modules = Vec::new();
    let items = parse(&source.join("lib.rs"))?;
    add_module(Module { path: name.replace('-', "_"), is_public: true, items }, &source, &mut modules)?;
    let mut exports = exports(&modules)?;
    let mut sections = Vec::new();
    for module in &modules {
        for item in &module.items {
            let Some((name, true, _)) = head(item).filter(|_| !matches!(item, Item::Mod(_))) else {
                continue;
            };
            let mut paths = exports.get(&name.to_string()).cloned().unwrap_or_default();
            paths.extend(module.is_public.then(|| format!("{}::{name}", module.path)));
            if let Some(shortest) = paths.iter().min_by_key(|path| path.matches("::").count()).cloned() {
                paths.remove(&shortest);
                sections.push((shortest, paths, item));
            }
        }
    }
    sections.sort_by(|a, b| a.0.cmp(&b.0));
    let names: BTreeSet<String> = sections.iter().filter_map(|(_, _, item)| name_of(item)).collect();
    let mut text = String::new();
    for (path, others, item) in &sections {
        text += &format!("// {path}\n");
        others.iter().for_each(|other| text += &format!("// also {other}\n"));
        text += &(printed(vec![(*item).clone()]) + "\n");
        let implementations = implementations(&modules, item, &names);
        if !implementations.is_empty() {
            text += &(printed(implementations) + "\n");
        }
    }
    let items = || modules.iter().flat_map(|module| &module.items);
    let is_settings = |item: &&Item| matches!(item, Item::Macro(call) if call.mac.path.is_ident("settings"));
    items().filter(is_settings).for_each(|call| text += &(printed(vec![call.clone()]) + "\n"));
    exports.retain(|name, _| !names.contains(name));
    for (name, paths) in exports {
        if items().any(|item| name_of(item).as_ref() == Some(&name)) {
            return Err(format!("`pub use` of {name}, which is a module or not public: make it public"));
        }
        paths
            .iter()
            .for_each(|path| text += &format!("// {path}: of another crate, or written by a macro\n"));
    }
    Ok(text)
}

/// A module with its items, without those that are only compiled for tests.
struct Module {
    path: String,
    /// Whether it and all modules around it are public.
    is_public: bool,
    items: Vec<Item>,
}

fn parse(file: &Path) -> Result<Vec<Item>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let parsed = syn::parse_file(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(parsed.items)
}

/// Adds a module and those below it, whose files are in `dir`.
fn add_module(mut module: Module, dir: &Path, all: &mut Vec<Module>) -> Result<(), String> {
    module.items.retain(|item| !head(item).is_some_and(|(_, _, attributes)| is_left_out(attributes)));
    for item in &module.items {
        let Item::Mod(child) = item else { continue };
        let name = child.ident.to_string();
        let items = match &child.content {
            Some((_, items)) => items.clone(),
            None => parse(&dir.join(format!("{name}.rs")))?,
        };
        let (path, is_public) =
            (format!("{}::{name}", module.path), module.is_public && is_public(&child.vis));
        add_module(Module { path, is_public, items }, &dir.join(&name), all)?;
    }
    all.push(module);
    Ok(())
}

/// The names that public modules export by `pub use`, each with the paths it can be named by.
fn exports(modules: &[Module]) -> Result<BTreeMap<String, BTreeSet<String>>, String> {
    let mut exports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for module in modules.iter().filter(|module| module.is_public) {
        for item in &module.items {
            let Item::Use(import) = item else { continue };
            for (name, new) in imports(&import.tree).into_iter().filter(|_| is_public(&import.vis)) {
                if name == "*" {
                    return Err(format!("{}: `pub use …::*`: name what is exported", module.path));
                }
                exports.entry(name).or_default().insert(format!("{}::{new}", module.path));
            }
        }
    }
    Ok(exports)
}

/// The names that a `use` imports, each with its new name.
fn imports(tree: &UseTree) -> Vec<(String, String)> {
    match tree {
        UseTree::Path(path) => imports(&path.tree),
        UseTree::Name(name) => vec![(name.ident.to_string(), name.ident.to_string())],
        UseTree::Rename(rename) => vec![(rename.ident.to_string(), rename.rename.to_string())],
        UseTree::Glob(_) => vec![("*".to_owned(), "*".to_owned())],
        UseTree::Group(group) => group.items.iter().flat_map(imports).collect(),
    }
}

/// What is implemented for a type, or a trait for types that are not public.
fn implementations(modules: &[Module], of: &Item, public: &BTreeSet<String>) -> Vec<Item> {
    let Some(name) = name_of(of) else { return Vec::new() };
    let mut list = Vec::new();
    for item in modules.iter().flat_map(|module| &module.items) {
        let Item::Impl(implementation) = item else { continue };
        let mut implementation = implementation.clone();
        let own_type = type_name(&implementation.self_ty);
        let implemented = implementation.trait_.as_ref().map(|(path, _)| path.segments.last());
        let is_of_type = own_type.as_ref() == Some(&name) && !matches!(of, Item::Trait(_));
        let is_of_trait = implemented.flatten().is_some_and(|segment| segment.ident == name)
            && !own_type.is_some_and(|own| public.contains(&own));
        let is_inherent = implementation.trait_.is_none();
        implementation.items.retain(|member| match member {
            ImplItem::Fn(function) => {
                is_inherent && is_public(&function.vis) && !is_left_out(&function.attrs)
            }
            ImplItem::Const(constant) => is_inherent && is_public(&constant.vis),
            ImplItem::Type(_) => true,
            _ => false,
        });
        if (is_of_type || is_of_trait) && !(is_inherent && implementation.items.is_empty()) {
            list.push((!is_inherent, printed(vec![Item::Impl(implementation.clone())]), implementation));
        }
    }
    list.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    list.into_iter().map(|(_, _, implementation)| Item::Impl(implementation)).collect()
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Items that only tests see, or that are hidden from the documentation.
fn is_left_out(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string() == "test",
        Meta::List(list) if list.path.is_ident("doc") => list.tokens.to_string() == "hidden",
        _ => false,
    })
}

/// What an item is called, who sees it, and its attributes; `None` for items without a name of their own.
fn head(item: &Item) -> Option<(&Ident, bool, &[Attribute])> {
    let (name, visibility, attributes) = match item {
        Item::Const(item) => (&item.ident, &item.vis, &item.attrs),
        Item::Enum(item) => (&item.ident, &item.vis, &item.attrs),
        Item::Fn(item) => (&item.sig.ident, &item.vis, &item.attrs),
        Item::Macro(item) => {
            let is_exported = item.attrs.iter().any(|one| one.path().is_ident("macro_export"));
            return Some((item.ident.as_ref()?, is_exported, &item.attrs));
        }
        Item::Mod(item) => (&item.ident, &item.vis, &item.attrs),
        Item::Static(item) => (&item.ident, &item.vis, &item.attrs),
        Item::Struct(item) => (&item.ident, &item.vis, &item.attrs),
        Item::Trait(item) => (&item.ident, &item.vis, &item.attrs),
        Item::Type(item) => (&item.ident, &item.vis, &item.attrs),
        _ => return None,
    };
    Some((name, is_public(visibility), attributes))
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

    /// What users call is the name of a macro; calls are left as they are.
    fn visit_item_macro_mut(&mut self, item: &mut ItemMacro) {
        if let Some(name) = &item.ident {
            *item = parse_quote!(macro_rules! #name {});
        }
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

/// Items as text. A method that has a body in its trait ends in `{ .. }`.
fn printed(mut items: Vec<Item>) -> String {
    items.iter_mut().for_each(|item| Interface.visit_item_mut(item));
    let text = prettyplease::unparse(&File { shebang: None, frontmatter: None, attrs: Vec::new(), items });
    text.replace(" {}\n", ";\n").replace(" {\n        ..\n    }", " { .. }")
}
