// Sum over the 64 lanes of a workgroup in a fixed tree: the same bits every time.

var<workgroup> tree: array<f32, 64>;

fn tree_sum(lane: u32, value: f32) -> f32 {
    tree[lane] = value;
    workgroupBarrier();
    for (var half = 32u; half > 0u; half = half / 2u) {
        if (lane < half) {
            tree[lane] = tree[lane] + tree[lane + half];
        }
        workgroupBarrier();
    }
    return tree[0];
}
