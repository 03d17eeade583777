// The ceiling: C = A B for 512 × 512 matrices, one 8 × 8 register tile a thread and nothing else. Written out, since
// a software adapter keeps an array that is indexed in a loop in memory.

const N = 512u;
const VECTORS = N / 4u;

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> c: array<vec4f>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let row = id.y * 8u;
    let column = id.x * 2u;
    var l0 = vec4f();
    var r0 = vec4f();
    var l1 = vec4f();
    var r1 = vec4f();
    var l2 = vec4f();
    var r2 = vec4f();
    var l3 = vec4f();
    var r3 = vec4f();
    var l4 = vec4f();
    var r4 = vec4f();
    var l5 = vec4f();
    var r5 = vec4f();
    var l6 = vec4f();
    var r6 = vec4f();
    var l7 = vec4f();
    var r7 = vec4f();
    for (var k = 0u; k < N; k++) {
        let left = b[k * VECTORS + column];
        let right = b[k * VECTORS + column + 1u];
        let x0 = a[(row + 0u) * N + k];
        let x1 = a[(row + 1u) * N + k];
        let x2 = a[(row + 2u) * N + k];
        let x3 = a[(row + 3u) * N + k];
        let x4 = a[(row + 4u) * N + k];
        let x5 = a[(row + 5u) * N + k];
        let x6 = a[(row + 6u) * N + k];
        let x7 = a[(row + 7u) * N + k];
        l0 += x0 * left;
        r0 += x0 * right;
        l1 += x1 * left;
        r1 += x1 * right;
        l2 += x2 * left;
        r2 += x2 * right;
        l3 += x3 * left;
        r3 += x3 * right;
        l4 += x4 * left;
        r4 += x4 * right;
        l5 += x5 * left;
        r5 += x5 * right;
        l6 += x6 * left;
        r6 += x6 * right;
        l7 += x7 * left;
        r7 += x7 * right;
    }
    c[(row + 0u) * VECTORS + column] = l0;
    c[(row + 0u) * VECTORS + column + 1u] = r0;
    c[(row + 1u) * VECTORS + column] = l1;
    c[(row + 1u) * VECTORS + column + 1u] = r1;
    c[(row + 2u) * VECTORS + column] = l2;
    c[(row + 2u) * VECTORS + column + 1u] = r2;
    c[(row + 3u) * VECTORS + column] = l3;
    c[(row + 3u) * VECTORS + column + 1u] = r3;
    c[(row + 4u) * VECTORS + column] = l4;
    c[(row + 4u) * VECTORS + column + 1u] = r4;
    c[(row + 5u) * VECTORS + column] = l5;
    c[(row + 5u) * VECTORS + column + 1u] = r5;
    c[(row + 6u) * VECTORS + column] = l6;
    c[(row + 6u) * VECTORS + column + 1u] = r6;
    c[(row + 7u) * VECTORS + column] = l7;
    c[(row + 7u) * VECTORS + column + 1u] = r7;
}
