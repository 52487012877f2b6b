//! Numbers in files, and values that are written as a scalar or as a table.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IntoDeserializer, MapAccess, Unexpected, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A type that is read from files.
pub trait Expected {
    /// The words for it in messages.
    const EXPECTED: &'static str;
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[schemars(transparent)]
pub struct Number(
    /// The number.
    pub f64,
);

/// A whole number that is not negative.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[schemars(transparent)]
pub struct Whole(
    /// The number.
    pub u64,
);

impl Expected for Number {
    const EXPECTED: &'static str = "a number";
}

impl Expected for Whole {
    const EXPECTED: &'static str = "a whole number";
}

impl Expected for String {
    const EXPECTED: &'static str = "a name in quotation marks";
}

/// The number, unless it is negative.
pub(crate) fn not_negative<E: serde::de::Error>(
    number: i64,
    expected: &dyn serde::de::Expected,
) -> Result<u64, E> {
    u64::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), expected))
}

/// Implements `Deserialize` for a type that is written in one of several forms. Each form is followed by what makes the type from it:
/// from a `whole` number that is not negative, a `number`, a `text`, a `list`, a `checked_text` or a `checked_list` (which may be refused) or a `table`.
macro_rules! forms {
    ($type:ident, $expecting:expr, $($form:ident: $make:expr),+ $(,)?) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct FormVisitor;

                impl<'de> serde::de::Visitor<'de> for FormVisitor {
                    type Value = $type;

                    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                        f.write_str($expecting)
                    }

                    $($crate::values::form!($form, $type, $make);)+
                }

                deserializer.deserialize_any(FormVisitor)
            }
        }
    };
}

/// The methods of a visitor for one form.
macro_rules! form {
    (whole, $type:ident, $make:expr) => {
        fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<$type, E> {
            $crate::values::not_negative(number, &self).map($make)
        }

        fn visit_u64<E>(self, number: u64) -> Result<$type, E> {
            Ok(($make)(number))
        }

        fn visit_i128<E: serde::de::Error>(self, _: i128) -> Result<$type, E> {
            Err(E::custom(format!("a whole number here lies between 0 and {}", u64::MAX)))
        }

        fn visit_u128<E: serde::de::Error>(self, _: u128) -> Result<$type, E> {
            self.visit_i128(0)
        }
    };
    (number, $type:ident, $make:expr) => {
        fn visit_f64<E>(self, number: f64) -> Result<$type, E> {
            Ok(($make)($crate::values::Number(number)))
        }

        fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<$type, E> {
            self.visit_f64(number as f64)
        }

        fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<$type, E> {
            self.visit_f64(number as f64)
        }

        fn visit_i128<E: serde::de::Error>(self, number: i128) -> Result<$type, E> {
            self.visit_f64(number as f64)
        }

        fn visit_u128<E: serde::de::Error>(self, number: u128) -> Result<$type, E> {
            self.visit_f64(number as f64)
        }
    };
    (text, $type:ident, $make:expr) => {
        fn visit_str<E>(self, text: &str) -> Result<$type, E> {
            Ok(($make)(text.to_owned()))
        }
    };
    (checked_text, $type:ident, $make:expr) => {
        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
            ($make)(text.to_owned()).map_err(E::custom)
        }
    };
    (list, $type:ident, $make:expr) => {
        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, seq: A) -> Result<$type, A::Error> {
            Vec::deserialize(serde::de::value::SeqAccessDeserializer::new(seq)).map($make)
        }
    };
    (checked_list, $type:ident, $make:expr) => {
        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, seq: A) -> Result<$type, A::Error> {
            let list = Vec::deserialize(serde::de::value::SeqAccessDeserializer::new(seq))?;
            ($make)(list).map_err(serde::de::Error::custom)
        }
    };
    (table, $type:ident, $make:expr) => {
        fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<$type, A::Error> {
            serde::Deserialize::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map($make)
        }
    };
}

pub(crate) use {form, forms};

forms!(Number, "a number", number: |number| number);
forms!(Whole, "a whole number that is not negative", whole: Whole);

/// A type that is written as a scalar or as a table.
pub trait ScalarOrTable<'de>: Sized + Expected {
    /// The type of a scalar.
    type Scalar: Deserialize<'de>;
    /// The type of a table.
    type Table: Deserialize<'de>;
    /// From a scalar.
    fn scalar(scalar: Self::Scalar) -> Self;
    /// From a table.
    fn table(table: Self::Table) -> Self;
}

/// Reads a type that is written as a scalar or as a table.
pub struct ScalarOrTableVisitor<T>(
    /// The type.
    pub PhantomData<T>,
);

/// Passes a scalar of any kind on to the type that expects one. A scalar of the wrong kind is refused as neither scalar nor table.
macro_rules! scalar {
    ($($visit:ident: $type:ty as $unexpected:expr),*) => {
        $(fn $visit<E: serde::de::Error>(self, value: $type) -> Result<T, E> {
            let scalar = T::Scalar::deserialize(IntoDeserializer::<E>::into_deserializer(value));
            scalar.map(T::scalar).map_err(|_| E::invalid_type($unexpected(value), &self))
        })*
    };
}

impl<'de, T: ScalarOrTable<'de>> Visitor<'de> for ScalarOrTableVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    scalar!(visit_bool: bool as Unexpected::Bool, visit_i64: i64 as Unexpected::Signed);
    scalar!(visit_u64: u64 as Unexpected::Unsigned, visit_f64: f64 as Unexpected::Float);
    scalar!(visit_i128: i128 as huge, visit_u128: u128 as huge);

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<T, E> {
        T::Scalar::deserialize(value.into_deserializer()).map(T::scalar)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::Table::deserialize(MapAccessDeserializer::new(map)).map(T::table)
    }
}

/// How a number beyond 64 bits is described.
fn huge<N>(_: N) -> Unexpected<'static> {
    Unexpected::Other("a number that is too large")
}

/// Reads a table and nothing else, for `#[serde(deserialize_with)]`: a list of values in the order of its keys would be taken for one, and further values for nothing.
pub fn table<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    struct TableVisitor<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for TableVisitor<T> {
        type Value = Option<T>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a table")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Option<T>, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map)).map(Some)
        }
    }

    deserializer.deserialize_any(TableVisitor(PhantomData))
}

/// Implements `Deserialize` for a type that is written as a scalar or as a table.
#[macro_export]
macro_rules! scalar_or_table {
    ($name:ident: $scalar:ty => $from_scalar:expr, $table:ty => $from_table:expr) => {
        impl<'de> $crate::values::ScalarOrTable<'de> for $name {
            type Scalar = $scalar;
            type Table = $table;

            fn scalar(scalar: $scalar) -> Self {
                $from_scalar(scalar)
            }

            fn table(table: $table) -> Self {
                $from_table(table)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any($crate::values::ScalarOrTableVisitor(std::marker::PhantomData))
            }
        }
    };
}
