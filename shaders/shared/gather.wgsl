// What the affine/gather_* kernels share: at every position (y, x) of an output image and for every sample
//
//   out[z, (y, x), r] = epilogue( Σ_t Σ_k panel1[t, k, r] source1[t, k] + the same of panel2 and source2 + bias[r] ),
//
// t over the rows of taps whose source lies inside the image, k over a run: the channels of neighbouring positions, which lie
// one after the other in a source (position, channel, sample) and in a panel (tap, channel, row; rows padded to 8). Forward,
// r is an output channel and a run goes over input channels; backward the other way round, with the taps of a panel mirrored
// and sorted by residue (affine/pack), so that those that meet lie together. windows[y_windows + y] and
// windows[x_windows + x] are (first source row or column, first panel row or column, count, from one source row or column to the next):
// columns that are not neighbours are runs by themselves. z: direction or point.

struct Gather {
    rows: u32,
    rows4: u32,
    channels: u32,
    source_row: u32,
    panel_row: u32,
    lanes4: u32,
    out_width: u32,
    positions: u32,
    out_row: u32,
    out_origin: u32,
    y_windows: u32,
    x_windows: u32,
    terms: u32,
    has_bias: u32,
    bias_at: u32,
    epilogue: u32,
    panel1_offset: u32,
    panel2_offset: u32,
    panel1_batch: u32,
    panel2_batch: u32,
    source1_batch: u32,
    source2_batch: u32,
    out_batch: u32,
    slope: f32,
}

@group(0) @binding(0) var<uniform> gather: Gather;
@group(0) @binding(1) var<storage, read> source1: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> panel1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> source2: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> panel2: array<vec4<f32>>;
// Activations in the output's places that the derivative is read off.
@group(0) @binding(5) var<storage, read> kept: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> windows: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read_write> out: array<vec4<f32>>;

// A sum is taken in blocks of this many terms, and the blocks' sums are added up: the rounding error then grows with the
// length of a block plus the number of blocks, not with their product.
const BLOCK = 128u;

// The tile of a thread: some rows from `row` on, 16 samples from 4 `lane4` on, at one position of the output.
struct Place {
    row: u32,
    lane4: u32,
    // (first source row, first panel row, count, step) and the same for columns.
    y: vec4<u32>,
    x: vec4<u32>,
    position: u32,
    exists: bool,
}

fn place_of(index: u32, tile: u32) -> Place {
    let across = gather.lanes4 / 4u;
    let down = (gather.rows + tile - 1u) / tile;
    return place_at(index / across / down, index / across % down * tile, index % across * 4u);
}

fn place_at(position: u32, row: u32, lane4: u32) -> Place {
    if (position >= gather.positions) {
        return Place();
    }
    let y = position / gather.out_width;
    let x = position % gather.out_width;
    return Place(
        row,
        lane4,
        windows[gather.y_windows + y],
        windows[gather.x_windows + x],
        gather.out_origin + y * gather.out_row + x,
        true,
    );
}

// A row of taps is in so many runs.
fn runs_of(place: Place) -> u32 {
    return select(place.x.z, 1u, place.x.w == 1u);
}

// Terms of a run.
fn run_of(place: Place) -> u32 {
    return select(1u, place.x.z, place.x.w == 1u) * gather.channels;
}

fn outer(a: vec4<f32>, b: vec4<f32>) -> mat4x4<f32> {
    return mat4x4<f32>(a.x * b, a.y * b, a.z * b, a.w * b);
}

// The bias of four rows.
fn bias_of(batch: u32, row: u32) -> vec4<f32> {
    if (gather.has_bias == 0u) {
        return vec4<f32>();
    }
    return panel1[gather.panel1_offset + batch * gather.panel1_batch + gather.bias_at + row / 4u];
}

// 16 samples of a row. What is piecewise linear is done at once, without a branch: slope · x where x, or the activation it is read off, is
// not positive. Without an activation the slope is 1.
fn store(place: Place, batch: u32, row: u32, bias: f32, a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, d: vec4<f32>) {
    if (row >= gather.rows) {
        return;
    }
    let at = (place.position * gather.rows + row) * gather.lanes4 + place.lane4;
    let values = mat4x4<f32>(a + bias, b + bias, c + bias, d + bias);
    var signs = values;
    if (gather.epilogue == 2u) {
        signs = mat4x4<f32>(kept[at], kept[at + 1u], kept[at + 2u], kept[at + 3u]);
    }
    let to = batch * gather.out_batch + at;
    let zero = vec4<f32>();
    out[to] = select(gather.slope * values[0], values[0], signs[0] > zero);
    out[to + 1u] = select(gather.slope * values[1], values[1], signs[1] > zero);
    out[to + 2u] = select(gather.slope * values[2], values[2], signs[2] > zero);
    out[to + 3u] = select(gather.slope * values[3], values[3], signs[3] > zero);
}

// A kept derivative times what was just stored: a loop, so that it is compiled once and not for every row.
fn multiply_kept(place: Place, batch: u32, tile: u32) {
    if (gather.epilogue != 3u) {
        return;
    }
    let rows = min(tile, gather.rows - place.row);
    for (var i = 0u; i < 4u * rows; i += 1u) {
        let at = (place.position * gather.rows + place.row + i / 4u) * gather.lanes4 + place.lane4 + i % 4u;
        let to = batch * gather.out_batch + at;
        out[to] = out[to] * kept[at];
    }
}
