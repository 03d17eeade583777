//! Ascents of large problems in double precision, which single precision climbs as far as it sees.

use super::SharpnessOptions;
use super::ascent::{Begin, Place, Sharpness, Start, search, spread};
use super::probe::Probe;
use super::region::Region;
use crate::control::Control;
use crate::engine::held;
use crate::error::Result;
use crate::memory::zeros;

const WHAT: &str = "a place in a region";

/// All ascents in single precision, and the last steps of the highest in double; `None` where single precision does not resolve the rise.
pub(super) async fn ascend_coarse(
    place: &Place<'_>,
    begin: Begin<'_>,
    options: &SharpnessOptions,
    control: &Control<'_>,
) -> Result<Option<Sharpness>> {
    let &Place { engine, ground, region, coordinates, top: (eigenvalue, _), .. } = place;
    // Through random subspaces the loss rises by next to nothing; and who names a tolerance may mean a fine one.
    if matches!(region, Region::Subspace { .. } | Region::SubspaceBox { .. }) || options.tolerance.is_some() {
        return Ok(None);
    }
    let (Some(coarse), Some(rough_ground)) = (engine.coarse().await?, ground.coarse.as_deref()) else {
        return Ok(None);
    };
    // To second order the loss rises by no more than this.
    let slope = coordinates.gap(&zeros(WHAT, coordinates.len())?, &coordinates.pull(&ground.gradient)?);
    let curvature = if region.operator().is_some() { 0.5 * eigenvalue.abs() } else { 0.0 };
    if !Probe::resolves(slope + curvature, rough_ground.resolution) {
        return Ok(None);
    }
    let rough_place = Place { engine: coarse, ground: rough_ground, ..*place };
    let Some(rough) = held(search(&rough_place, begin, options, control).await)? else { return Ok(None) };
    if !rough.resolved || !rough.converged {
        return Ok(None);
    }
    let found = search(place, Begin::At(&rough.delta), options, control).await?;
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
