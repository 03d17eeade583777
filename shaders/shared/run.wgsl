// A run of consecutive parameters of a normalised chart: a group, or (group NONE) parameters that are their own coordinates.

const NONE: u32 = 0xffffffffu;

struct Run {
    first: u32,
    count: u32,
    group: u32,
}
