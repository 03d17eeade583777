// The ceiling: C = A B for 512 × 512 matrices, one 8 × 8 register tile a thread and nothing else.

const N = 512u;
const VECTORS = N / 4u;

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> c: array<vec4f>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let row = id.y * 8u;
    let column = id.x * 2u;
    var sums: array<vec4f, 16>;
    for (var k = 0u; k < N; k++) {
        let b0 = b[k * VECTORS + column];
        let b1 = b[k * VECTORS + column + 1u];
        for (var r = 0u; r < 8u; r++) {
            let x = a[(row + r) * N + k];
            sums[2u * r] += x * b0;
            sums[2u * r + 1u] += x * b1;
        }
    }
    for (var r = 0u; r < 8u; r++) {
        c[(row + r) * VECTORS + column] = sums[2u * r];
        c[(row + r) * VECTORS + column + 1u] = sums[2u * r + 1u];
    }
}
