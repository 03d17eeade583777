//! A deserializer that takes an object where an object is wanted, and nothing else. serde would also take an array, for the fields in
//! their order: an order that no format here has. It knows where it is, so that an error can say so: both in one, since there is a copy of
//! all that is here for each type that is read.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Error, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, Visitor,
};

/// From an object or array to what is in it.
#[derive(Debug, PartialEq)]
pub enum Segment {
    /// The value of this key.
    Key(String),
    /// The entry at this place.
    Index(usize),
}

/// The way to what is being read, and the choices that an error is about. An error leaves it as it is.
#[derive(Default)]
pub struct Way(RefCell<Vec<Segment>>, Cell<Choices>);

/// The names that there are to choose from.
pub type Choices = Option<&'static [&'static str]>;

impl Way {
    /// Where the error is, of what was read without one nowhere; and of which choices, if it is about some.
    #[cold]
    #[inline(never)]
    pub fn into_parts(self) -> (Vec<Segment>, Choices) {
        (self.0.into_inner(), self.1.get())
    }

    /// An error is about these, unless it is about some inside them.
    #[cold]
    #[inline(never)]
    fn offer(&self, choices: &'static [&'static str]) {
        self.1.set(self.1.get().or(Some(choices)));
    }

    /// Reads what is behind `segment`.
    fn along<T, E>(&self, segment: Segment, read: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.0.borrow_mut().push(segment);
        let found = read()?;
        self.0.borrow_mut().pop();
        Ok(found)
    }
}

/// Any deserializer, made strict all the way down. What is inside an object that is read by its `type` is buffered by serde on the
/// way, and must be made strict again: see [`super::objects`].
pub struct Strict<'w, D>(pub D, pub &'w Way);

/// A seed that is given a strict deserializer.
struct Inside<'w, T>(T, &'w Way);

/// A visitor of what a strict deserializer reads.
struct Visit<'w, V> {
    visitor: V,
    way: &'w Way,
    /// It wants an object.
    refuses_arrays: bool,
}

/// An array's entries, and which of them is the next.
struct Entries<'w, A>(A, &'w Way, usize);

/// An object's keys and values, and the key whose value is the next.
struct Fields<'w, A>(A, &'w Way, String);

/// Is it an object with a `type` that is being read? serde asks for those as for anything.
fn is_tagged(visitor: &dyn Expected) -> bool {
    visitor.to_string().starts_with("internally tagged enum ")
}

fn anything<V>(visitor: V, way: &Way) -> Visit<'_, V> {
    Visit { visitor, way, refuses_arrays: false }
}

macro_rules! read {
    ($($method:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method(anything(visitor, self.1))
        }
    )+};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Strict<'_, D> {
    type Error = D::Error;

    read! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
        deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf deserialize_option
        deserialize_unit deserialize_seq deserialize_map deserialize_identifier deserialize_ignored_any
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let refuses_arrays = is_tagged(&visitor);
        self.0.deserialize_any(Visit { visitor, way: self.1, refuses_arrays })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct(name, fields, Visit { visitor, way: self.1, refuses_arrays: true })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple(len, anything(visitor, self.1))
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_unit_struct(name, anything(visitor, self.1))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, anything(visitor, self.1))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple_struct(name, len, anything(visitor, self.1))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let found = self.0.deserialize_enum(name, variants, anything(visitor, self.1));
        if found.is_err() {
            self.1.offer(variants);
        }
        found
    }
}

macro_rules! visit {
    ($($method:ident($type:ty))+) => {$(
        fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.visitor.$method(value)
        }
    )+};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Visit<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    visit! {
        visit_bool(bool) visit_i64(i64) visit_i128(i128) visit_u64(u64) visit_u128(u128) visit_f64(f64)
        visit_str(&str) visit_borrowed_str(&'de str) visit_string(String)
        visit_bytes(&[u8]) visit_borrowed_bytes(&'de [u8]) visit_byte_buf(Vec<u8>)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(Strict(value, self.way))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(Strict(value, self.way))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Fields(map, self.way, String::new()))
    }

    // Choices that carry nothing: there are no others in our formats.
    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_enum(data)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<V::Value, A::Error> {
        if self.refuses_arrays {
            return Err(de::Error::invalid_type(Unexpected::Seq, &self));
        }
        self.visitor.visit_seq(Entries(seq, self.way, 0))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Inside<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Strict(deserializer, self.1))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Entries<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let Self(seq, way, index) = self;
        let found = way.along(Segment::Index(*index), || seq.next_element_seed(Inside(seed, way)))?;
        *index += 1;
        Ok(found)
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Fields<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let Some(key) = self.0.next_key::<String>()? else { return Ok(None) };
        let found = seed.deserialize(key.as_str().into_deserializer())?;
        self.2 = key;
        Ok(Some(found))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let Self(map, way, key) = self;
        way.along(Segment::Key(std::mem::take(key)), || map.next_value_seed(Inside(seed, way)))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}
