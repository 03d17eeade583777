// Powers of two that take numbers to about 1, so that their squares neither overflow nor vanish.

var<workgroup> largest_of: array<u32, 64>;

// The biased exponent of x: 0 for 0, 255 for what is not finite.
fn exponent_of(x: f32) -> u32 {
    return (bitcast<u32>(x) >> 23u) & 0xffu;
}

// k such that 2^k takes a number of this biased exponent to about 1. Numbers that are not finite stay what they are.
fn scaling_exponent(exponent: u32) -> i32 {
    return select(clamp(127 - i32(exponent), -126, 126), 0, exponent == 255u);
}

// 2^k for k in -126..=127, from its bits.
fn exact_power_of_two(k: i32) -> f32 {
    return bitcast<f32>(u32(k + 127) << 23u);
}

// The largest over the lanes of a workgroup.
fn tree_max(lane: u32, value: u32) -> u32 {
    largest_of[lane] = value;
    workgroupBarrier();
    for (var half = 32u; half > 0u; half = half / 2u) {
        if (lane < half) {
            largest_of[lane] = max(largest_of[lane], largest_of[lane + half]);
        }
        workgroupBarrier();
    }
    return largest_of[0];
}
