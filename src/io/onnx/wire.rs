//! Protocol buffers field by field: to weigh a file before it is taken apart, and to change a few numbers of one without touching
//! the rest.

use crate::error::{Result, bail};

/// One field of a message.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    /// Its number in the message.
    pub number: u64,
    /// What it holds.
    pub payload: Payload<'a>,
    /// The whole of it, its key among it, as it lies in the file.
    pub bytes: &'a [u8],
}

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub enum Payload<'a> {
    /// A whole number.
    Number,
    /// Four or eight bytes.
    Fixed,
    /// Text, bytes, packed numbers or a message.
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    /// Text, bytes or a message; nothing where it is a number.
    pub fn content(&self) -> &'a [u8] {
        match self.payload {
            Payload::Bytes(bytes) => bytes,
            _ => &[],
        }
    }
}

/// The fields of a message, in order.
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Of the message that these bytes are.
    pub fn of(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    fn field(&mut self) -> Result<Field<'a>> {
        let start = self.rest;
        let key = self.number()?;
        let payload = match key & 7 {
            0 => self.number().map(|_| Payload::Number)?,
            1 => self.bytes(8).map(|_| Payload::Fixed)?,
            2 => {
                let length = self.number()?;
                Payload::Bytes(self.bytes(length)?)
            }
            5 => self.bytes(4).map(|_| Payload::Fixed)?,
            other => bail!(Parse, "no ONNX file: a field is of the wire type {other}"),
        };
        Ok(Field { number: key >> 3, payload, bytes: &start[..start.len() - self.rest.len()] })
    }

    fn number(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for (i, &byte) in self.rest.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                self.rest = &self.rest[i + 1..];
                return Ok(value);
            }
        }
        bail!(Parse, "the ONNX file is cut off, or broken: a number does not end")
    }

    fn bytes(&mut self, length: u64) -> Result<&'a [u8]> {
        let split = usize::try_from(length).ok().and_then(|length| self.rest.split_at_checked(length));
        let Some((bytes, rest)) = split else {
            bail!(
                Parse,
                "the ONNX file is cut off, or broken: a field is {length} bytes long, but {} follow",
                self.rest.len()
            )
        };
        self.rest = rest;
        Ok(bytes)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

/// Puts a whole number behind others.
pub fn put_number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Puts a field's key and its length, which is what comes before its bytes.
pub fn put_key(out: &mut Vec<u8>, number: u64, length: usize) {
    put_number(out, number << 3 | 2);
    put_number(out, length as u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_cut_where_they_end() {
        let mut message = Vec::new();
        put_number(&mut message, 5 << 3);
        put_number(&mut message, u64::MAX);
        put_key(&mut message, 300, 3);
        message.extend(b"abc");
        let fields: Vec<Field> = Fields::of(&message).collect::<Result<_>>().expect("two fields");
        assert!(matches!(fields[0], Field { number: 5, payload: Payload::Number, .. }));
        assert_eq!((fields[1].number, fields[1].content()), (300, &b"abc"[..]));
        assert_eq!([fields[0].bytes, fields[1].bytes].concat(), message);
        for cut in 1..message.len() {
            // Cut between the two it is a message again.
            let is_whole = cut == fields[0].bytes.len();
            assert_eq!(Fields::of(&message[..cut]).collect::<Result<Vec<_>>>().is_ok(), is_whole, "cut to {cut}");
        }
        assert!(Fields::of(&[0x0b]).collect::<Result<Vec<_>>>().is_err(), "a group");
        assert!(Fields::of(&[0xff; 12]).collect::<Result<Vec<_>>>().is_err(), "a number without an end");
    }
}
