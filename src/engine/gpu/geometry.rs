//! How a plan lies in device memory.
//!
//! Samples are innermost: a value of every sample is a line of `lanes` numbers, the samples padded to a multiple of 16, so
//! that four of them are always one aligned vector. What goes between two steps is an [`Image`]: positions row by row, at
//! each all channels, with the zeros around it that its readers' windows want. Then the values under a row of a window
//! lie one after the other, and a weight that is laid out in the same order (`shaders/affine/pack.wgsl`) meets them in one run.

use super::slide::Slide;
use crate::engine::plan::{Plan, Read, Step};
use crate::error::{Result, ensure};
use crate::memory::make_room;
use crate::network::{Padding, Shape, Window};

/// Samples are padded to a multiple of this: the tiles of the kernels have so many.
pub(super) const LANES: usize = 16;

/// Rows of panels are padded to a multiple of this.
const PANEL_ROWS: usize = 8;

/// What goes between two steps, in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Image {
    pub shape: Shape,
    /// Zeros around it: as many as any step with parameters that reads it wants.
    pub padding: Padding,
}

impl Image {
    /// Positions in a row.
    pub fn row(&self) -> usize {
        self.padding.before[1] + self.shape.width + self.padding.after[1]
    }

    /// The first position inside the padding.
    pub fn origin(&self) -> usize {
        self.padding.before[0] * self.row() + self.padding.before[1]
    }

    /// The first position of a window over it.
    pub fn corner(&self, window: Window) -> usize {
        let [above, left] = [0, 1].map(|axis| self.padding.before[axis] - window.padding.before[axis]);
        above * self.row() + left
    }

    /// Lines of `lanes` numbers.
    pub fn features(&self) -> usize {
        (self.padding.before[0] + self.shape.height + self.padding.after[0]) * self.row() * self.shape.channels
    }

    /// Place in memory of value (c, y, x), which is number `index` in row-major order.
    pub fn place(&self, index: usize) -> usize {
        let (c, y, x) =
            (index / self.shape.area(), index % self.shape.area() / self.shape.width, index % self.shape.width);
        (self.origin() + y * self.row() + x) * self.shape.channels + c
    }
}

/// Weights in memory, and what they slide over: an affine step or its transpose.
///
/// With groups, W lies there as it is in the parameter vector, with the bias behind it, for both ways (`shaders/affine/grouped.wgsl`).
/// Otherwise it is a panel for each way (`shaders/affine/pack.wgsl`).
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
    /// Where the bias begins, in numbers behind `offset`.
    pub bias_at: usize,
    /// First entries of [`Geometry::windows`], for y and x.
    pub windows: [usize; 2],
    /// For steps that read what comes in, where their runs are short: the first entry of [`Geometry::windows`] that has the
    /// places of four terms within a window each.
    pub taps: Option<usize>,
}

/// The most vectors of four in all panels: 32-bit places of single numbers tell so many apart.
const MOST_PANELS: u64 = 1 << 29;

/// Runs of fewer terms than this are short: walking them costs more than looking up every term's place.
const SHORT_RUN: usize = 32;

/// A step with its places in memory.
#[derive(Debug, Clone)]
pub(super) struct PlacedStep {
    pub step: Step,
    /// What each of its reads finds.
    pub reads: Vec<Image>,
    pub output: Image,
    /// For affine steps.
    pub forward: Option<Panel>,
    /// The transpose, for affine steps; of those that read what comes in it is for sweeps, and only where they are dense.
    pub backward: Option<Panel>,
}

/// The steps of a plan, the sizes of its panels, and the tables of its windows.
#[derive(Debug, Clone)]
pub(super) struct Geometry {
    pub steps: Vec<PlacedStep>,
    input: Image,
    /// Vectors of four in all panels that go forward; those that go backward follow them.
    pub forward_len: usize,
    /// Vectors of four in all panels but those for sweeps alone.
    pub panel_len: usize,
    /// Vectors of four in all panels.
    pub sweep_len: usize,
    /// (first source row or column, first panel row or column, count, from one source to the next) for each output row or column;
    /// with groups the second is the first tap.
    pub windows: Vec<[u32; 4]>,
}

impl Geometry {
    /// # Errors
    /// `TooLarge` for more weights in panels than 32-bit places tell apart, or tables that do not fit in memory.
    pub fn new(plan: &Plan) -> Result<Self> {
        let images = images(plan);
        let found = |read: &Read| images[read.from.map_or(0, |from| from + 1)];
        let placed = |(l, step): (usize, &Step)| PlacedStep {
            step: step.clone(),
            reads: step.reads.iter().map(found).collect(),
            output: images[l + 1],
            forward: None,
            backward: None,
        };
        let mut steps: Vec<PlacedStep> = plan.steps.iter().enumerate().map(placed).collect();
        let (mut windows, mut end) = (Vec::new(), 0);
        // A flatten changes the shape, but not the memory: the next window is the whole image.
        for placed in &mut steps {
            placed.forward = placed.panel(&mut end, &mut windows, false)?;
            if let (Some(mut panel), true) = (placed.forward, placed.has_short_runs()) {
                panel.taps = Some(windows.len());
                placed.push_places(panel, &mut windows)?;
                placed.forward = Some(panel);
            }
        }
        let forward_len = end;
        for placed in steps.iter_mut().filter(|placed| placed.pulls_back()) {
            placed.backward = placed.panel(&mut end, &mut windows, true)?;
        }
        let panel_len = end;
        for placed in steps.iter_mut().filter(|placed| !placed.pulls_back() && placed.step.is_dense()) {
            placed.backward = placed.panel(&mut end, &mut windows, true)?;
        }
        Ok(Self { steps, input: images[0], forward_len, panel_len, sweep_len: end, windows })
    }

    /// What comes in.
    pub fn input(&self) -> Image {
        self.input
    }

    /// What goes out.
    pub fn output(&self) -> Image {
        self.steps[self.steps.len() - 1].output
    }

    /// Lines of one sample that go out of the steps, all together.
    pub fn features(&self) -> u64 {
        self.steps.iter().map(|placed| placed.output.features() as u64).sum()
    }

    /// The most lines of an image.
    pub fn widest(&self) -> usize {
        let images = self.steps.iter().map(|placed| placed.output).chain([self.input]);
        images.map(|image| image.features()).max().unwrap_or(1)
    }

    /// The most lines of an image to which several readers pull cotangents back, of which those behind the first need room until they
    /// are added; 0 of a chain.
    pub fn meeting(&self) -> usize {
        let reads = self.steps.iter().flat_map(|placed| placed.step.reads.iter().filter(|read| !read.starts));
        reads.filter_map(|read| Some(self.steps[read.from?].output.features())).max().unwrap_or(0)
    }
}

/// What comes in, and what each step gives, with what the windows over it want around it.
fn images(plan: &Plan) -> Vec<Image> {
    let shapes = [plan.input].into_iter().chain(plan.steps.iter().map(|step| step.output));
    let mut images: Vec<Image> = shapes.map(|shape| Image { shape, padding: Padding::NONE }).collect();
    // Pools leave out what is beyond the image.
    for step in plan.steps.iter().filter(|step| step.is_affine()) {
        for read in &step.reads {
            let padding = &mut images[read.from.map_or(0, |from| from + 1)].padding;
            let wanted = step.window.padding;
            padding.before = [0, 1].map(|axis| padding.before[axis].max(wanted.before[axis]));
            padding.after = [0, 1].map(|axis| padding.after[axis].max(wanted.after[axis]));
        }
    }
    images
}

impl PlacedStep {
    /// What its first read finds: all of it, but for sums and concatenations.
    pub fn input(&self) -> Image {
        self.reads[0]
    }

    /// Are its channels in parts, so that its weights lie in memory as they are?
    pub fn is_grouped(&self) -> bool {
        self.step.groups() > 1
    }

    /// Channels that come in and that one output sees.
    pub fn seen(&self) -> usize {
        self.step.input.channels / self.step.groups()
    }

    /// Do cotangents go back beyond it? What comes into the network is no variable.
    pub fn pulls_back(&self) -> bool {
        self.step.reads.iter().any(|read| read.from.is_some())
    }

    /// Where a number of W lies in its panel: so far apart are rows, taps and channels, in single numbers.
    pub fn weight_strides(&self, panel: Panel) -> [usize; 3] {
        let area = self.step.window.area();
        let line = 4 * panel.rows4;
        if self.is_grouped() { [panel.depth, 1, area] } else { [1, self.seen() * line, line] }
    }

    /// Is every term's place looked up? Inputs alone have their padding around them at any time.
    fn has_short_runs(&self) -> bool {
        let run = match self.step.window.dilation[1] {
            1 => self.step.window.size[1],
            _ => 1,
        };
        !self.is_grouped() && !self.pulls_back() && run * self.input().shape.channels < SHORT_RUN
    }

    /// The places of the terms within a window, and what is beyond the last one.
    fn push_places(&self, panel: Panel, windows: &mut Vec<[u32; 4]>) -> Result<()> {
        let (image, window) = (self.input(), self.step.window);
        let channels = image.shape.channels;
        let place = |d: usize| {
            let d = d.min(panel.depth - 1);
            let [y, x] = [d / channels / window.size[1], d / channels % window.size[1]];
            let position = image.corner(window) + y * window.dilation[0] * image.row() + x * window.dilation[1];
            (position * channels + d % channels) as u32
        };
        make_room("places of terms", windows, panel.lines / 4)?;
        windows.extend((0..panel.lines / 4).map(|k| [0, 1, 2, 3].map(|i| place(4 * k + i))));
        Ok(())
    }

    fn panel(&self, end: &mut usize, windows: &mut Vec<[u32; 4]>, is_backward: bool) -> Result<Option<Panel>> {
        if !self.step.is_affine() {
            return Ok(None);
        }
        let tables = self.push_windows(windows, is_backward)?;
        if let (true, true, Some(panel)) = (is_backward, self.is_grouped(), self.forward) {
            return Ok(Some(Panel { windows: tables, ..panel }));
        }
        let (from, to) = if is_backward { (self.output, self.input()) } else { (self.input(), self.output) };
        let (rows, area) = (to.shape.channels, self.step.window.area());
        let (depth, lines, rows4, bias_at) = if self.is_grouped() {
            let numbers = self.step.weight().len() + self.step.bias().map_or(0, |bias| bias.len());
            (self.seen() * area, 1, numbers.div_ceil(4), self.step.weight().len())
        } else {
            let depth = area * from.shape.channels;
            let lines = if is_backward { depth } else { depth.next_multiple_of(4) };
            let rows4 = rows.next_multiple_of(PANEL_ROWS) / 4;
            (depth, lines, rows4, 4 * lines * rows4)
        };
        // Forward a line of biases follows, if there are any or not.
        let has_biases = !is_backward && !self.is_grouped();
        let len = (lines as u64 + u64::from(has_biases)) * rows4 as u64;
        let (offset, after) = (*end, *end as u64 + len);
        ensure!(
            after <= MOST_PANELS,
            TooLarge,
            "the network's weights take {after} × 4 numbers as the GPU's kernels read them, but the most is {MOST_PANELS} × 4; \
             a smaller network, or the CPU, is needed"
        );
        *end = after as usize;
        Ok(Some(Panel { offset, depth, lines, rows, rows4, bias_at, windows: tables, taps: None }))
    }

    /// What every row and column meets, and where the two tables begin.
    fn push_windows(&self, windows: &mut Vec<[u32; 4]>, is_backward: bool) -> Result<[usize; 2]> {
        let (from, to) = if is_backward { (self.output, self.input()) } else { (self.input(), self.output) };
        let mut tables = [0; 2];
        for (axis, table) in tables.iter_mut().enumerate() {
            *table = windows.len();
            let length = |image: Image| [image.shape.height, image.shape.width][axis];
            let slide = Slide::of(self.step.window, axis);
            make_room("windows of an image", windows, length(to))?;
            for i in 0..length(to) {
                let (reach, step) = match is_backward {
                    true => (slide.backward(i, length(from)), slide.step_back()),
                    false => (slide.forward(i, length(from)), slide.dilation),
                };
                let source = reach.source + from.padding.before[axis];
                let place = if self.is_grouped() { reach.tap } else { reach.place };
                windows.push([source, place, reach.count, step].map(|n| n as u32));
            }
        }
        Ok(tables)
    }
}
