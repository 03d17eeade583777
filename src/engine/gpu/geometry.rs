//! How a plan lies in device memory.
//!
//! Samples are innermost: a value of every sample is a line of `lanes` numbers, the samples padded to a multiple of 16, so
//! that four of them are always one aligned vector. What goes between two steps is an [`Image`]: positions row by row, at
//! each all channels, with the zeros around it that the next step's window wants. Then the values under a row of a window
//! lie one after the other, and a weight that is laid out in the same order (`shaders/affine/pack.wgsl`) meets them in one run.

use std::ops::Range;

use crate::engine::plan::{Operation, Plan, Read, Step};
use crate::error::{Result, ensure};
use crate::memory::make_room;
use crate::network::Shape;

/// Samples are padded to a multiple of this: the tiles of the kernels have so many.
pub(super) const LANES: usize = 16;

/// Rows of panels are padded to a multiple of this.
const PANEL_ROWS: usize = 8;

/// What goes between two steps, in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Image {
    pub shape: Shape,
    /// Zeros around it, [above and below, left and right].
    pub padding: [usize; 2],
}

impl Image {
    /// Positions in a row.
    pub fn row(&self) -> usize {
        self.shape.width + 2 * self.padding[1]
    }

    /// The first position inside the padding.
    pub fn origin(&self) -> usize {
        self.padding[0] * self.row() + self.padding[1]
    }

    /// Lines of `lanes` numbers.
    pub fn features(&self) -> usize {
        (self.shape.height + 2 * self.padding[0]) * self.row() * self.shape.channels
    }

    /// Place in memory of value (c, y, x), which is number `index` in row-major order.
    pub fn place(&self, index: usize) -> usize {
        let (c, y, x) =
            (index / self.shape.area(), index % self.shape.area() / self.shape.width, index % self.shape.width);
        (self.origin() + y * self.row() + x) * self.shape.channels + c
    }
}

/// A panel of weights, and what it slides over: an affine step or its transpose.
#[derive(Debug, Clone, Copy)]
pub(super) struct Panel {
    /// Where it begins, in vectors of four.
    pub offset: usize,
    /// Terms of a sum.
    pub depth: usize,
    /// The same in memory: whole fours where a bias follows.
    pub lines: usize,
    /// Channels that come out.
    pub rows: usize,
    /// The same in memory, in vectors of four.
    pub rows4: usize,
    /// First entries of [`Geometry::windows`], for y and x.
    pub windows: [usize; 2],
    /// For the first step where its runs are short: the first entry of [`Geometry::windows`] that has the places of four
    /// terms within a window each.
    pub taps: Option<usize>,
}

/// The most vectors of four in all panels: 32-bit places of single numbers tell so many apart.
const MOST_PANELS: u64 = 1 << 29;

/// Runs of fewer terms than this are short: walking them costs more than looking up every term's place.
const SHORT_RUN: usize = 32;

impl Panel {
    /// Vectors of four that it takes, with a bias if there may be one.
    fn len(&self, with_bias: bool) -> u64 {
        (self.lines as u64 + u64::from(with_bias)) * self.rows4 as u64
    }
}

/// A step with its places in memory.
#[derive(Debug, Clone)]
pub(super) struct PlacedStep {
    pub step: Step,
    pub input: Image,
    pub output: Image,
    /// For affine steps.
    pub forward: Option<Panel>,
    /// The transpose, for affine steps; the first one's is for sweeps, and only where it is dense.
    pub backward: Option<Panel>,
}

/// The steps of a plan, the sizes of its panels, and the tables of its windows.
#[derive(Debug, Clone)]
pub(super) struct Geometry {
    pub steps: Vec<PlacedStep>,
    /// Vectors of four in all panels that go forward; those that go backward follow them.
    pub forward_len: usize,
    /// Vectors of four in all panels but the first step's backward.
    pub panel_len: usize,
    /// Vectors of four in all panels.
    pub sweep_len: usize,
    /// (first source row or column, first panel row or column, count) for each output row or column.
    pub windows: Vec<[u32; 4]>,
}

impl Geometry {
    /// # Errors
    /// `TooLarge` for more weights in panels than 32-bit places tell apart, or tables that do not fit in memory.
    pub fn new(plan: &Plan) -> Result<Self> {
        ensure_placeable(plan)?;
        let mut windows = Vec::new();
        // Of what comes in, and of what each step gives: what the windows over it want.
        let mut paddings = vec![[0; 2]; plan.steps.len() + 1];
        let place = |read: &Read| read.from.map_or(0, |from| from + 1);
        for step in &plan.steps {
            for read in &step.reads {
                let padding = &mut paddings[place(read)];
                *padding = [0, 1].map(|axis| padding[axis].max(step.window.padding.before[axis]));
            }
        }
        let placed = |(l, step): (usize, &Step)| PlacedStep {
            step: step.clone(),
            input: Image { shape: step.input, padding: paddings[place(&step.reads[0])] },
            output: Image { shape: step.output, padding: paddings[l + 1] },
            forward: None,
            backward: None,
        };
        let mut steps: Vec<PlacedStep> = plan.steps.iter().enumerate().map(placed).collect();
        // A flatten changes the shape, but not the memory: the next window is the whole image.
        let mut end = 0;
        for placed in &mut steps {
            placed.forward = placed.panel(&mut end, &mut windows, false)?;
        }
        let first = &mut steps[0];
        let (image, size) = (first.input, first.step.window.size);
        if let Some(panel) = &mut first.forward
            && size[1] * image.shape.channels < SHORT_RUN
        {
            panel.taps = Some(windows.len());
            let channels = image.shape.channels;
            let place = |d: usize| {
                let tap = d.min(panel.depth - 1) / channels;
                ((tap / size[1] * image.row() + tap % size[1]) * channels + d.min(panel.depth - 1) % channels) as u32
            };
            make_room("places of terms", &mut windows, panel.lines / 4)?;
            windows.extend((0..panel.lines / 4).map(|k| [0, 1, 2, 3].map(|i| place(4 * k + i))));
        }
        let forward_len = end;
        for placed in &mut steps[1..] {
            placed.backward = placed.panel(&mut end, &mut windows, true)?;
        }
        let panel_len = end;
        if steps[0].step.is_dense() {
            steps[0].backward = steps[0].panel(&mut end, &mut windows, true)?;
        }
        Ok(Self { steps, forward_len, panel_len, sweep_len: end, windows })
    }

    /// What comes in.
    pub fn input(&self) -> Image {
        self.steps[0].input
    }

    /// What goes out.
    pub fn output(&self) -> Image {
        self.steps[self.steps.len() - 1].output
    }

    /// Lines of one sample that go out of the steps, all together.
    pub fn features(&self) -> u64 {
        self.steps.iter().map(|placed| placed.output.features() as u64).sum()
    }
}

/// Fails for a network that the kernels do not have yet.
fn ensure_placeable(plan: &Plan) -> Result<()> {
    let is_chain =
        plan.steps.iter().enumerate().all(|(l, step)| step.reads.len() == 1 && step.reads[0].from == l.checked_sub(1));
    let is_known = |step: &Step| {
        let (window, operation) = (step.window, &step.operation);
        let is_known = matches!(operation, Operation::Affine { groups: 1, .. } | Operation::Copy)
            || (window.padding.is_none() && matches!(operation, Operation::MaxPool | Operation::AveragePool));
        is_known && window.padding.before == window.padding.after && window.dilation == [1, 1]
    };
    ensure!(
        is_chain && plan.steps.iter().all(is_known) && plan.steps.last().is_some_and(Step::is_affine),
        BackendUnavailable,
        "WebGPU has no kernels for networks with branches, groups, dilation or padded pools yet: the CPU computes them"
    );
    Ok(())
}

impl PlacedStep {
    fn panel(&self, end: &mut usize, windows: &mut Vec<[u32; 4]>, is_backward: bool) -> Result<Option<Panel>> {
        let Operation::Affine { .. } = self.step.operation else { return Ok(None) };
        let (from, to) = if is_backward { (self.output, self.input) } else { (self.input, self.output) };
        let mut tables = [0; 2];
        for (axis, table) in tables.iter_mut().enumerate() {
            *table = windows.len();
            let length = |image: Image| [image.shape.height, image.shape.width][axis];
            let slide = Slide {
                size: self.step.window.size[axis],
                stride: self.step.window.stride[axis],
                padding: self.step.window.padding.before[axis],
            };
            make_room("windows of an image", windows, length(to))?;
            for i in 0..length(to) {
                let (source, panel) =
                    if is_backward { slide.backward(i, length(from)) } else { slide.forward(i, length(from)) };
                windows.push([(source + from.padding[axis]) as u32, panel.start as u32, panel.len() as u32, 0]);
            }
        }
        let depth = self.step.window.area() * from.shape.channels;
        let panel = Panel {
            offset: *end,
            depth,
            lines: if is_backward { depth } else { depth.next_multiple_of(4) },
            taps: None,
            rows: to.shape.channels,
            rows4: to.shape.channels.next_multiple_of(PANEL_ROWS) / 4,
            windows: tables,
        };
        let after = *end as u64 + panel.len(!is_backward);
        ensure!(
            after <= MOST_PANELS,
            TooLarge,
            "the network's weights take {after} × 4 numbers as the GPU's kernels read them, but the most is {MOST_PANELS} × 4; \
             a smaller network, or the CPU, is needed"
        );
        *end = after as usize;
        Ok(Some(panel))
    }
}

/// A window's way along one axis.
struct Slide {
    size: usize,
    stride: usize,
    padding: usize,
}

impl Slide {
    /// Output o: the first input inside, and the taps that lie inside.
    fn forward(&self, o: usize, inputs: usize) -> (usize, Range<usize>) {
        let start = o * self.stride;
        let first = self.padding.saturating_sub(start).min(self.size);
        let last = (inputs + self.padding).saturating_sub(start).min(self.size);
        if first >= last { (0, 0..0) } else { (start + first - self.padding, first..last) }
    }

    /// Input i: the first output that reads it, and the places of its taps among those sorted by residue, descending.
    fn backward(&self, i: usize, outputs: usize) -> (usize, Range<usize>) {
        let (quotient, residue) = ((i + self.padding) / self.stride, (i + self.padding) % self.stride);
        if residue >= self.size {
            return (0, 0..0);
        }
        let count = |residue: usize| (self.size - residue).div_ceil(self.stride);
        // Σ of the counts of the residues before: each has one more than the quotient as long as it is below the rest.
        let start = residue * (self.size / self.stride) + residue.min(self.size % self.stride);
        // Tap residue + j stride is read by output quotient − j.
        let first = (quotient + 1).saturating_sub(outputs);
        let last = count(residue).min(quotient + 1);
        if first >= last {
            return (0, 0..0);
        }
        let end = start + count(residue);
        (quotient + 1 - last, end - last..end - first)
    }
}

#[cfg(test)]
mod tests {
    use super::Slide;

    /// Both ways list the same pairs (input, output, tap).
    #[test]
    fn backward_is_the_transpose_of_forward() {
        for (size, stride, padding, inputs) in [
            (1, 1, 0, 4),
            (3, 1, 1, 5),
            (5, 1, 2, 4),
            (3, 2, 1, 7),
            (2, 3, 0, 8),
            (4, 3, 2, 6),
            (3, 2, 4, 3),
            (11, 4, 9, 5),
            (3, 50, 1, 2),
        ] {
            let slide = Slide { size, stride, padding };
            let outputs = (inputs + 2 * padding - size) / stride + 1;
            let mut forward = Vec::new();
            for o in 0..outputs {
                let (source, taps) = slide.forward(o, inputs);
                forward.extend(taps.enumerate().map(|(j, tap)| (source + j, o, tap)));
            }
            let mut sorted: Vec<usize> = (0..size).collect();
            sorted.sort_by_key(|&tap| (tap % stride, usize::MAX - tap));
            let mut backward = Vec::new();
            for i in 0..inputs {
                let (source, places) = slide.backward(i, outputs);
                backward.extend(places.enumerate().map(|(j, place)| (i, source + j, sorted[place])));
            }
            forward.sort_unstable();
            backward.sort_unstable();
            assert_eq!(forward, backward, "size {size}, stride {stride}, padding {padding}, {inputs} inputs");
        }
    }
}
