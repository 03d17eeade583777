// A parameter of a quotient chart: θ_e = κ_e v_n / v_a; NONE where there is no n or no a.

const NONE: u32 = 0xffffffffu;

struct Entry {
    scale: f32,
    numerator: u32,
    denominator: u32,
}
