// What the dense/gemm_* kernels share: C[z] = epilogue(op(A1) op(B1) + op(A2) op(B2) + bias), C of shape (m, n).
//
// z runs over batch × slab. An operand is read at offset + line · (its row in A, its column in B) + depth · k + batch · b;
// transposes are strides, batch = 0 shares an operand, and offset places a weight in the parameter vector. A slab is a
// part of the sum over k: with more than one, C holds the parts and dense/sum_slabs adds them.

struct Operand {
    offset: u32,
    line: u32,
    depth: u32,
    batch: u32,
}

struct Gemm {
    a1: Operand,
    b1: Operand,
    a2: Operand,
    b2: Operand,
    m: u32,
    n: u32,
    k: u32,
    terms: u32,
    slabs: u32,
    span: u32,
    c_offset: u32,
    c_row: u32,
    c_batch: u32,
    has_bias: u32,
    bias_offset: u32,
    bias_batch: u32,
    epilogue: u32,
    slope: f32,
    unused_0: u32,
    unused_1: u32,
}

@group(0) @binding(0) var<uniform> gemm: Gemm;
@group(0) @binding(1) var<storage, read> a1: array<f32>;
// Holds the bias too: W and b are parts of θ, V and v of a direction.
@group(0) @binding(2) var<storage, read> b1: array<f32>;
@group(0) @binding(3) var<storage, read> a2: array<f32>;
@group(0) @binding(4) var<storage, read> b2: array<f32>;
// Activations (m, n) that the derivative is read off.
@group(0) @binding(5) var<storage, read> kept: array<f32>;
@group(0) @binding(6) var<storage, read_write> c: array<f32>;

// A sum over k is taken in blocks of this many terms, and the blocks' sums are added up: the rounding error then grows
// with the length of a block plus the number of blocks, not with their product.
const BLOCK = 64u;

// The tile of a thread: tiles are numbered along the rows of C, so narrow and flat outputs alike keep all lanes busy.
struct Place {
    row: u32,
    column: u32,
    z: u32,
    batch: u32,
    first: u32,
    last: u32,
    exists: bool,
}

fn place_of(group: vec3<u32>, groups: vec3<u32>, lane: u32, tile: u32) -> Place {
    let across = (gemm.n + tile - 1u) / tile;
    let down = (gemm.m + tile - 1u) / tile;
    let index = flat_index(group, groups, lane, 64u);
    let slab = group.z % gemm.slabs;
    let first = slab * gemm.span;
    return Place(
        index / across * tile,
        index % across * tile,
        group.z,
        group.z / gemm.slabs,
        first,
        min(first + gemm.span, gemm.k),
        index < across * down,
    );
}

// Where lines first..first+3 of an operand begin. Lines beyond the last are read as the last and never stored.
fn lines_of(operand: Operand, batch: u32, first: u32, count: u32) -> vec4<u32> {
    let lines = min(vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(count - 1u));
    return vec4<u32>(operand.offset + batch * operand.batch) + lines * operand.line;
}

fn store(place: Place, row: u32, column: u32, sum: f32) {
    if (row >= gemm.m || column >= gemm.n) {
        return;
    }
    var value = sum;
    if (gemm.has_bias == 1u) {
        value += b1[gemm.bias_offset + place.batch * gemm.bias_batch + column];
    }
    switch (gemm.epilogue) {
        case 1u: {
            value = select(gemm.slope * value, value, value > 0.0);
        }
        case 2u: {
            value = tanh_accurate(value);
        }
        case 3u: {
            value = select(gemm.slope * value, value, kept[row * gemm.n + column] > 0.0);
        }
        case 4u: {
            let a = kept[row * gemm.n + column];
            value = value * ((1.0 - a) * (1.0 + a));
        }
        default: {
        }
    }
    c[gemm.c_offset + place.z * gemm.c_batch + row * gemm.c_row + column] = value;
}

fn store4(place: Place, row: u32, column: u32, sums: vec4<f32>) {
    store(place, row, column, sums.x);
    store(place, row, column + 1u, sums.y);
    store(place, row, column + 2u, sums.z);
    store(place, row, column + 3u, sums.w);
}
