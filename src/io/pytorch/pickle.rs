//! Python's pickles, protocols 2 to 5, as far as checkpoints need them. A pickle is a program for a machine with a stack; this one
//! makes values of it and executes nothing: the names that it may ask for are in `globals.rs`. Every step takes a byte of the file
//! at least, copies are counted as steps, and what a step makes takes 200 bytes at most.

use std::collections::HashMap;

use super::globals;
use super::value::{Heap, Object, Value, push};
use crate::error::{Error, ErrorCode, Result, bail, ensure};

/// What a pickle holds.
pub(super) struct Loaded<'a> {
    pub heap: Heap<'a>,
    pub value: Value<'a>,
    /// Where the bytes after it begin.
    pub end: usize,
}

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Value<'a>>,
    /// Heights of the stack.
    marks: Vec<usize>,
    memo: HashMap<u32, Value<'a>>,
    heap: Heap<'a>,
}

/// Reads the pickle that begins at this byte.
///
/// # Errors
/// `Parse` for what is no pickle, or asks for what is not read, with the byte; `TooLarge` for one of too many steps.
pub(super) fn load(bytes: &[u8], start: usize) -> Result<Loaded<'_>> {
    let mut machine =
        Machine { bytes, at: start, stack: Vec::new(), marks: Vec::new(), memo: HashMap::new(), heap: Heap::new() };
    loop {
        let at = machine.at - start;
        let place = |error: Error| Error::new(error.code, format!("{} (byte {at} of the pickle)", error.message));
        match machine.step() {
            Ok(None) => {}
            Ok(Some(value)) => return Ok(Loaded { value, end: machine.at, heap: machine.heap }),
            Err(error) => return Err(place(error)),
        }
    }
}

impl<'a> Machine<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let found = self.bytes.get(self.at..).and_then(|rest| rest.get(..count));
        let Some(found) = found else { bail!(Parse, "the pickle ends too early") };
        self.at += count;
        Ok(found)
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| Error::new(ErrorCode::Parse, "the pickle ends too early"))
    }

    /// A length of this many bytes, and what has it.
    fn counted(&mut self, width: usize) -> Result<&'a [u8]> {
        let length = self.take(width)?.iter().rev().fold(0u64, |n, &byte| (n << 8) | u64::from(byte));
        let length = usize::try_from(length).ok().filter(|&n| n <= self.bytes.len());
        let Some(length) = length else { bail!(Parse, "the pickle ends too early") };
        self.take(length)
    }

    fn line(&mut self) -> Result<&'a str> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let end = rest.iter().position(|&byte| byte == b'\n');
        let Some(end) = end else { bail!(Parse, "the pickle ends within a name") };
        let line = self.take(end)?;
        self.at += 1;
        text(line)
    }

    fn push(&mut self, value: Value<'a>) -> Result<()> {
        push(&mut self.stack, value)
    }

    fn make(&mut self, object: Object<'a>) -> Result<()> {
        let value = self.heap.add(object)?;
        self.push(value)
    }

    /// The top of the stack, above the last mark.
    fn top(&self) -> Result<Value<'a>> {
        let floor = self.marks.last().copied().unwrap_or(0);
        match self.stack.last() {
            Some(&value) if self.stack.len() > floor => Ok(value),
            _ => bail!(Parse, "the pickle takes more from its stack than there is"),
        }
    }

    fn pop(&mut self) -> Result<Value<'a>> {
        let value = self.top()?;
        self.stack.pop();
        Ok(value)
    }

    /// What lies above the last mark.
    fn marked(&mut self) -> Result<Vec<Value<'a>>> {
        let Some(mark) = self.marks.pop() else { bail!(Parse, "the pickle goes back to a mark that was not set") };
        self.tail(self.stack.len().saturating_sub(mark))
    }

    /// The last values of the stack.
    fn tail(&mut self, count: usize) -> Result<Vec<Value<'a>>> {
        let floor = self.marks.last().copied().unwrap_or(0);
        let start = self.stack.len().checked_sub(count).filter(|&start| start >= floor);
        let Some(start) = start else { bail!(Parse, "the pickle takes more from its stack than there is") };
        let values = crate::memory::copied("a tuple of a pickle", self.stack.get(start..).unwrap_or_default())?;
        self.stack.truncate(start);
        Ok(values)
    }

    fn remember(&mut self, slot: u32) -> Result<()> {
        let value = self.top()?;
        let refused = |_| Error::new(ErrorCode::TooLarge, "there is no memory left for what the pickle holds");
        self.memo.try_reserve(1).map_err(refused)?;
        self.memo.insert(slot, value);
        Ok(())
    }

    fn recall(&mut self, slot: u32) -> Result<()> {
        match self.memo.get(&slot) {
            Some(&value) => self.push(value),
            None => bail!(Parse, "the pickle refers to value {slot}, which it has not kept"),
        }
    }

    /// One instruction; the value where it is the last.
    fn step(&mut self) -> Result<Option<Value<'a>>> {
        self.heap.charge(1)?;
        let [code] = self.fixed::<1>()?;
        match code {
            b'.' => return self.pop().map(Some),
            0x80 => {
                let [protocol] = self.fixed::<1>()?;
                ensure!((2..=5).contains(&protocol), Parse, "pickle protocol {protocol} is not read: 2 to 5 are");
            }
            // A frame's length, which only serves to read ahead.
            0x95 => drop(self.take(8)?),
            b'(' => push(&mut self.marks, self.stack.len())?,
            b'0' => drop(self.pop()?),
            b'1' => drop(self.marked()?),
            b'2' => self.push(self.top()?)?,
            b'q' => {
                let [slot] = self.fixed::<1>()?;
                self.remember(slot.into())?;
            }
            b'r' => {
                let slot = u32::from_le_bytes(self.fixed()?);
                self.remember(slot)?;
            }
            0x94 => self.remember(self.memo.len() as u32)?,
            b'h' => {
                let [slot] = self.fixed::<1>()?;
                self.recall(slot.into())?;
            }
            b'j' => {
                let slot = u32::from_le_bytes(self.fixed()?);
                self.recall(slot)?;
            }
            b'c' | 0x93 | b'R' | 0x81 | 0x92 | b'b' | b'Q' => self.call(code)?,
            b')' | b't' | 0x85..=0x87 | b']' | b'l' | b'}' | b'd' | 0x8f | 0x91 => self.collection(code)?,
            b'a' | b'e' | b's' | b'u' | 0x90 => self.fill(code)?,
            _ => {
                let value = self.constant(code)?;
                self.push(value)?;
            }
        }
        Ok(None)
    }

    fn constant(&mut self, code: u8) -> Result<Value<'a>> {
        Ok(match code {
            b'N' => Value::None,
            0x88 | 0x89 => Value::Other,
            b'J' => Value::Int(i32::from_le_bytes(self.fixed()?).into()),
            b'K' => Value::Int(u8::from_le_bytes(self.fixed()?).into()),
            b'M' => Value::Int(u16::from_le_bytes(self.fixed()?).into()),
            0x8a => whole(self.counted(1)?),
            0x8b => whole(self.counted(4)?),
            b'G' => {
                self.take(8)?;
                Value::Other
            }
            0x8c => Value::Text(text(self.counted(1)?)?),
            b'X' => Value::Text(text(self.counted(4)?)?),
            0x8d => Value::Text(text(self.counted(8)?)?),
            // Texts of Python 2, which may be bytes too.
            b'U' => std::str::from_utf8(self.counted(1)?).map_or(Value::Other, Value::Text),
            b'T' => std::str::from_utf8(self.counted(4)?).map_or(Value::Other, Value::Text),
            b'C' | b'B' | 0x8e | 0x96 => {
                self.counted(match code {
                    b'C' => 1,
                    b'B' => 4,
                    _ => 8,
                })?;
                Value::Other
            }
            0x82..=0x84 => bail!(Parse, "the pickle uses Python's registry of extensions, which is not read"),
            0x97 | 0x98 => bail!(Parse, "the pickle has buffers outside of the file, which are not there"),
            b'i' | b'o' => {
                bail!(Parse, "the pickle makes an object of a class by an instruction that torch.save does not write")
            }
            _ => bail!(Parse, "0x{code:02x} is no instruction of the pickles that torch.save writes"),
        })
    }

    fn collection(&mut self, code: u8) -> Result<()> {
        let object = match code {
            b')' => Object::Tuple(Vec::new()),
            b't' => Object::Tuple(self.marked()?),
            0x85..=0x87 => Object::Tuple(self.tail(usize::from(code - 0x84))?),
            b']' => Object::List(Vec::new()),
            b'l' => Object::List(self.marked()?),
            b'}' => Object::Dict(Vec::new()),
            b'd' => {
                let pairs = paired(&self.marked()?)?;
                Object::Dict(pairs)
            }
            // Sets have no tensors.
            0x91 => {
                self.marked()?;
                return self.push(Value::Other);
            }
            _ => return self.push(Value::Other),
        };
        self.make(object)
    }

    /// Puts values into the collection below them.
    fn fill(&mut self, code: u8) -> Result<()> {
        let values = match code {
            b'a' => self.tail(1)?,
            b's' => self.tail(2)?,
            _ => self.marked()?,
        };
        let target = self.top()?;
        let is_pairs = matches!(code, b's' | b'u');
        match (self.heap.object_mut(target), target) {
            (Some(Object::List(items)), _) if !is_pairs => values.into_iter().try_for_each(|value| push(items, value)),
            (Some(Object::Dict(pairs)), _) if is_pairs => {
                paired(&values)?.into_iter().try_for_each(|pair| push(pairs, pair))
            }
            (None, Value::Other) => Ok(()),
            _ => bail!(Parse, "the pickle puts values into something that is no list and no mapping"),
        }
    }

    fn call(&mut self, code: u8) -> Result<()> {
        let value = match code {
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                Value::Global(globals::find(module, name)?)
            }
            0x93 => match (self.pop()?, self.pop()?) {
                (Value::Text(name), Value::Text(module)) => Value::Global(globals::find(module, name)?),
                _ => bail!(Parse, "the pickle asks for something whose name is no text"),
            },
            b'Q' => {
                let id = self.pop()?;
                globals::storage(&mut self.heap, id)?
            }
            // A state for what is there already: attributes such as `_metadata`, or what is left out anyway.
            b'b' => {
                self.pop()?;
                match (self.top()?, self.heap.object(self.top()?)) {
                    (Value::Other, _) | (_, Some(Object::Dict(_) | Object::Tensor(_))) => return Ok(()),
                    _ => bail!(Parse, "the pickle gives a state to something that has none"),
                }
            }
            _ => {
                if code == 0x92 {
                    self.pop()?;
                }
                let arguments = self.pop()?;
                let Value::Global(global) = self.pop()? else {
                    bail!(Parse, "the pickle calls something that is no name")
                };
                globals::call(&mut self.heap, global, arguments)?
            }
        };
        self.push(value)
    }
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| Error::new(ErrorCode::Parse, "a text in the pickle is not valid UTF-8"))
}

/// A number in two's complement, little end first; one beyond 64 bits is left out.
fn whole(bytes: &[u8]) -> Value<'static> {
    let Some(&last) = bytes.last() else { return Value::Int(0) };
    if bytes.len() > 8 {
        return Value::Other;
    }
    let mut wide = [if last >= 0x80 { 0xff } else { 0 }; 8];
    wide.iter_mut().zip(bytes).for_each(|(to, &byte)| *to = byte);
    Value::Int(i64::from_le_bytes(wide))
}

fn paired<'a>(values: &[Value<'a>]) -> Result<Vec<(Value<'a>, Value<'a>)>> {
    let (pairs, rest) = values.as_chunks::<2>();
    ensure!(rest.is_empty(), Parse, "a mapping in the pickle has a key without a value");
    crate::memory::collected("a mapping of a pickle", pairs.iter().map(|&[key, value]| (key, value)))
}
