// out[out_offset + (z · slabs + s) · out_batch + m] = Σ delta[z, q, m, n] over the blocks (position q, 64 samples n) of slab s:
// the gradient of a bias. delta: (direction, position, rows, samples). A thread a slab and row; z: direction.

struct Bias {
    rows: u32,
    out_width: u32,
    delta_row: u32,
    delta_origin: u32,
    lanes4: u32,
    position_blocks: u32,
    blocks: u32,
    slabs: u32,
    span: u32,
    delta_batch: u32,
    out_offset: u32,
    out_batch: u32,
}

@group(0) @binding(0) var<uniform> bias: Bias;
@group(0) @binding(1) var<storage, read> delta: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat_index(group, groups, lane, 64u);
    let slab = index / bias.rows;
    let row = index % bias.rows;
    if (slab >= bias.slabs) {
        return;
    }
    let base = group.z * bias.delta_batch;
    let first = slab * bias.span;
    let last = min(first + bias.span, bias.blocks);
    var total = vec4<f32>();
    for (var block = first; block < last; block += 1u) {
        let position = block / bias.position_blocks;
        let lane4 = block % bias.position_blocks * 16u;
        let place = bias.delta_origin + position / bias.out_width * bias.delta_row + position % bias.out_width;
        let at = base + (place * bias.rows + row) * bias.lanes4 + lane4;
        let count = min(16u, bias.lanes4 - lane4);
        var sum = vec4<f32>();
        for (var k = 0u; k < count; k += 1u) {
            sum += delta[at + k];
        }
        total += sum;
    }
    out[bias.out_offset + (group.z * bias.slabs + slab) * bias.out_batch + row] = (total.x + total.y) + (total.z + total.w);
}
