//! Which of a checkpoint's tensors are the model: a state_dict lies bare in the file, or under one of the names that training
//! programs use, beside what the optimizer keeps.

use std::collections::HashMap;

use super::value::{Heap, Object, Value};
use crate::error::{Result, ensure};
use crate::io::numbers::Stored;

/// Names under which models are kept, the usual ones first; and those of what is none.
const MODELS: [&str; 17] = [
    "state_dict",
    "model_state_dict",
    "model_state",
    "model",
    "net",
    "network",
    "net_state_dict",
    "weights",
    "params",
    "parameters",
    "module",
    "model_ema",
    "ema",
    "ema_state_dict",
    "state_dict_ema",
    "params_ema",
    "state",
];
const OTHERS: [&str; 5] = ["optim", "sched", "scaler", "amp", "rng"];

/// Most mappings in each other, those of them in which the model is searched, and most characters of a name and of all together.
const DEPTH: usize = 16;
const SHALLOW: usize = 3;
const NAME: usize = 1024;
const NAMES: usize = 16 << 20;

/// The prefixes of wrappers: `nn.DataParallel` and `torch.compile`.
const WRAPPERS: [&str; 2] = ["module.", "_orig_mod."];

/// A model's tensors: values of the heap.
pub(super) struct State<'a> {
    pub tensors: Vec<(String, Value<'a>)>,
    pub notes: Vec<String>,
    /// What was taken off every name but those of a wrapper's own counters.
    pub prefix: String,
}

/// Searches for the model.
///
/// # Errors
/// `Parse` where there is no tensor; `TooLarge`.
pub(super) fn find<'a>(heap: &mut Heap<'a>, root: Value<'a>) -> Result<State<'a>> {
    let (mut value, mut path, mut notes) = (root, String::new(), Vec::new());
    for _ in 0..SHALLOW {
        let Some((name, below)) = descend(heap, value, &mut notes)? else { break };
        path = if path.is_empty() { name } else { format!("{path}.{name}") };
        value = below;
    }
    if !path.is_empty() {
        notes.insert(0, format!("the weights were taken from {path}"));
    }
    let mut found = Flat { tensors: Vec::new(), places: HashMap::new(), left: NAMES };
    flatten(heap, value, String::new(), 0, &mut found)?;
    let mut tensors = found.tensors;
    ensure!(!tensors.is_empty(), Parse, "the file has no tensors: save the model's: torch.save(model.state_dict(), …)");
    let prefix = unwrap(heap, &mut tensors);
    if !prefix.is_empty() {
        notes.push(format!("{prefix} was taken off all names"));
    }
    Ok(State { tensors, notes, prefix })
}

/// What a mapping holds under a name that has tensors.
struct Part<'a> {
    name: String,
    value: Value<'a>,
    /// How many, counters left out: a mean of weights has one more than the weights.
    tensors: usize,
}

/// The part that is the model, where the value is not the model itself.
fn descend<'a>(heap: &mut Heap<'a>, value: Value<'a>, notes: &mut Vec<String>) -> Result<Option<(String, Value<'a>)>> {
    let (mut own, mut parts) = (0, Vec::new());
    for (name, entry) in entries(heap, value)? {
        if heap.tensor(entry).is_some() {
            own += usize::from(!is_counter(heap, entry));
        } else {
            let tensors = tensors_in(heap, entry, 0)?;
            if tensors > 0 {
                parts.push(Part { name, value: entry, tensors });
            }
        }
    }
    let rank = |part: &Part| MODELS.iter().position(|name| part.name.eq_ignore_ascii_case(name));
    let is_other = |part: &Part| {
        let name = part.name.to_ascii_lowercase();
        OTHERS.iter().any(|other| name.contains(other))
    };
    let is_known = parts.iter().any(|part| rank(part).is_some());
    let candidates: Vec<&Part> =
        parts.iter().filter(|part| if is_known { rank(part).is_some() } else { !is_other(part) }).collect();
    // Of several with as many tensors the one with the usual name, then the first.
    let Some(most) = candidates.iter().min_by_key(|part| (usize::MAX - part.tensors, rank(part))) else {
        return Ok(None);
    };
    // Parts of one model, such as an encoder and a decoder, stay together.
    let is_whole =
        most.tensors <= own || (own == 0 && !is_known && candidates.len() > 1 && candidates.len() == parts.len());
    if is_whole {
        return Ok(None);
    }
    let left: Vec<String> = parts
        .iter()
        .filter(|part| part.name != most.name)
        .take(8)
        .map(|part| format!("{} ({} tensors)", part.name, part.tensors))
        .collect();
    if !left.is_empty() {
        notes.push(format!("left out: {}", left.join(", ")));
    }
    Ok(Some((most.name.clone(), most.value)))
}

/// What a mapping or a list holds, with names; nothing of others. What is there twice is the last, as in Python.
fn entries<'a>(heap: &mut Heap<'a>, value: Value<'a>) -> Result<Vec<(String, Value<'a>)>> {
    let count = match heap.object(value) {
        Some(Object::Dict(pairs)) => pairs.len(),
        Some(Object::List(items) | Object::Tuple(items)) => items.len(),
        _ => 0,
    };
    heap.charge(count)?;
    let named = |key: &Value<'a>| match key {
        Value::Text(text) => Some((*text).to_string()),
        Value::Int(n) => Some(n.to_string()),
        _ => None,
    };
    let relevant = |value: &Value| matches!(value, Value::Object(_));
    let mut found: Vec<(String, Value<'a>)> = Vec::new();
    match heap.object(value) {
        Some(Object::Dict(pairs)) => {
            for (key, value) in pairs.iter().filter(|(_, value)| relevant(value)) {
                if let Some(name) = named(key) {
                    ensure!(name.len() <= NAME, TooLarge, "a name in the checkpoint has {} characters", name.len());
                    found.push((name, *value));
                }
            }
        }
        Some(Object::List(items) | Object::Tuple(items)) => {
            let items = items.iter().enumerate().filter(|(_, value)| relevant(value));
            found.extend(items.map(|(i, value)| (i.to_string(), *value)));
        }
        _ => {}
    }
    Ok(found)
}

/// How many tensors there are within a value, but for counters.
fn tensors_in<'a>(heap: &mut Heap<'a>, value: Value<'a>, depth: usize) -> Result<usize> {
    heap.charge(1)?;
    if heap.tensor(value).is_some() {
        return Ok(usize::from(!is_counter(heap, value)));
    }
    if depth == DEPTH {
        return Ok(0);
    }
    let below: Vec<Value<'a>> = match heap.object(value) {
        Some(Object::Dict(pairs)) => pairs.iter().map(|&(_, value)| value).collect(),
        Some(Object::List(items) | Object::Tuple(items)) => items.clone(),
        _ => return Ok(0),
    };
    below.into_iter().try_fold(0, |sum, value| Ok(sum + tensors_in(heap, value, depth + 1)?))
}

/// Is it one whole number, as `num_batches_tracked` is, and `n_averaged` of a model's mean?
fn is_counter<'a>(heap: &Heap<'a>, value: Value<'a>) -> bool {
    heap.tensor(value).is_some_and(|tensor| {
        tensor.shape.is_empty()
            && matches!(tensor.stored, Stored::I8 | Stored::U8 | Stored::I16 | Stored::I32 | Stored::I64 | Stored::Bool)
    })
}

/// Tensors with their names, and where each name is.
struct Flat<'a> {
    tensors: Vec<(String, Value<'a>)>,
    places: HashMap<String, usize>,
    /// Characters that names may still have.
    left: usize,
}

fn flatten<'a>(heap: &mut Heap<'a>, value: Value<'a>, name: String, depth: usize, found: &mut Flat<'a>) -> Result<()> {
    if heap.tensor(value).is_some() {
        ensure!(
            name.len() <= NAME && name.len() <= found.left,
            TooLarge,
            "the names of the checkpoint's tensors are too long: {NAME} characters are read of one"
        );
        found.left -= name.len();
        match found.places.get(&name).and_then(|&i| found.tensors.get_mut(i)) {
            Some(place) => place.1 = value,
            None => {
                found.places.insert(name.clone(), found.tensors.len());
                found.tensors.push((name, value));
            }
        }
        return Ok(());
    }
    ensure!(depth < DEPTH, Parse, "the checkpoint has more than {DEPTH} mappings in each other");
    for (key, below) in entries(heap, value)? {
        let name = if depth == 0 { key } else { format!("{name}.{key}") };
        flatten(heap, below, name, depth + 1, found)?;
    }
    Ok(())
}

/// Takes off the prefixes that all names have, but for counters, which may belong to the wrapper.
fn unwrap<'a>(heap: &Heap<'a>, tensors: &mut [(String, Value<'a>)]) -> String {
    let mut prefix = String::new();
    if tensors.iter().all(|(_, value)| is_counter(heap, *value)) {
        return prefix;
    }
    let rest = |name: &str, wrapper: &str| name.strip_prefix(wrapper).is_some_and(|rest| !rest.is_empty());
    while let Some(wrapper) = WRAPPERS
        .iter()
        .find(|wrapper| tensors.iter().all(|(name, value)| rest(name, wrapper) || is_counter(heap, *value)))
    {
        let wrapped = tensors.iter_mut().filter(|(name, _)| rest(name, wrapper));
        wrapped.for_each(|(name, _)| drop(name.drain(..wrapper.len())));
        prefix.push_str(wrapper);
    }
    prefix
}
