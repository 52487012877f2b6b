//! The state of a learner as tensors, and the form of the tree that they hang on.
//!
//! A state may be nearly as large as its learner, so it is never copied into a tree of values: it is walked through once for its shape and once
//! for each tensor, and it is read from the bytes of the tensors themselves.

use safetensors::tensor::{Dtype, TensorInfo};
use serde::de::value::{Error as Unread, MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Unexpected, Visitor};
use serde::ser::{self, Impossible, Serialize, Serializer};
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;
use std::io::Write;

/// A value whose numbers can be written.
pub(crate) trait Writable: Send {
    /// Its shape; or writes the numbers at the end of a way.
    fn walk<'a>(&self, numbers: Option<(&'a [Way], &'a mut dyn Write)>) -> std::io::Result<Shape>;
}

impl<T: Serialize + Send> Writable for T {
    fn walk<'a>(&self, numbers: Option<(&'a [Way], &'a mut dyn Write)>) -> std::io::Result<Shape> {
        self.serialize(Walk(numbers)).map_err(|Unwritten(error)| error)
    }
}

/// A value without its numbers.
#[derive(PartialEq)]
pub(crate) enum Shape {
    Null,
    Number(Dtype),
    /// Each shape, and how many in a row have it.
    List(Vec<(Shape, usize)>),
    Map(Vec<(&'static str, Shape)>),
}

/// A step on the way from a value to the numbers of a tensor.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Way {
    Part(usize),
    Each,
}

/// Numbers of one kind, and the way to them.
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) dtype: Dtype,
    pub(crate) count: usize,
    pub(crate) way: Vec<Way>,
}

/// Lists the tensors of a value. Gives its form, in which a tensor is a text: its name.
pub(crate) fn take_apart(shape: &Shape, name: &str, way: &[Way], tensors: &mut Vec<Tensor>) -> Json {
    let below = |part: &str| match part {
        "Ok" | "Err" => name.to_owned(), // Which of two parts it is, the form says.
        _ if name.is_empty() => part.to_owned(),
        _ => format!("{name}.{part}"),
    };
    let mut tensor = |name: &str, dtype, count, further: &[Way]| {
        tensors.push(Tensor { name: name.to_owned(), dtype, count, way: [way, further].concat() });
    };
    match shape {
        Shape::Null => Json::Null,
        Shape::Number(dtype) => {
            tensor(name, *dtype, 1, &[]);
            json!({ "number": name })
        }
        Shape::List(runs) => match (&runs[..], one_row(runs)) {
            (&[(Shape::Number(dtype), count)], _) => {
                tensor(name, dtype, count, &[Way::Each]);
                json!({ "tensor": name })
            }
            // Rows such as (feature, trace), by columns.
            (&[(_, count)], Some(row)) => {
                let column = |(k, dtype): (usize, Dtype)| {
                    let name = below(&k.to_string());
                    tensor(&name, dtype, count, &[Way::Each, Way::Part(k)]);
                    json!({ "tensor": name })
                };
                json!({ "columns": row.into_iter().enumerate().map(column).collect::<Vec<_>>() })
            }
            _ => {
                let items = runs.iter().flat_map(|(shape, count)| std::iter::repeat_n(shape, *count));
                let part = |(k, item): (usize, &Shape)| {
                    take_apart(item, &below(&k.to_string()), &[way, &[Way::Part(k)]].concat(), tensors)
                };
                json!({ "list": items.enumerate().map(part).collect::<Vec<_>>() })
            }
        },
        Shape::Map(entries) => {
            let part = |(k, (key, value)): (usize, &(&'static str, Shape))| {
                let form = take_apart(value, &below(key), &[way, &[Way::Part(k)]].concat(), tensors);
                ((*key).to_owned(), form)
            };
            json!({ "map": entries.iter().enumerate().map(part).collect::<Map<_, _>>() })
        }
    }
}

/// The kinds of the numbers in every row, if this is a list of rows of numbers.
fn one_row(runs: &[(Shape, usize)]) -> Option<Vec<Dtype>> {
    let [(Shape::List(row), _)] = runs else { return None };
    let numbers = row.iter().flat_map(|(shape, count)| std::iter::repeat_n(shape, *count));
    numbers.map(|shape| if let Shape::Number(dtype) = shape { Some(*dtype) } else { None }).collect()
}

/// Walks through a value; if there is a way to go, to its end alone.
struct Walk<'a>(Option<(&'a [Way], &'a mut dyn Write)>);

impl<'a> Walk<'a> {
    fn number(self, dtype: Dtype, bytes: [u8; 8]) -> Result<Shape, Unwritten> {
        if let Some((_, out)) = self.0 {
            out.write_all(&bytes).map_err(Unwritten)?;
        }
        Ok(Shape::Number(dtype))
    }

    fn parts(self, shape: Shape) -> Result<Parts<'a>, Unwritten> {
        Ok(Parts { numbers: self.0, seen: 0, shape })
    }
}

/// A value with parts.
struct Parts<'a> {
    numbers: Option<(&'a [Way], &'a mut dyn Write)>,
    seen: usize,
    shape: Shape,
}

impl Parts<'_> {
    fn part<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Unwritten> {
        let here = self.seen;
        self.seen += 1;
        let shape = match &mut self.numbers {
            None => value.serialize(Walk(None))?,
            Some((way, out)) => {
                return match way {
                    [Way::Part(k), ..] if *k != here => Ok(()),
                    way => value.serialize(Walk(Some((&way[1..], &mut **out)))).map(|_| ()),
                };
            }
        };
        match &mut self.shape {
            Shape::Map(entries) => entries.push((name, shape)),
            Shape::List(runs) => match runs.last_mut() {
                Some((last, count)) if *last == shape => *count += 1,
                _ => runs.push((shape, 1)),
            },
            Shape::Null | Shape::Number(_) => {}
        }
        Ok(())
    }
}

/// Why a value was not written.
#[derive(Debug)]
struct Unwritten(std::io::Error);

impl std::fmt::Display for Unwritten {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Unwritten {}

impl ser::Error for Unwritten {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self(std::io::Error::other(message.to_string()))
    }
}

/// Numbers that no state has.
macro_rules! unknown {
    ($($method:ident: $kind:ty),*) => {
        $(fn $method(self, _: $kind) -> Result<Shape, Unwritten> {
            Err(ser::Error::custom(concat!("a state has no ", stringify!($kind))))
        })*
    };
}

impl<'a> Serializer for Walk<'a> {
    type Ok = Shape;
    type Error = Unwritten;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeTupleVariant = Impossible<Shape, Unwritten>;
    type SerializeMap = Impossible<Shape, Unwritten>;
    type SerializeStructVariant = Impossible<Shape, Unwritten>;

    unknown!(serialize_bool: bool, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8]);
    unknown!(serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64);
    unknown!(serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_f32: f32);

    fn serialize_f64(self, x: f64) -> Result<Shape, Unwritten> {
        self.number(Dtype::F64, x.to_le_bytes())
    }

    fn serialize_u64(self, x: u64) -> Result<Shape, Unwritten> {
        self.number(Dtype::U64, x.to_le_bytes())
    }

    fn serialize_none(self) -> Result<Shape, Unwritten> {
        Ok(Shape::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Shape, Unwritten> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Shape, Unwritten> {
        Ok(Shape::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Shape, Unwritten> {
        Ok(Shape::Null)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Shape, Unwritten> {
        Err(ser::Error::custom(format!("a state has no {variant}")))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Shape, Unwritten> {
        value.serialize(self)
    }

    /// Which of two parts it is.
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Shape, Unwritten> {
        let mut parts = self.parts(Shape::Map(Vec::new()))?;
        parts.part(variant, value)?;
        Ok(parts.shape)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'a>, Unwritten> {
        self.parts(Shape::List(Vec::new()))
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'a>, Unwritten> {
        self.parts(Shape::List(Vec::new()))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Parts<'a>, Unwritten> {
        self.parts(Shape::List(Vec::new()))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts<'a>, Unwritten> {
        self.parts(Shape::Map(Vec::new()))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Unwritten> {
        Err(ser::Error::custom(format!("a state has no {variant}")))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Unwritten> {
        Err(ser::Error::custom("a state has no map"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Unwritten> {
        Err(ser::Error::custom(format!("a state has no {variant}")))
    }
}

/// Lists are taken apart in the same way, whatever they are called.
macro_rules! list {
    ($($list:ident: $part:ident),*) => {
        $(impl ser::$list for Parts<'_> {
            type Ok = Shape;
            type Error = Unwritten;

            fn $part<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritten> {
                self.part("", value)
            }

            fn end(self) -> Result<Shape, Unwritten> {
                Ok(self.shape)
            }
        })*
    };
}

list!(SerializeSeq: serialize_element, SerializeTuple: serialize_element, SerializeTupleStruct: serialize_field);

impl ser::SerializeStruct for Parts<'_> {
    type Ok = Shape;
    type Error = Unwritten;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Unwritten> {
        self.part(name, value)
    }

    fn end(self) -> Result<Shape, Unwritten> {
        Ok(self.shape)
    }
}

/// The tree again, with its numbers still in the bytes of the tensors.
pub(crate) enum Node<'a> {
    Null,
    Number(Number),
    Numbers(Numbers<'a>),
    Columns(Vec<Numbers<'a>>),
    List(Vec<Node<'a>>),
    Map(Vec<(String, Node<'a>)>),
}

#[derive(Clone, Copy)]
pub(crate) enum Number {
    Real(f64),
    Whole(u64),
}

/// The numbers of a tensor.
#[derive(Clone, Copy)]
pub(crate) struct Numbers<'a> {
    words: &'a [[u8; 8]],
    real: bool,
}

impl<'a> Numbers<'a> {
    fn at(&self, k: usize) -> Number {
        match self.real {
            true => Number::Real(f64::from_le_bytes(self.words[k])),
            false => Number::Whole(u64::from_le_bytes(self.words[k])),
        }
    }

    /// Takes a tensor away: each is there once.
    fn taken(name: &Json, tensors: &mut Tensors<'a>) -> Result<Self, String> {
        let name = name.as_str().unwrap_or_default();
        let (info, data) = tensors.remove(name).ok_or(format!("{name} is missing, or is used twice"))?;
        let real = match info.dtype {
            Dtype::F64 => true,
            Dtype::U64 => false,
            other => return Err(format!("{name} is {other:?}; it must be F64 or U64")),
        };
        Ok(Self { words: data.as_chunks().0, real })
    }
}

/// Tensors that have not been used, by their names.
pub(crate) type Tensors<'a> = HashMap<String, (&'a TensorInfo, &'a [u8])>;

/// Puts the tree together.
pub(crate) fn put_together<'a>(form: &Json, tensors: &mut Tensors<'a>) -> Result<Node<'a>, String> {
    let wrong = || format!("its form is broken at {form}");
    let Json::Object(entries) = form else { return Ok(Node::Null) };
    let (kind, inner) = entries.iter().next().ok_or_else(wrong)?;
    let list = || inner.as_array().ok_or_else(wrong);
    match kind.as_str() {
        "tensor" => Ok(Node::Numbers(Numbers::taken(inner, tensors)?)),
        "number" => match Numbers::taken(inner, tensors)? {
            one if one.words.len() == 1 => Ok(Node::Number(one.at(0))),
            _ => Err(wrong()),
        },
        "map" => {
            let entries = inner.as_object().ok_or_else(wrong)?.iter();
            let put = |(key, form): (&String, &Json)| Ok((key.clone(), put_together(form, tensors)?));
            Ok(Node::Map(entries.map(put).collect::<Result<_, String>>()?))
        }
        "list" => {
            let list = list()?.iter().map(|form| put_together(form, tensors));
            Ok(Node::List(list.collect::<Result<_, _>>()?))
        }
        "columns" => {
            let column = |form: &Json| Numbers::taken(form.get("tensor").ok_or_else(wrong)?, tensors);
            let columns: Vec<_> = list()?.iter().map(column).collect::<Result<_, _>>()?;
            let rows = columns.first().ok_or_else(wrong)?.words.len();
            let alike = columns.iter().all(|column| column.words.len() == rows);
            if alike { Ok(Node::Columns(columns)) } else { Err(wrong()) }
        }
        _ => Err(wrong()),
    }
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = Unread;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        match self {
            Self::Null => visitor.visit_unit(),
            Self::Number(Number::Real(x)) => visitor.visit_f64(x),
            Self::Number(Number::Whole(x)) => visitor.visit_u64(x),
            Self::Numbers(numbers) => {
                let all = (0..numbers.words.len()).map(|k| Self::Number(numbers.at(k)));
                visitor.visit_seq(SeqDeserializer::new(all))
            }
            Self::Columns(columns) => {
                let row = |k| Self::List(columns.iter().map(|column| Self::Number(column.at(k))).collect());
                visitor.visit_seq(SeqDeserializer::new((0..columns[0].words.len()).map(row)))
            }
            Self::List(list) => visitor.visit_seq(SeqDeserializer::new(list.into_iter())),
            Self::Map(entries) => visitor.visit_map(MapDeserializer::new(entries.into_iter())),
        }
    }

    /// A whole number is not taken for a real one.
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        match self {
            Self::Number(Number::Whole(x)) => Err(Unread::invalid_type(Unexpected::Unsigned(x), &"f64")),
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        match self {
            Self::Null => visitor.visit_none(),
            some => visitor.visit_some(some),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unread> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unread> {
        match self {
            Self::Map(entries) => {
                let entries = MapDeserializer::new(entries.into_iter());
                visitor.visit_enum(MapAccessDeserializer::new(entries))
            }
            other => other.deserialize_any(visitor),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Unread> for Node<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}
