//! The names that a checkpoint may ask for, what they make of their arguments, and why others are refused. The list is that of
//! torch.load(…, weights_only=True), with NumPy's numbers and the classes in which training programs keep their settings. Nothing is
//! executed: a name makes a tensor's description, a mapping, or nothing.

use super::value::{Global, Heap, Object, Storage, Tensor, Value, push};
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::io::numbers::Stored;

/// Most axes of a tensor.
const AXES: usize = 32;

/// What a name stands for.
///
/// # Errors
/// `Parse` for all that is not on the list.
pub(super) fn find(module: &str, name: &str) -> Result<Global> {
    Ok(match (module, name) {
        ("collections", "OrderedDict") => Global::OrderedDict,
        _ if is_mapping(module, name) => Global::Mapping,
        ("torch._utils", "_rebuild_tensor" | "_rebuild_tensor_v2") => Global::Tensor,
        ("torch._utils", "_rebuild_tensor_v3") => Global::TensorOfType,
        ("torch._tensor", "_rebuild_from_type_v2") => Global::TensorWithAttributes,
        ("torch._utils", "_rebuild_parameter" | "_rebuild_parameter_with_state")
        | ("torch.nn.parameter", "Parameter") => Global::Parameter,
        ("torch", "Size") => Global::Size,
        ("torch.storage" | "torch", "UntypedStorage" | "_UntypedStorage") => Global::Storage(Stored::U8),
        ("collections", "Counter")
        | ("_codecs", "encode")
        | (
            "builtins" | "__builtin__",
            "set" | "frozenset" | "bytearray" | "bytes" | "complex" | "slice" | "range" | "xrange" | "list" | "dict"
            | "tuple" | "int" | "long" | "float" | "bool" | "str" | "unicode" | "object",
        )
        | ("argparse", "Namespace")
        | ("types", "SimpleNamespace")
        | ("datetime", "datetime" | "date" | "time" | "timedelta" | "timezone")
        | ("decimal", "Decimal")
        | ("uuid", "UUID")
        | (
            "pathlib" | "pathlib._local",
            "Path" | "PosixPath" | "WindowsPath" | "PurePath" | "PurePosixPath" | "PureWindowsPath",
        )
        | ("numpy", "dtype" | "ndarray")
        | ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar" | "_reconstruct")
        | ("torch.serialization", "_get_layout")
        | ("torch", "device" | "Tensor") => Global::Inert,
        ("torch" | "torch.cuda", _) => match (name.strip_suffix("Storage").and_then(typed), dtype(name)) {
            (Some(stored), _) => Global::Storage(stored),
            (_, Some(stored)) => Global::Dtype(stored),
            _ => return Err(refusal(module, name)),
        },
        _ => return Err(refusal(module, name)),
    })
}

/// Mappings of other classes, in which training programs keep settings, or what they count.
fn is_mapping(module: &str, name: &str) -> bool {
    match name {
        "defaultdict" => module == "collections",
        "AttributeDict" => matches!(
            module,
            "pytorch_lightning.utilities.parsing"
                | "lightning_fabric.utilities.data"
                | "lightning.fabric.utilities.data"
        ),
        "EasyDict" => module == "easydict",
        "CfgNode" => module == "yacs.config" || module == "fvcore.common.config",
        _ => false,
    }
}

fn typed(kind: &str) -> Option<Stored> {
    Some(match kind {
        "Float" => Stored::F32,
        "Double" => Stored::F64,
        "Half" => Stored::F16,
        "BFloat16" => Stored::Bf16,
        "Long" => Stored::I64,
        "Int" => Stored::I32,
        "Short" => Stored::I16,
        "Char" => Stored::I8,
        "Byte" => Stored::U8,
        "Bool" => Stored::Bool,
        _ => return None,
    })
}

fn dtype(name: &str) -> Option<Stored> {
    Some(match name {
        "float32" => Stored::F32,
        "float64" => Stored::F64,
        "float16" => Stored::F16,
        "bfloat16" => Stored::Bf16,
        "int64" => Stored::I64,
        "int32" => Stored::I32,
        "int16" => Stored::I16,
        "int8" => Stored::I8,
        "uint8" => Stored::U8,
        "uint16" => Stored::U16,
        "uint32" => Stored::U32,
        "uint64" => Stored::U64,
        "bool" => Stored::Bool,
        _ => return None,
    })
}

/// Why a name is refused, and what would do instead.
fn refusal(module: &str, name: &str) -> Error {
    const INSTEAD: &str = "save the state_dict alone: torch.save(model.state_dict(), …)";
    let is_tensor = matches!(module, "torch._utils" | "torch");
    let message = if is_tensor && name.contains("sparse") {
        format!("the file has a sparse tensor ({module}.{name}), which is not read: save it as tensor.to_dense()")
    } else if is_tensor && (name.contains("qtensor") || name.starts_with('Q') || name.starts_with("qu")) {
        format!(
            "the file has a quantised tensor ({module}.{name}), which is not read: save the model before it is quantised"
        )
    } else if is_tensor && (name.starts_with("Complex") || name.starts_with("complex")) {
        format!("the file has complex numbers ({module}.{name}), which are not read: save their real parts")
    } else if is_tensor && name.contains("meta_tensor") {
        format!("the file has a tensor without numbers, of the device \"meta\" ({module}.{name})")
    } else if module.starts_with("torch.nn.") || module.starts_with("torch.jit") || module.starts_with("__torch__") {
        format!(
            "the file is a whole model, not its weights (it asks for {module}.{name}): isoflat executes nothing; {INSTEAD}"
        )
    } else {
        format!("the file asks for {module}.{name}: isoflat executes nothing; {INSTEAD}")
    };
    Error::new(ErrorCode::Parse, message)
}

/// What a name makes of its arguments.
///
/// # Errors
/// `Parse` for arguments that it does not take.
pub(super) fn call<'a>(heap: &mut Heap<'a>, global: Global, arguments: Value<'a>) -> Result<Value<'a>> {
    let Some(given) = heap.items(arguments) else { bail!(Parse, "a name is called without a tuple of arguments") };
    let at = |i: usize| given.get(i).copied().unwrap_or(Value::None);
    let (first, second, third) = (at(0), at(1), at(2));
    match global {
        Global::Inert => Ok(Value::Other),
        Global::OrderedDict => ordered(heap, first),
        // What comes first makes the values that are missing; the entries come afterwards.
        Global::Mapping => heap.add(Object::Dict(Vec::new())),
        Global::Size => Ok(first),
        Global::Parameter => {
            ensure!(heap.tensor(first).is_some(), Parse, "a parameter is made of something that is no tensor");
            Ok(first)
        }
        Global::Tensor => tensor(heap, arguments, None),
        Global::TensorOfType => match at(6) {
            Value::Global(Global::Dtype(stored)) => tensor(heap, arguments, Some(stored)),
            _ => bail!(Parse, "a tensor's type is not named"),
        },
        // Of these alone, so that calls do not nest.
        Global::TensorWithAttributes => match (first, second) {
            (
                Value::Global(make @ (Global::Tensor | Global::TensorOfType | Global::Parameter)),
                Value::Global(Global::Inert | Global::Parameter),
            ) => call(heap, make, third),
            _ => bail!(Parse, "the file has a tensor of a class of its own, which is not read: save tensor.detach()"),
        },
        Global::Storage(_) | Global::Dtype(_) => bail!(Parse, "a type of numbers is called as if it were a function"),
    }
}

/// A mapping, empty or, as Python 2 wrote it, of a list of pairs.
fn ordered<'a>(heap: &mut Heap<'a>, pairs: Value<'a>) -> Result<Value<'a>> {
    let count = heap.items(pairs).map_or(0, <[_]>::len);
    heap.charge(count)?;
    let mut entries = Vec::new();
    for pair in heap.items(pairs).unwrap_or_default() {
        match heap.items(*pair) {
            Some(&[key, value]) => push(&mut entries, (key, value))?,
            _ => bail!(Parse, "a mapping is made of something that is no pair"),
        }
    }
    heap.add(Object::Dict(entries))
}

/// A tensor of (storage, offset, shape, strides, …).
fn tensor<'a>(heap: &mut Heap<'a>, arguments: Value<'a>, stored: Option<Stored>) -> Result<Value<'a>> {
    let Some(&[storage, offset, shape, strides, ..]) = heap.items(arguments) else {
        bail!(Parse, "a tensor is made of too few arguments")
    };
    let Some(storage) = heap.storage(storage) else { bail!(Parse, "a tensor has no storage") };
    let (shape, strides) = (lengths(heap, shape, "shape")?, lengths(heap, strides, "strides")?);
    ensure!(shape.len() == strides.len(), Parse, "a tensor has {} axes, but {} strides", shape.len(), strides.len());
    let offset = length(offset, "offset")?;
    heap.charge(shape.len())?;
    let stored = stored.unwrap_or(storage.stored);
    heap.add(Object::Tensor(Box::new(Tensor { storage, stored, offset, shape, strides })))
}

fn length(value: Value, what: &str) -> Result<usize> {
    match value {
        Value::Int(n) if n < 0 => bail!(Parse, "a tensor's {what} has {n}, but must not be negative"),
        Value::Int(n) => {
            usize::try_from(n).map_err(|_| Error::new(ErrorCode::TooLarge, format!("a tensor's {what} has {n}")))
        }
        _ => bail!(Parse, "a tensor's {what} is no whole number below 2^63"),
    }
}

fn lengths<'a>(heap: &Heap<'a>, value: Value<'a>, what: &str) -> Result<Vec<usize>> {
    let Some(items) = heap.items(value) else { bail!(Parse, "a tensor's {what} is no tuple") };
    ensure!(items.len() <= AXES, Parse, "a tensor has {} axes, but at most {AXES} are read", items.len());
    items.iter().map(|&item| length(item, what)).collect()
}

/// The storage that a persistent id names: `('storage', type, key, location, elements)`, in old files with a view at the end:
/// `None` or `(key, offset, elements)`.
///
/// # Errors
/// `Parse` for another id.
pub(super) fn storage<'a>(heap: &mut Heap<'a>, id: Value<'a>) -> Result<Value<'a>> {
    let Some(
        &[Value::Text("storage"), Value::Global(Global::Storage(stored)), Value::Text(key), _, count, ref rest @ ..],
    ) = heap.items(id)
    else {
        bail!(Parse, "the file refers to something that is no storage of a tensor")
    };
    let bytes = |value: Value| -> Result<usize> {
        let count = length(value, "storage")?;
        let refused = || Error::new(ErrorCode::TooLarge, format!("storage {key} has {count} elements"));
        count.checked_mul(stored.size()).ok_or_else(refused)
    };
    let whole = bytes(count)?;
    let (start, len) = match rest.first().map(|&view| (view, heap.items(view))) {
        None | Some((Value::None, _)) => (0, whole),
        Some((_, Some(&[_, offset, count]))) => (bytes(offset)?, bytes(count)?),
        Some(_) => bail!(Parse, "the view of storage {key} cannot be read"),
    };
    ensure!(
        start.checked_add(len).is_some_and(|end| end <= whole),
        Parse,
        "the view of storage {key} reaches beyond its {whole} bytes"
    );
    heap.add(Object::Storage(Box::new(Storage { key, stored, whole, start, len })))
}
