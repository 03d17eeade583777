//! Jestädt (2025), Figures 1.5, 1.6, 4.8 and 4.9: the loss sin y of networks of one to three weights with inputs of 1, and what the thesis says
//! of it. Outputs and their derivatives are the engine's. Networks a and b of section 1.2.2 are relu(w_1) and w_2 relu(w_1), those of section
//! 4.2.4 (Figure 4.8) relu(w_1 + w_2) and w_3 relu(w_1 + w_2), of which w_1 is fixed. Networks end with a layer that has parameters: in a its weight is 1.

use isoflat::engine::Engine;
use isoflat::network::Layer;
use isoflat::{Loss, Network, Problem, Result, Targets};
use pollster::block_on;
use serde_json::{Value, json};

use super::Arguments;
use super::runs::short;
use super::small::{self, engine, shortened, spaced, turn};

/// Losses of a surface by side, and how far its weights go from 0: of the networks of section 1.2.2, and of section 4.2.4.
const SIDE: usize = 73;
const REACH: [f64; 2] = [5.0, 6.0];

pub fn run(arguments: &Arguments) -> Result<()> {
    let figures: [small::Figure; 3] = [
        ("figure-1-5", || block_on(figure_1_5())),
        ("figure-1-6", || block_on(figure_1_6())),
        ("figure-4-9", || block_on(figure_4_9())),
    ];
    small::run(arguments, "Jestädt 2025, Figures 1.5, 1.6, 4.8 and 4.9", &figures)
}

/// A network of two layers of one unit, with inputs of 1.
struct Sine(Engine);

/// At some weights.
struct Found {
    output: f64,
    gradient: Vec<f64>,
}

impl Sine {
    fn new(inputs: usize) -> Result<Self> {
        let dense = Layer::Dense { units: 1, bias: false };
        let network = Network::new(vec![inputs], vec![dense.clone(), Layer::Relu, dense])?;
        let targets = Targets::Vectors(vec![0.0]);
        Ok(Self(engine(&Problem::new(network, Loss::SquaredError, vec![1.0; inputs], targets)?)?))
    }

    async fn output(&self, weights: &[f64]) -> Result<f64> {
        self.0.prepare(weights).await?;
        Ok(self.0.outputs().await?[0])
    }

    async fn loss(&self, weights: &[f64]) -> Result<f64> {
        Ok(self.output(weights).await?.sin())
    }

    /// The engine's own loss is c y², whose gradient is 2 c y times the output's.
    async fn at(&self, weights: &[f64]) -> Result<Found> {
        let output = self.output(weights).await?;
        let scale = output.cos() * output / (2.0 * self.0.loss().await?);
        let gradient = self.0.gradient().await?.iter().map(|slope| scale * slope).collect();
        Ok(Found { output, gradient })
    }

    /// Losses over two weights, row by row from the lower left corner; `place` puts the two where they are among all.
    async fn surface(&self, reach: f64, place: impl Fn([f64; 2]) -> Vec<f64>) -> Result<Vec<f64>> {
        let mut losses = Vec::with_capacity(SIDE * SIDE);
        for second in spaced(0.0, reach, SIDE) {
            for first in spaced(0.0, reach, SIDE) {
                losses.push(self.loss(&place([first, second])).await?);
            }
        }
        Ok(losses)
    }

    fn summary(&self) -> String {
        self.0.problem().network().summary()
    }
}

/// As files have losses that are between −1 and 1.
fn rounded(losses: &[f64]) -> Vec<f64> {
    losses.iter().map(|loss| (loss * 1e3).round() / 1e3).collect()
}

/// One weight, for which ReLU leaves nothing below 0, and two, of which the nearer one is to 0 the further the loss is drawn out along the other.
async fn figure_1_5() -> Result<Value> {
    let network = Sine::new(1)?;
    let weights = spaced(-3.0, 12.0, 151);
    let mut losses = Vec::new();
    for weight in &weights {
        losses.push(network.loss(&[*weight, 1.0]).await?);
    }
    let below = weights.iter().zip(&losses).filter(|(weight, _)| **weight < 0.0);
    let largest_below_0 = below.fold(0.0, |largest: f64, (_, loss)| largest.max(loss.abs()));
    // Where the loss first stops to rise along w_1.
    let mut tops = Vec::new();
    for second in [0.5, 1.0, 2.0, 4.0] {
        let rises = async |first: f64| Ok(network.at(&[first, second]).await?.gradient[0] > 0.0);
        tops.push(json!({ "w_2": second, "w_1": turn(1e-3 / second, 3.0 / second, rises).await? }));
    }
    Ok(json!({
        "network": network.summary(),
        "found": { "largest_below_0": largest_below_0, "first_maximum": tops },
        "w": shortened(&weights),
        "losses": rounded(&losses),
        "surface": { "reach": REACH[0], "side": SIDE, "losses": rounded(&network.surface(REACH[0], |at| at.to_vec()).await?) },
    }))
}

/// Lines of one function each, and the gradients along them: across the line, and as long as the weights are far from 0.
async fn figure_1_6() -> Result<Value> {
    const OUTPUTS: [f64; 4] = [0.5, 1.0, 2.0, 3.0];
    const SPREAD: f64 = 3.0;
    let two = Sine::new(1)?;
    let (mut difference, mut along, mut lines) = (0.0_f64, 0.0_f64, Vec::new());
    let (mut ratios, mut shares) = (Vec::new(), Vec::new());
    for output in OUTPUTS {
        let side = output.sqrt();
        let (mut points, mut arrows, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        for (index, power) in spaced(-1.0, 1.0, 41).into_iter().enumerate() {
            let factor = SPREAD.powf(power);
            let weights = [side * factor, side / factor];
            let found = two.at(&weights).await?;
            difference = difference.max((found.output - output).abs());
            let length = found.gradient[0].hypot(found.gradient[1]);
            let far = weights[0].hypot(weights[1]);
            // The line goes on by (w_1, −w_2).
            along = along.max((found.gradient[0] * weights[0] - found.gradient[1] * weights[1]).abs() / (length * far));
            lengths.push(length);
            shares.push(length / (far * found.output.cos().abs()));
            points.push(shortened(&weights));
            if index % 5 == 0 {
                arrows.push(json!({ "at": shortened(&weights), "minus_gradient": found.gradient.iter().map(|slope| short(-slope)).collect::<Vec<_>>() }));
            }
        }
        let (least, most) = ends(&lengths);
        ratios.push(most / least);
        lines.push(json!({ "output": output, "loss": output.sin(), "points": points, "arrows": arrows }));
    }
    let (least, most) = ends(&shares);
    Ok(json!({
        "network": two.summary(),
        "found": {
            "factors": SPREAD,
            "largest_difference_of_outputs": difference,
            "largest_cosine_with_the_line": along,
            "longest_over_shortest_gradient": ratios,
            "length_over_distance_from_0": { "lowest": least, "highest": most },
        },
        "lines": lines,
    }))
}

fn ends(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    (least, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

/// The network without the symmetry, and the plane of the one that has it in which w_1 is fixed: at 0 it is Figure 1.5's, and the larger w_1
/// is the closer together the loss is along w_3, most of all where w_2 is near 0.
async fn figure_4_9() -> Result<Value> {
    let (network, two) = (Sine::new(2)?, Sine::new(1)?);
    let reach = REACH[1];
    let mut surfaces = vec![
        json!({ "network": "a", "losses": rounded(&network.surface(reach, |[first, second]| vec![first, second, 1.0]).await?) }),
    ];
    let mut minima = Vec::new();
    for first in [1.0, 6.0, 10.0] {
        let losses = network.surface(reach, |[second, third]| vec![first, second, third]).await?;
        surfaces.push(json!({ "network": "b", "w_1": first, "losses": rounded(&losses) }));
        let [near, far] = [0.0, reach].map(|second| [first, second]);
        minima.push(json!({ "w_1": first, "w_2_at_0": valleys(&network, near, reach).await?, "w_2_at_6": valleys(&network, far, reach).await? }));
    }
    let at_0 = network.surface(reach, |[second, third]| vec![0.0, second, third]).await?;
    let of_two = two.surface(reach, |at| at.to_vec()).await?;
    let difference = at_0.iter().zip(&of_two).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    Ok(json!({
        "network": network.summary(),
        "found": { "difference_from_figure_1_5_at_0": difference, "minima_along_w_3": minima },
        "reach": reach,
        "side": SIDE,
        "surfaces": surfaces,
    }))
}

/// Minima of the loss along w_3 up to `reach`.
async fn valleys(network: &Sine, [first, second]: [f64; 2], reach: f64) -> Result<usize> {
    let mut losses = Vec::new();
    for third in spaced(0.0, reach, 2001) {
        losses.push(network.loss(&[first, second, third]).await?);
    }
    Ok(losses.windows(3).filter(|three| three[1] < three[0] && three[1] <= three[2]).count())
}
