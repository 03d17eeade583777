//! A window's way along one axis of an image: which inputs an output is of, and which outputs an input goes into.

use crate::network::Window;

/// A window along one axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slide {
    pub size: usize,
    pub stride: usize,
    pub padding: usize,
    pub dilation: usize,
}

/// What one place along the axis meets: neighbours on the other side, `step` apart, each through a tap of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Reach {
    /// The first of them.
    pub source: usize,
    /// How many.
    pub count: usize,
    /// The tap of the first.
    pub tap: usize,
    /// Its place among the taps as panels have them: forward in order, backward sorted by their residue modulo
    /// [`Slide::period`], descending within a residue.
    pub place: usize,
}

impl Slide {
    /// Of a window along an axis.
    pub fn of(window: Window, axis: usize) -> Self {
        Self {
            size: window.size[axis],
            stride: window.stride[axis],
            padding: window.padding.before[axis],
            dilation: window.dilation[axis],
        }
    }

    /// So many taps lie between two through which one input goes into neighbouring outputs.
    pub fn period(&self) -> usize {
        self.stride / greatest_common_divisor(self.stride, self.dilation)
    }

    /// From one output that such an input goes into to the next.
    pub fn step_back(&self) -> usize {
        self.dilation / greatest_common_divisor(self.stride, self.dilation)
    }

    /// Output o: the inputs inside, `dilation` apart.
    pub fn forward(&self, o: usize, inputs: usize) -> Reach {
        let start = o * self.stride;
        let first = self.padding.saturating_sub(start).div_ceil(self.dilation).min(self.size);
        let end = (inputs + self.padding).saturating_sub(start).div_ceil(self.dilation).min(self.size);
        if first >= end {
            return Reach::default();
        }
        let source = start + first * self.dilation - self.padding;
        Reach { source, count: end - first, tap: first, place: first }
    }

    /// Input i: the outputs that read it, [`Slide::step_back`] apart; their taps descend by [`Slide::period`].
    pub fn backward(&self, i: usize, outputs: usize) -> Reach {
        let (at, period, step) = (i + self.padding, self.period(), self.step_back());
        let met = (0..period.min(self.size)).find(|tap| (tap * self.dilation) % self.stride == at % self.stride);
        let Some(residue) = met.filter(|tap| tap * self.dilation <= at) else { return Reach::default() };
        let count = (self.size - residue).div_ceil(period);
        // Σ of the counts of the residues before: each has one more than the quotient as long as it is below the rest.
        let start = residue * (self.size / period) + residue.min(self.size % period);
        // Tap residue + j period is read by output last − j step.
        let last = (at - residue * self.dilation) / self.stride;
        let first = (last + 1).saturating_sub(outputs).div_ceil(step);
        let end = (last / step + 1).min(count);
        if first >= end {
            return Reach::default();
        }
        Reach {
            source: last - (end - 1) * step,
            count: end - first,
            tap: residue + (end - 1) * period,
            place: start + count - end,
        }
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::Slide;

    /// Both ways list the same triples (input, output, tap).
    #[test]
    fn backward_is_the_transpose_of_forward() {
        for (size, stride, padding, dilation, inputs) in [
            (1, 1, 0, 1, 4),
            (3, 1, 1, 1, 5),
            (5, 1, 2, 1, 4),
            (3, 2, 1, 1, 7),
            (2, 3, 0, 1, 8),
            (4, 3, 2, 1, 6),
            (3, 2, 4, 1, 3),
            (11, 4, 9, 1, 5),
            (3, 50, 1, 1, 2),
            (3, 1, 2, 2, 6),
            (3, 2, 2, 2, 9),
            (4, 2, 3, 3, 8),
            (5, 6, 7, 4, 20),
            (3, 4, 9, 6, 5),
            (2, 1, 7, 7, 3),
        ] {
            let slide = Slide { size, stride, padding, dilation };
            let outputs = (inputs + 2 * padding - (size - 1) * dilation - 1) / stride + 1;
            let mut forward = Vec::new();
            for o in 0..outputs {
                let reach = slide.forward(o, inputs);
                assert_eq!(reach.tap, reach.place);
                forward.extend((0..reach.count).map(|j| (reach.source + j * dilation, o, reach.tap + j)));
            }
            let mut sorted: Vec<usize> = (0..size).collect();
            sorted.sort_by_key(|&tap| (tap % slide.period(), usize::MAX - tap));
            let mut backward = Vec::new();
            for i in 0..inputs {
                let reach = slide.backward(i, outputs);
                for j in 0..reach.count {
                    let tap = reach.tap - j * slide.period();
                    assert_eq!(sorted[reach.place + j], tap);
                    backward.push((i, reach.source + j * slide.step_back(), tap));
                }
            }
            let expected = (0..outputs).flat_map(|o| (0..size).map(move |tap| (o, tap))).filter_map(|(o, tap)| {
                let place = (o * stride + tap * dilation).checked_sub(padding)?;
                (place < inputs).then_some((place, o, tap))
            });
            let mut expected: Vec<_> = expected.collect();
            for list in [&mut forward, &mut backward, &mut expected] {
                list.sort_unstable();
            }
            let case = format!("size {size}, stride {stride}, padding {padding}, dilation {dilation}, {inputs} inputs");
            assert_eq!(forward, expected, "{case}");
            assert_eq!(backward, expected, "{case}");
        }
    }
}
