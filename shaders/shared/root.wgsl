// Square roots of sums that are pairs (value, what rounding left out).

// The upper 12 bits of x. The rest has 12 too, so that products of such parts are exact.
fn upper(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u);
}

// a b − product, for the rounded product (Dekker).
fn product_error(a: f32, b: f32, product: f32) -> f32 {
    let p = upper(a);
    let q = upper(b);
    return (((p * q - product) + p * (b - q)) + (a - p) * q) + (a - p) * (b - q);
}

// What is to be added to `root`, near √square, for the exact root: (square − root²) / (2 root).
fn root_correction(square: vec2<f32>, root: f32) -> f32 {
    let product = root * root;
    let rest = ((square.x - product) - product_error(root, root, product)) + square.y;
    return rest / (2.0 * root);
}

fn root_of(square: vec2<f32>) -> f32 {
    let root = sqrt(square.x);
    if (root == 0.0) {
        return 0.0;
    }
    return root + root_correction(square, root);
}

// (v, e) with v (1 + e) = 1/√square far beyond single precision; square > 0.
fn inverse_root(square: vec2<f32>) -> vec2<f32> {
    let root = sqrt(square.x);
    let inverse = 1.0 / root;
    let product = root * inverse;
    let rest = (1.0 - product) - product_error(root, inverse, product);
    return vec2<f32>(inverse, rest - inverse * root_correction(square, root));
}
