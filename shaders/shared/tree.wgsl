// Sums over the 64 lanes of a workgroup in a fixed tree: the same bits every time. A sum is a pair (value, what rounding
// left out), so that thousands of terms lose no more than the last rounding: norms and Rayleigh quotients need that.

var<workgroup> tree: array<vec2<f32>, 64>;

// a + b and its rounding error (Knuth's TwoSum). `zero` is 0, which compilers do not know: they would simplify (a + b) − a
// to b, as WGSL lets them treat floating-point numbers as reals.
fn two_sum(a: f32, b: f32, zero: u32) -> vec2<f32> {
    let sum = bitcast<f32>(bitcast<u32>(a + b) | zero);
    let b_part = bitcast<f32>(bitcast<u32>(sum - a) | zero);
    return vec2<f32>(sum, (a - (sum - b_part)) + (b - b_part));
}

fn add_to(sum: vec2<f32>, term: f32, zero: u32) -> vec2<f32> {
    let next = two_sum(sum.x, term, zero);
    return vec2<f32>(next.x, sum.y + next.y);
}

fn add_pairs(a: vec2<f32>, b: vec2<f32>, zero: u32) -> vec2<f32> {
    let next = two_sum(a.x, b.x, zero);
    return vec2<f32>(next.x, (a.y + b.y) + next.y);
}

fn tree_sum(lane: u32, value: vec2<f32>, zero: u32) -> vec2<f32> {
    tree[lane] = value;
    workgroupBarrier();
    for (var half = 32u; half > 0u; half = half / 2u) {
        if (lane < half) {
            tree[lane] = add_pairs(tree[lane], tree[lane + half], zero);
        }
        workgroupBarrier();
    }
    return tree[0];
}
