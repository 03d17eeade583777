//! Which adapter, where there are several.

use wgpu::{AdapterInfo, Backend, DeviceType};

use crate::error::{Result, bail};

/// Which of the adapters to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AdapterChoice {
    /// The one that the system takes for the fastest.
    #[default]
    Best,
    /// Of the best kind that there is the one of this number, from 0, and behind the last one the first again: what the ranks of a machine
    /// take, each by its own number there.
    Turn(usize),
    /// Of the best kind that there is the one of this number, from 0.
    Number(usize),
}

/// What tells adapters apart.
pub(super) struct Seen {
    name: String,
    kind: DeviceType,
    api: Backend,
    /// The place in the machine; empty where the API does not tell it.
    place: String,
}

impl From<AdapterInfo> for Seen {
    fn from(info: AdapterInfo) -> Self {
        Self { name: info.name, kind: info.device_type, api: info.backend, place: info.device_pci_bus_id }
    }
}

/// The best kind first.
const KINDS: [DeviceType; 5] =
    [DeviceType::DiscreteGpu, DeviceType::IntegratedGpu, DeviceType::VirtualGpu, DeviceType::Other, DeviceType::Cpu];

/// Those of the best kind, by their places in the list, each once: an adapter may be there by several APIs, of which the first one counts,
/// and several times by one.
pub(super) fn of_best_kind(all: &[Seen]) -> Vec<usize> {
    let Some(kind) = KINDS.into_iter().find(|kind| all.iter().any(|seen| seen.kind == *kind)) else {
        return Vec::new();
    };
    let mut found: Vec<usize> = Vec::new();
    for (i, seen) in all.iter().enumerate().filter(|(_, seen)| seen.kind == kind) {
        let is_known = |&other: &usize| !seen.place.is_empty() && all[other].place == seen.place;
        let is_of_api = found.first().is_none_or(|&first| all[first].api == seen.api);
        if is_of_api && !found.iter().any(is_known) {
            found.push(i);
        }
    }
    found
}

/// The place in the list of the one that is to be taken; none for [`AdapterChoice::Best`], which is the system's to say, and where there is
/// none at all.
///
/// # Errors
/// `InvalidOption` where there is none of this number.
pub(super) fn chosen(all: &[Seen], choice: AdapterChoice) -> Result<Option<usize>> {
    let best = of_best_kind(all);
    match choice {
        AdapterChoice::Turn(number) if !best.is_empty() => Ok(Some(best[number % best.len()])),
        AdapterChoice::Number(number) if number < best.len() => Ok(Some(best[number])),
        AdapterChoice::Number(number) if !best.is_empty() => {
            let names: Vec<String> = best.iter().enumerate().map(|(i, &at)| format!("{i}: {}", all[at].name)).collect();
            bail!(InvalidOption, "there is no adapter {number}; there are: {}", names.join(", "))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(name: &str, kind: DeviceType, api: Backend, place: &str) -> Seen {
        Seen { name: name.into(), kind, api, place: place.into() }
    }

    fn turns(all: &[Seen]) -> Vec<Option<usize>> {
        (0..5).map(|turn| chosen(all, AdapterChoice::Turn(turn)).expect("a choice")).collect()
    }

    #[test]
    fn ranks_take_turns_among_adapters_of_the_best_kind() {
        use DeviceType::{Cpu, DiscreteGpu, IntegratedGpu};
        let all = [
            seen("a program", Cpu, Backend::Vulkan, ""),
            seen("first", DiscreteGpu, Backend::Vulkan, "0000:01:00.0"),
            seen("small", IntegratedGpu, Backend::Vulkan, "0000:00:02.0"),
            seen("second", DiscreteGpu, Backend::Vulkan, "0000:41:00.0"),
        ];
        assert_eq!(turns(&all), [1, 3, 1, 3, 1].map(Some));
        assert_eq!(turns(&all[..1]), [0; 5].map(Some), "one that all share");
        assert_eq!(turns(&[]), [None; 5]);
        assert_eq!(chosen(&all, AdapterChoice::Best), Ok(None));
        assert_eq!(chosen(&all, AdapterChoice::Number(1)), Ok(Some(3)));
        let error = chosen(&all, AdapterChoice::Number(2)).expect_err("there are two");
        assert_eq!(error.message, "there is no adapter 2; there are: 0: first, 1: second");
    }

    #[test]
    fn an_adapter_counts_once_by_whatever_ways_it_is_there() {
        let kind = DeviceType::DiscreteGpu;
        let all = [
            seen("card", kind, Backend::Vulkan, "0000:01:00.0"),
            seen("card", kind, Backend::Vulkan, "0000:01:00.0"),
            seen("card", kind, Backend::Dx12, ""),
            // Where nothing tells them apart they are two.
            seen("card", kind, Backend::Vulkan, ""),
            seen("card", kind, Backend::Vulkan, ""),
        ];
        assert_eq!(of_best_kind(&all), [0, 3, 4]);
    }
}
