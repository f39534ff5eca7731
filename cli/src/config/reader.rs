//! From TOML values to the types of the tables, with the exact place of whatever does not fit. Must not know
//! any key: it asks the types.

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer as _, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use toml::{Table, Value};

use super::problem::{Problem, Step};
use crate::subagents::nearest;

/// A table as one of ours.
pub(super) fn read<T: DeserializeOwned>(table: &Table) -> Result<T, Problem> {
    let value = Value::Table(table.clone());
    T::deserialize(Reader(&value))
}

struct Reader<'de>(&'de Value);

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.0 {
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Boolean(truth) => visitor.visit_bool(*truth),
            Value::Datetime(_) => Err(Problem::invalid_type(came(self.0), &visitor)),
            Value::Array(items) => visitor.visit_seq(Items { left: items.iter(), index: 0 }),
            Value::Table(table) => visitor.visit_map(Entries { left: table.iter(), value: None }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_some(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        if let Value::Table(table) = self.0
            && let Some(key) = table.keys().find(|key| !fields.contains(&key.as_str()))
        {
            return Err(Problem::unknown(key, fields));
        }
        // A list would be taken for the fields in their order.
        if let Value::Array(_) = self.0 {
            return Err(Problem::invalid_type(Unexpected::Seq, &visitor));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        if let Some(text) = self.0.as_str().filter(|text| variants.contains(text)) {
            let text: StrDeserializer<'_, Problem> = text.into_deserializer();
            return visitor.visit_enum(text);
        }
        let near = self.0.as_str().and_then(|text| nearest(text, variants));
        let hint = near.map_or_else(String::new, |near| format!(" (did you mean \"{near}\"?)"));
        let quoted: Vec<String> = variants.iter().map(|one| format!("\"{one}\"")).collect();
        let expected = format!("{}{hint}", quoted.join(" or "));
        Err(Problem::invalid_value(came(self.0), &expected.as_str()))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}

fn came(value: &Value) -> Unexpected<'_> {
    match value {
        Value::String(text) => Unexpected::Str(text),
        Value::Integer(number) => Unexpected::Signed(*number),
        Value::Float(number) => Unexpected::Float(*number),
        Value::Boolean(truth) => Unexpected::Bool(*truth),
        Value::Datetime(_) => Unexpected::Other("a date or time"),
        Value::Array(_) => Unexpected::Seq,
        Value::Table(_) => Unexpected::Map,
    }
}

struct Items<'de> {
    left: std::slice::Iter<'de, Value>,
    index: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Problem> {
        let Some(value) = self.left.next() else { return Ok(None) };
        let step = Step::Item(self.index);
        self.index += 1;
        seed.deserialize(Reader(value)).map(Some).map_err(|problem| problem.inside(step))
    }
}

struct Entries<'de> {
    left: toml::map::Iter<'de, String, Value>,
    value: Option<(&'de String, &'de Value)>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Problem> {
        self.value = self.left.next();
        let Some((key, _)) = self.value else { return Ok(None) };
        let key: StrDeserializer<'_, Problem> = key.as_str().into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Problem> {
        let (key, value) = self.value.take().ok_or_else(|| Problem::custom("a value before its key"))?;
        let step = || Step::Key(key.clone());
        seed.deserialize(Reader(value)).map_err(|problem| problem.inside(step()))
    }
}
