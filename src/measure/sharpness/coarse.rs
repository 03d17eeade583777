//! Ascents of large problems in double precision, which single precision climbs as far as it sees.

use super::SharpnessOptions;
use super::ascent::{Hints, Place, Sharpness, Start, search, spread};
use super::probe::Probe;
use super::region::Region;
use super::starts::{is_enough, top_eigenvector};
use crate::control::Control;
use crate::engine::held;
use crate::error::Result;
use crate::linalg::Eigenpair;
use crate::memory::zeros;

const WHAT: &str = "a place in a region";

/// All ascents in single precision, and the last steps of the highest in double; `None` where single precision does not resolve the rise.
pub(super) async fn ascend_coarse(
    place: &Place<'_>,
    options: &SharpnessOptions,
    hints: Hints<'_>,
    control: &Control<'_>,
) -> Result<Option<Sharpness>> {
    let &Place { engine, ground, region, epsilon, .. } = place;
    // Through random subspaces the loss rises by next to nothing; and who names a tolerance may mean a fine one.
    if matches!(region, Region::Subspace { .. } | Region::SubspaceBox { .. }) || options.tolerance.is_some() {
        return Ok(None);
    }
    let (Some(coarse), Some(rough_ground)) = (engine.coarse().await?, ground.coarse.as_deref()) else {
        return Ok(None);
    };
    let coordinates = place.coordinates(options, control).await?;
    let own;
    let top = match hints.top {
        Some(pair) if is_enough(pair, engine) => Some(pair),
        _ if region.operator().is_some() => {
            let (value, vector) = top_eigenvector(engine, &coordinates, true, options.seed, control).await?;
            let value = value / (epsilon * epsilon);
            own = Eigenpair { value, residual: 0.0, converged: true, vector: Some(vector) };
            Some(&own)
        }
        _ => None,
    };
    // To second order the loss rises by no more than this.
    let slope = coordinates.gap(&zeros(WHAT, coordinates.len())?, &coordinates.pull(&ground.gradient)?);
    let curvature = top.map_or(0.0, |pair| 0.5 * epsilon * epsilon * pair.value.abs());
    if !Probe::resolves(slope + curvature, rough_ground.resolution) {
        return Ok(None);
    }
    let hints = Hints { top, ..hints };
    let rough_place = Place { engine: coarse, ground: rough_ground, ..*place };
    let Some(rough) = held(search(&rough_place, options, hints, control).await)? else { return Ok(None) };
    if !rough.resolved || !rough.converged {
        return Ok(None);
    }
    let hints = Hints { found: Some(&rough), ..hints };
    let found = search(place, options, hints, control).await?;
    if !found.resolved || found.rise < rough.rise - rough.resolution {
        return Ok(None);
    }
    // The highest one went on; the others are told of as they ended.
    let mut starts = rough.starts;
    let highest = (0..starts.len()).max_by(|&a, &b| starts[a].value.total_cmp(&starts[b].value));
    // They were lower, if by less than single precision tells.
    starts.iter_mut().for_each(|start| start.value = start.value.min(found.value));
    if let (Some(i), Some(last)) = (highest, found.starts.first()) {
        starts[i] = Start { iterations: starts[i].iterations + last.iterations, kind: starts[i].kind, ..*last };
    }
    Ok(Some(Sharpness {
        iterations: starts.iter().map(|start| start.iterations).sum(),
        spread: spread(&starts),
        starts,
        ..found
    }))
}
