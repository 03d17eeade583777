//! What a pickle holds. Objects lie in one list and refer to each other by number: what is shared costs nothing twice, a structure
//! that contains itself is no leak, and dropping one that is nested deeply needs no stack.

use std::collections::HashMap;

use crate::error::{Error, ErrorCode, Result, ensure};
use crate::io::numbers::Stored;

/// Most steps of one pickle, copies of values among them: tens of thousands of tensors with what an optimizer keeps of them.
const STEPS: usize = 1 << 21;

/// A value. Texts lie in the file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value<'a> {
    None,
    Int(i64),
    Text(&'a str),
    /// Number of an object.
    Object(usize),
    Global(Global),
    /// What no tensor needs: other numbers, bytes, sets, and results of what is not executed.
    Other,
}

/// The names that a file may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Global {
    OrderedDict,
    /// A mapping of another class, which is filled after it is made.
    Mapping,
    Storage(Stored),
    Dtype(Stored),
    /// `torch._utils._rebuild_tensor` and `_v2`.
    Tensor,
    /// `_v3`, which names the type of its numbers.
    TensorOfType,
    /// A tensor with attributes of its own, which are left out.
    TensorWithAttributes,
    Parameter,
    Size,
    /// Nothing that a tensor needs; what it makes is [`Value::Other`].
    Inert,
}

/// What a value refers to.
#[derive(Debug)]
pub(super) enum Object<'a> {
    Tuple(Vec<Value<'a>>),
    List(Vec<Value<'a>>),
    Dict(Vec<(Value<'a>, Value<'a>)>),
    Storage(Box<Storage<'a>>),
    Tensor(Box<Tensor<'a>>),
}

/// Bytes that tensors are views of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Storage<'a> {
    pub key: &'a str,
    pub stored: Stored,
    /// Bytes of the whole, under its key.
    pub whole: usize,
    /// Where this view of it begins, and how long it is, in bytes.
    pub start: usize,
    pub len: usize,
}

/// A view of a storage; offset and strides count elements.
#[derive(Debug)]
pub(super) struct Tensor<'a> {
    pub storage: Storage<'a>,
    pub stored: Stored,
    pub offset: usize,
    pub shape: Vec<usize>,
    pub strides: Vec<usize>,
}

/// All objects of a pickle, and the steps that are left.
#[derive(Debug)]
pub(super) struct Heap<'a> {
    objects: Vec<Object<'a>>,
    left: usize,
}

/// Adds to a list, asking for the memory.
pub(super) fn push<T>(list: &mut Vec<T>, value: T) -> Result<()> {
    if list.len() == list.capacity() {
        let refused = |_| Error::new(ErrorCode::TooLarge, "there is no memory left for what the pickle holds");
        list.try_reserve(list.len().max(4)).map_err(refused)?;
    }
    list.push(value);
    Ok(())
}

impl<'a> Heap<'a> {
    pub fn new() -> Self {
        Self { objects: Vec::new(), left: STEPS }
    }

    /// Takes steps off those that are left.
    ///
    /// # Errors
    /// `TooLarge` where there are not so many.
    pub fn charge(&mut self, steps: usize) -> Result<()> {
        ensure!(
            steps <= self.left,
            TooLarge,
            "the checkpoint needs more than {STEPS} steps to be read: save the state_dict alone: \
             torch.save(model.state_dict(), …)"
        );
        self.left -= steps;
        Ok(())
    }

    pub fn add(&mut self, object: Object<'a>) -> Result<Value<'a>> {
        push(&mut self.objects, object)?;
        Ok(Value::Object(self.objects.len() - 1))
    }

    pub fn object(&self, value: Value<'a>) -> Option<&Object<'a>> {
        match value {
            Value::Object(i) => self.objects.get(i),
            _ => None,
        }
    }

    pub fn object_mut(&mut self, value: Value<'a>) -> Option<&mut Object<'a>> {
        match value {
            Value::Object(i) => self.objects.get_mut(i),
            _ => None,
        }
    }

    /// The values of a tuple or list.
    pub fn items(&self, value: Value<'a>) -> Option<&[Value<'a>]> {
        match self.object(value)? {
            Object::Tuple(items) | Object::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn tensor(&self, value: Value<'a>) -> Option<&Tensor<'a>> {
        match self.object(value)? {
            Object::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    pub fn storage(&self, value: Value<'a>) -> Option<Storage<'a>> {
        match self.object(value)? {
            Object::Storage(storage) => Some(**storage),
            _ => None,
        }
    }

    /// The size of an element of each storage that the pickle names; the first to name it says so.
    pub fn storages(&self) -> HashMap<&'a str, usize> {
        let mut sizes = HashMap::new();
        for object in &self.objects {
            if let Object::Storage(storage) = object {
                sizes.entry(storage.key).or_insert(storage.stored.size());
            }
        }
        sizes
    }
}
