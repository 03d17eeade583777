//! The problem's data in chunks of samples, in the order of the device's memory.

use std::cell::RefCell;
use std::rc::Rc;

use super::context::{DeviceBuffer, GpuContext};
use super::geometry::{Geometry, Image, LANES};
use crate::engine::Plan;
use crate::engine::cpu::apply_prefix;
use crate::error::Result;
use crate::memory::{collected, product, zeros};
use crate::problem::{Problem, Targets, Values};

/// Numbers that the data, activations and derivatives of a chunk may take, for one direction. Fixed, and not the budget,
/// so that the same problem is cut the same way whatever memory there is.
const CHUNK_NUMBERS: u64 = 1 << 26;

/// Inputs and targets of a chunk on the device: (feature, lanes) each, zeros around the inputs.
#[derive(Clone)]
pub(super) struct ChunkData {
    pub inputs: Rc<DeviceBuffer>,
    /// Class numbers as floating-point numbers, or vectors.
    pub targets: Rc<DeviceBuffer>,
}

/// All data. What is beyond the memory budget stays on the host and is loaded when its chunk's turn comes.
pub(super) struct Data {
    pub samples: usize,
    /// Samples of a chunk, padded; the last one may have fewer.
    pub lanes: usize,
    problem: Problem,
    /// Inputs behind the steps that come before the first affine one, if there are such steps.
    prepared: Option<Vec<f32>>,
    resident: Vec<ChunkData>,
    visitor: RefCell<Option<(usize, ChunkData)>>,
}

impl Data {
    /// Cuts the data into chunks of at most `most` samples, and loads as many as `budget` bytes hold.
    pub fn new(
        context: &GpuContext,
        plan: &Plan,
        geometry: &Geometry,
        problem: &Problem,
        budget: u64,
        most: usize,
    ) -> Result<Self> {
        let (samples, width) = (problem.samples(), problem.network().input_len());
        let limit = context.max_buffer_bytes() / 4 / geometry.widest() as u64;
        let each = geometry.input().features() as u64 + 4 * geometry.features();
        let most = most.min((CHUNK_NUMBERS / each).min(limit) as usize) / LANES * LANES;
        let chunks = samples.div_ceil(most.max(LANES));
        let lanes = samples.div_ceil(chunks).next_multiple_of(LANES);
        let prepared = match plan.prefix.is_empty() {
            true => None,
            false => Some(apply_prefix(&plan.prefix, problem.shared_inputs().first_in_f32(samples * width)?)?),
        };
        let mut data = Self {
            samples,
            lanes,
            problem: problem.clone(),
            prepared,
            resident: Vec::new(),
            visitor: RefCell::default(),
        };
        let bytes = 4 * lanes as u64 * (geometry.input().features() + geometry.output().features()) as u64;
        let fit = budget / bytes;
        for chunk in 0..(data.chunks() as u64).min(fit) as usize {
            let loaded = data.load(context, geometry, chunk)?;
            data.resident.push(loaded);
        }
        Ok(data)
    }

    /// How many chunks.
    pub fn chunks(&self) -> usize {
        self.samples.div_ceil(self.lanes)
    }

    /// The first sample of a chunk.
    pub fn first(&self, chunk: usize) -> usize {
        chunk * self.lanes
    }

    /// Samples of a chunk.
    pub fn rows(&self, chunk: usize) -> usize {
        self.lanes.min(self.samples - self.first(chunk))
    }

    /// Bytes on the device.
    pub fn resident_bytes(&self) -> u64 {
        self.resident.iter().map(|data| 4 * (data.inputs.elements + data.targets.elements)).sum()
    }

    /// A chunk's data, on the device.
    pub fn chunk(&self, context: &GpuContext, geometry: &Geometry, chunk: usize) -> Result<ChunkData> {
        if let Some(data) = self.resident.get(chunk) {
            return Ok(data.clone());
        }
        let mut visitor = self.visitor.borrow_mut();
        if let Some((number, data)) = &*visitor
            && *number == chunk
        {
            return Ok(data.clone());
        }
        // The old one first: its memory may be needed for the new one.
        *visitor = None;
        let data = self.load(context, geometry, chunk)?;
        *visitor = Some((chunk, data.clone()));
        Ok(data)
    }

    fn load(&self, context: &GpuContext, geometry: &Geometry, chunk: usize) -> Result<ChunkData> {
        let (first, rows, lanes, input) = (self.first(chunk), self.rows(chunk), self.lanes, geometry.input());
        let what = format!("inputs of {rows} samples of width {}", input.shape.len());
        context.check_size(&what, input.features() as u64 * lanes as u64)?;
        let mut inputs = zeros(&what, product::<f32>(&what, &[input.features(), lanes])?)?;
        let places_of =
            |image: Image| collected("places of values", (0..image.shape.len()).map(|i| image.place(i) * lanes));
        let places: Vec<usize> = places_of(input)?;
        match (&self.prepared, self.problem.shared_inputs()) {
            (Some(values), _) | (None, Values::F32(values)) => {
                spread(values, first, rows, &places, &mut inputs, |v| v);
            }
            (None, Values::F64(values)) => spread(values, first, rows, &places, &mut inputs, |v| v as f32),
        }
        let output = geometry.output();
        let mut targets;
        match self.problem.shared_targets() {
            Targets::Classes(labels) => {
                targets = zeros("targets", lanes)?;
                for (to, &label) in targets.iter_mut().zip(&labels[first..first + rows]) {
                    // Whole numbers up to 2²⁴ are exact; more classes than that do not fit anywhere.
                    *to = output.place(label as usize) as f32;
                }
            }
            Targets::Vectors(values) => {
                context.check_size("targets", output.features() as u64 * lanes as u64)?;
                targets = zeros("targets", product::<f32>("targets", &[output.features(), lanes])?)?;
                spread(values, first, rows, &places_of(output)?, &mut targets, |v| v as f32);
            }
        }
        Ok(ChunkData { inputs: context.buffer_of(&what, &inputs)?, targets: context.buffer_of("targets", &targets)? })
    }
}

/// Rows of values into lanes.
fn spread<T: Copy>(
    values: &[T],
    first: usize,
    rows: usize,
    places: &[usize],
    out: &mut [f32],
    convert: impl Fn(T) -> f32,
) {
    for (n, row) in values.chunks_exact(places.len()).skip(first).take(rows).enumerate() {
        for (&place, &value) in places.iter().zip(row) {
            out[place + n] = convert(value);
        }
    }
}
