// What the affine/weights_* kernels share: the gradient of a weight,
//
//   out[z, W's index of (m, d)] = Σ_q Σ_n delta1[q, m, n] source1[(q's window, d), n] + the same of delta2 and source2,
//
// q over output positions, n over samples; d = (tap, input channel of those that row m sees). Sources have their padding around
// them, so every window lies inside: the first begins at position source_corner, its taps lie tap_row and tap_column positions
// apart. z: direction. Threads run over slab × tile: a slab is a part of the sum, and with more than one
// affine/sum_slabs adds them.

struct Weights {
    rows: u32,
    columns: u32,
    channels: u32,
    window_width: u32,
    taps: u32,
    source_row: u32,
    stride_y: u32,
    stride_x: u32,
    out_width: u32,
    delta_row: u32,
    delta_origin: u32,
    lanes4: u32,
    position_blocks: u32,
    blocks: u32,
    slabs: u32,
    span: u32,
    terms: u32,
    delta1_batch: u32,
    source1_batch: u32,
    delta2_batch: u32,
    source2_batch: u32,
    out_offset: u32,
    out_batch: u32,
    source_corner: u32,
    tap_row: u32,
    tap_column: u32,
    seen: u32,
    group_rows: u32,
}

@group(0) @binding(0) var<uniform> weights: Weights;
@group(0) @binding(1) var<storage, read> delta1: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> source1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> delta2: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> source2: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;

// Samples of one position that are summed before their sum is added to the others' (shared/gather.wgsl says why), by four.
const BLOCK4 = 16u;

struct Place {
    row: u32,
    column: u32,
    // z · slabs + slab.
    part: u32,
    first: u32,
    last: u32,
    exists: bool,
}

fn place_of(index: u32, z: u32, tile: u32) -> Place {
    let across = (weights.columns + 15u) / 16u;
    let tiles = across * ((weights.rows + tile - 1u) / tile);
    let slab = index / tiles;
    let place = index % tiles;
    let first = slab * weights.span;
    return Place(
        place / across * tile,
        place % across * 16u,
        z * weights.slabs + slab,
        first,
        min(first + weights.span, weights.blocks),
        slab < weights.slabs,
    );
}

// Where four rows of delta begin within a position. Rows beyond the last are read as the last and never stored.
fn rows_from(first: u32) -> vec4<u32> {
    return places_of_rows(vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u));
}

fn places_of_rows(rows: vec4<u32>) -> vec4<u32> {
    return min(rows, vec4<u32>(weights.rows - 1u)) * weights.lanes4;
}

// Where four columns begin within a window of the source.
fn columns_from(first: u32) -> vec4<u32> {
    return places_of_columns(vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u));
}

fn places_of_columns(columns: vec4<u32>) -> vec4<u32> {
    let d = min(columns, vec4<u32>(weights.columns - 1u));
    let tap = d / weights.channels;
    let position = tap / weights.window_width * weights.tap_row + tap % weights.window_width * weights.tap_column;
    return (position * weights.channels + d % weights.channels) * weights.lanes4;
}

// Where a block begins in delta and in the source, and how many vectors of four samples it has.
struct Block {
    delta: u32,
    source: u32,
    count: u32,
}

fn block_at(block: u32) -> Block {
    let position = block / weights.position_blocks;
    let lane4 = block % weights.position_blocks * BLOCK4;
    let y = position / weights.out_width;
    let x = position % weights.out_width;
    let delta = weights.delta_origin + y * weights.delta_row + x;
    let source = weights.source_corner + y * weights.stride_y * weights.source_row + x * weights.stride_x;
    return Block(
        delta * weights.rows * weights.lanes4 + lane4,
        source * weights.channels * weights.lanes4 + lane4,
        min(BLOCK4, weights.lanes4 - lane4),
    );
}

fn store(part: u32, row: u32, column: u32, sum: f32) {
    if (row < weights.rows && column < weights.columns) {
        let index = (row * weights.channels + column % weights.channels) * weights.taps + column / weights.channels;
        out[weights.out_offset + part * weights.out_batch + index] = sum;
    }
}

fn store4(part: u32, row: u32, column: u32, sums: vec4<f32>) {
    store(part, row, column, sums.x);
    store(part, row + 1u, column, sums.y);
    store(part, row + 2u, column, sums.z);
    store(part, row + 3u, column, sums.w);
}
