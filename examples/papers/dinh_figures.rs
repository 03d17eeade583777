//! Dinh et al. (2017), Figures 1 to 6. Nothing in them is random but where ascents begin and boxes are looked into, whose seed is the default.
//!
//! Figure 1 is of a logistic regression with one weight, two logits θ x and 0: its valley is steeper on one side. Figure 5 is of a loss with
//! four minima alike, given by its formula, in the coordinates of a map of its axis. The others are of f(x) = θ_2 relu(θ_1 x), whose squared
//! error depends on θ_1 θ_2 alone where θ_1 > 0.

use std::f64::consts::TAU;

use isoflat::dinh::{
    BoxOptions, PowerMap, RadialMap, SharpenOptions, constant_in_ball, reparametrized_hessian, sharpen, volume_flatness,
};
use isoflat::engine::Engine;
use isoflat::measure::sharpness::{Region, epsilon_sharpness};
use isoflat::measure::{MeasureOptions, SharpnessOptions};
use isoflat::network::{Conv2d, Layer};
use isoflat::symmetry::Transformation;
use isoflat::{Control, Loss, Network, Problem, Result, Targets};
use pollster::block_on;
use serde_json::{Value, json};

use super::Arguments;
use super::small::{self, engine, shortened, spaced, turn};

/// Inputs of the network of two weights, and what is wanted of them: near x itself, and no function that it has.
const INPUTS: [f64; 5] = [0.4, 0.7, 1.0, 1.2, 1.5];
const WANTED: [f64; 5] = [0.5, 0.65, 0.9, 1.35, 1.45];
/// Of the network of one weight, all of one class: it cannot have the last one right too.
const MARGINS: [f64; 6] = [0.5, 1.0, 1.5, 2.0, 3.0, -1.0];

pub fn run(arguments: &Arguments) -> Result<()> {
    let figures: [small::Figure; 6] = [
        ("figure-1", || block_on(figure_1())),
        ("figure-2", || block_on(figure_2())),
        ("figure-3", || block_on(figure_3())),
        ("figure-4", || block_on(figure_4())),
        ("figure-5", figure_5),
        ("figure-6", || block_on(figure_6())),
    ];
    small::run(arguments, "Dinh et al. 2017, Figures 1 to 6", &figures)
}

/// One weight, the only one of a convolution over two pixels, which are the logits.
fn one_weight() -> Result<Engine> {
    let window = Conv2d { bias: false, ..Conv2d::new(1, [1, 1]) };
    let network = Network::new(vec![1, 1, 2], vec![Layer::Conv2d(window), Layer::Flatten])?;
    let inputs: Vec<f64> = MARGINS.iter().flat_map(|x| [*x, 0.0]).collect();
    engine(&Problem::new(network, Loss::CrossEntropy, inputs, Targets::Classes(vec![0; MARGINS.len()]))?)
}

fn two_weights() -> Result<Engine> {
    let dense = || Layer::Dense { units: 1, bias: false };
    let network = Network::new(vec![1], vec![dense(), Layer::Relu, dense()])?;
    engine(&Problem::new(network, Loss::SquaredError, INPUTS.to_vec(), Targets::Vectors(WANTED.to_vec()))?)
}

async fn loss(engine: &Engine, parameters: &[f64]) -> Result<f64> {
    Ok(engine.evaluate(parameters).await?.loss)
}

/// The width at a height of ε over the minimum, which is the volume ε-flatness, and the height within a radius of it, which the ε-sharpness is
/// of: here half of that width, so that the ball ends beyond the nearer of the two ends.
async fn figure_1() -> Result<Value> {
    const HEIGHT: f64 = 0.1;
    let (engine, control) = (one_weight()?, Control::default());
    let falls = async |theta: f64| -> Result<bool> {
        engine.prepare(&[theta]).await?;
        Ok(engine.gradient().await?[0] < 0.0)
    };
    let minimum = turn(0.1, 4.0, falls).await?;
    let least = loss(&engine, &[minimum]).await?;
    let is_within = async |theta: f64| Ok(loss(&engine, &[theta]).await? < least + HEIGHT);
    // The connected part: the first place on each side that is as high.
    let end = async |step: f64| -> Result<f64> {
        let mut theta = minimum + step;
        while is_within(theta).await? {
            theta += step;
        }
        turn(theta - step, theta, is_within).await
    };
    let (low, high) = (end(-0.01).await?, end(0.01).await?);
    let radius = 0.5 * (high - low);
    let options = SharpnessOptions::default();
    let ball = epsilon_sharpness(&engine, &[minimum], Region::Ball, radius, &options, &control).await?;
    let ends = [loss(&engine, &[minimum - radius]).await?, loss(&engine, &[minimum + radius]).await?];
    let thetas = spaced(minimum - 2.0 * radius, minimum + 2.5 * radius, 121);
    let mut losses = Vec::new();
    for theta in &thetas {
        losses.push(loss(&engine, &[*theta]).await?);
    }
    Ok(json!({
        "network": engine.problem().network().summary(),
        "found": {
            "minimum": minimum,
            "loss": least,
            "height": HEIGHT,
            "low": low,
            "high": high,
            "width": high - low,
            "radius": radius,
            "rise": ball.rise,
            "rise_at_the_ends": ends.iter().fold(0.0, |most, end| f64::max(most, end - least)),
            "sharpness": ball.value,
            "quadratic": ball.quadratic,
        },
        "theta": shortened(&thetas),
        "losses": shortened(&losses),
    }))
}

/// The product θ_1 θ_2 of all minima.
async fn least_product(engine: &Engine) -> Result<f64> {
    let falls = async |product: f64| -> Result<bool> {
        engine.prepare(&[1.0, product]).await?;
        Ok(engine.gradient().await?[1] < 0.0)
    };
    turn(0.1, 4.0, falls).await
}

/// Points of one function each: T_α of (1, p) for shares p of the least product, with the largest difference of losses along it.
async fn curves(engine: &Engine, product: f64, [low, high]: [f64; 2]) -> Result<Vec<Value>> {
    let network = engine.problem().network();
    let mut found = Vec::new();
    for share in [0.4, 0.7, 1.0, 1.3, 1.6] {
        let point = [1.0, share * product];
        let own = loss(engine, &point).await?;
        let (mut points, mut largest): (Vec<Vec<f64>>, f64) = (Vec::new(), 0.0);
        for power in spaced(low.ln(), high.ln(), 41) {
            let moved = Transformation::AlphaScale { alpha: power.exp() }.apply(network, &point)?;
            largest = largest.max((loss(engine, &moved).await? - own).abs());
            points.push(shortened(&moved));
        }
        found.push(json!({ "share": share, "loss": own, "largest_difference": largest, "points": points }));
    }
    Ok(found)
}

/// Lines of one function each, and where T_α takes a minimum along its own.
async fn figure_2() -> Result<Value> {
    const ALPHA: f64 = 2.0;
    let engine = two_weights()?;
    let product = least_product(&engine).await?;
    let (point, map) = ([1.0, product], Transformation::AlphaScale { alpha: ALPHA });
    let moved = map.apply(engine.problem().network(), &point)?;
    let mut outputs = Vec::new();
    for parameters in [&point[..], &moved] {
        engine.prepare(parameters).await?;
        outputs.push(engine.outputs().await?);
    }
    let differences = outputs[0].iter().zip(&outputs[1]).map(|(before, after)| (before - after).abs());
    Ok(json!({
        "network": engine.problem().network().summary(),
        "found": {
            "alpha": ALPHA,
            "point": point,
            "moved": moved,
            "outputs": differences.fold(0.0, f64::max),
        },
        "curves": curves(&engine, product, [0.2, 10.0]).await?,
    }))
}

/// Boxes of one volume, each the image of the one before, that have no point in common.
async fn figure_3() -> Result<Value> {
    let (engine, control) = (two_weights()?, Control::default());
    let product = least_product(&engine).await?;
    let point = [1.0, product];
    let options = BoxOptions { epsilon: 0.05, boxes: 3, ..BoxOptions::default() };
    let found = volume_flatness(&engine, &point, &options, &control).await?;
    let mut boxes = Vec::new();
    for flat in &found.boxes {
        let map = Transformation::AlphaScale { alpha: found.alpha.powi(flat.power as i32) };
        let corner = |away: f64| map.apply(engine.problem().network(), &[point[0] + away, point[1] + away]);
        boxes.push(json!({
            "power": flat.power,
            "low": corner(-found.radius)?,
            "high": corner(found.radius)?,
            "volume": flat.log_volume.exp(),
            "largest_difference": flat.largest_difference,
        }));
    }
    Ok(json!({
        "network": engine.problem().network().summary(),
        "found": {
            "point": point,
            "loss": found.loss,
            "epsilon": found.epsilon,
            "radius": found.radius,
            "largest_rise": found.largest_rise,
            "alpha": found.alpha,
            "disjoint": found.disjoint,
            "boxes": boxes,
        },
        "curves": curves(&engine, product, [0.2, 10.0]).await?,
    }))
}

/// The same function where a ball of the same radius reaches the line of constant functions; and the Hessian's largest eigenvalue there and
/// where Theorem 4 wants it to be 100.
async fn figure_4() -> Result<Value> {
    const TARGET: f64 = 100.0;
    let (engine, control) = (two_weights()?, Control::default());
    let product = least_product(&engine).await?;
    let point = [1.2, product / 1.2];
    let ball = constant_in_ball(&engine, &point, Region::Ball, 0.3, &SharpnessOptions::default(), &control).await?;
    let options = SharpenOptions { target: TARGET, layer: Some(0), powers_of_two: false };
    let sharp = sharpen(&engine, &point, &options, &MeasureOptions::default(), &control).await?;
    let at = |point: &[f64], delta: &[f64]| point.iter().zip(delta).map(|(p, d)| p + d).collect::<Vec<_>>();
    Ok(json!({
        "network": engine.problem().network().summary(),
        "found": {
            "point": point,
            "moved": ball.parameters,
            "epsilon": ball.epsilon,
            "alpha": ball.alpha,
            "loss": ball.loss,
            "constant_loss": ball.constant_loss,
            "guaranteed": ball.guaranteed,
            "before": ball.before.value,
            "after": ball.measured.value,
            "highest_before": at(&point, &ball.before.delta),
            "highest_after": at(&ball.parameters, &ball.measured.delta),
            "outputs": ball.outputs.largest,
            "theorem_4": {
                "target": sharp.target,
                "alpha": sharp.alpha,
                "before": sharp.before.norm,
                "predicted": sharp.predicted.norm,
                "measured": sharp.measured.norm,
                "reached": sharp.reached,
                "outputs": sharp.outputs.largest,
            },
        },
        "curves": curves(&engine, product, [0.1, 8.0]).await?,
    }))
}

/// One loss with four minima alike, and in η = (|θ − θ̂|² + b)^a (θ − θ̂): sharper at θ̂ with an a above 0, flatter with one below.
fn figure_5() -> Result<Value> {
    const CENTER: f64 = 1.5;
    const B: f64 = 0.05;
    const EXPONENTS: [f64; 2] = [0.3, -0.25];
    let loss = |theta: f64| {
        let (sine, cosine) = (TAU * theta).sin_cos();
        [0.5 * (1.0 + cosine), -0.5 * TAU * sine, -0.5 * TAU * TAU * cosine]
    };
    let thetas = spaced(0.0, 4.0, 201);
    let minima = [0.5, 1.5, 2.5, 3.5];
    let mut maps = Vec::new();
    for a in EXPONENTS {
        let map = PowerMap::new(CENTER, a, B)?;
        let curvatures: Vec<_> = map.curve(&minima, loss).iter().map(|point| point.curvature).collect();
        let eta: Vec<_> = map.curve(&thetas, loss).iter().map(|point| point.eta).collect();
        maps.push(json!({ "a": a, "b": B, "curvatures": curvatures, "eta": shortened(&eta) }));
    }
    let losses: Vec<_> = thetas.iter().map(|theta| loss(*theta)[0]).collect();
    Ok(json!({
        "found": {
            "center": CENTER,
            "minima": minima,
            "curvature": loss(CENTER)[2],
            "curvatures_in_eta": maps.iter().map(|map| &map["curvatures"]).collect::<Vec<_>>(),
        },
        "theta": shortened(&thetas),
        "losses": shortened(&losses),
        "maps": maps,
    }))
}

/// A grid and where the radial map takes it, and both curvatures of the minimum in its middle before and after.
async fn figure_6() -> Result<Value> {
    const DELTA: f64 = 1.0;
    const INNER: f64 = 0.35;
    const RHO: f64 = 0.7;
    const HALF: f64 = 1.25;
    let (engine, control) = (two_weights()?, Control::default());
    let center = vec![1.2, least_product(&engine).await? / 1.2];
    let map = RadialMap::new(center.clone(), DELTA, INNER, RHO)?;
    let same = RadialMap::new(center.clone(), DELTA, INNER, INNER)?;
    let before = reparametrized_hessian(&engine, &same, &center, &control).await?;
    let after = reparametrized_hessian(&engine, &map, &center, &control).await?;
    let (mut lines, mut moved_outside) = (Vec::new(), 0.0_f64);
    for axis in 0..2 {
        for at in spaced(-HALF, HALF, 11) {
            let mut line = Vec::new();
            for along in spaced(-HALF, HALF, 51) {
                let away = if axis == 0 { [at, along] } else { [along, at] };
                let theta = [center[0] + away[0], center[1] + away[1]];
                let eta = map.eta(&theta)?;
                if away[0].hypot(away[1]) > DELTA {
                    moved_outside = moved_outside.max((eta[0] - theta[0]).hypot(eta[1] - theta[1]));
                }
                line.push(shortened(&eta));
            }
            lines.push(json!({ "axis": axis, "at": at, "eta": line }));
        }
    }
    Ok(json!({
        "network": engine.problem().network().summary(),
        "found": {
            "center": center,
            "delta": DELTA,
            "inner": INNER,
            "rho": RHO,
            "eigenvalues": before.full,
            "eigenvalues_in_eta": after.full,
            "expected_ratio": (INNER / RHO).powi(2),
            "moved_outside": moved_outside,
        },
        "half": HALF,
        "lines": lines,
    }))
}
