// exp, log(1 + x) and tanh to a few units in the last place. WGSL's own may be off by (3 + 2|x|) ulp, 2^-21 and 1e-5,
// and differ from one device to the next. Coefficients: Cephes expf and tanhf (Moshier).

// 2^n for n in -126..=127, from its bits.
fn power_of_two(n: i32) -> f32 {
    return bitcast<f32>(u32(clamp(n, -126, 127) + 127) << 23u);
}

// e^x for x ≤ 88; 0 below -87.
fn exp_accurate(x: f32) -> f32 {
    let n = floor(x * 1.44269504 + 0.5);
    // ln 2 in two parts, so that x - n ln 2 keeps its digits.
    let r = (x - n * 0.693359375) + n * 2.12194440e-4;
    var p = 1.9875691500e-4;
    p = p * r + 1.3981999507e-3;
    p = p * r + 8.3334519073e-3;
    p = p * r + 4.1665795894e-2;
    p = p * r + 1.6666665459e-1;
    p = p * r + 5.0000001201e-1;
    let value = (p * r * r + r + 1.0) * power_of_two(i32(clamp(n, -126.0, 127.0)));
    return select(value, 0.0, x < -87.0);
}

// log(1 + x) for x ≥ 0, accurate for small x too: a confident network's loss is of that kind.
fn log_one_plus(x: f32) -> f32 {
    // 2 atanh s = log((1 + s)/(1 - s)) = log(1 + x); s ≤ 1/3 here.
    let s = x / (2.0 + x);
    let q = s * s;
    var p = 1.0 / 15.0;
    p = p * q + 1.0 / 13.0;
    p = p * q + 1.0 / 11.0;
    p = p * q + 1.0 / 9.0;
    p = p * q + 1.0 / 7.0;
    p = p * q + 1.0 / 5.0;
    p = p * q + 1.0 / 3.0;
    return select(log(1.0 + x), 2.0 * (s + s * q * p), x <= 1.0);
}

fn tanh_accurate(x: f32) -> f32 {
    let q = x * x;
    var p = -5.70498872745e-3;
    p = p * q + 2.06390887954e-2;
    p = p * q - 5.37397155531e-2;
    p = p * q + 1.33314422036e-1;
    p = p * q - 3.33332819422e-1;
    let small = p * q * x + x;
    // From 9 on tanh is 1 in single precision.
    let large = 1.0 - 2.0 / (exp_accurate(2.0 * min(abs(x), 9.5)) + 1.0);
    return select(sign(x) * large, small, abs(x) < 0.625);
}
