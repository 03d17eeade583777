// What happens to a step's result before it is stored: 0 nothing; 1 slope · x for x ≤ 0; 2 the derivative of that times it, read
// off the activation's own value `kept`; 3 times `kept`, a derivative itself.

fn finish(value: vec4<f32>, kept: vec4<f32>, epilogue: u32, slope: f32) -> vec4<f32> {
    switch (epilogue) {
        case 1u: {
            return select(slope * value, value, value > vec4<f32>(0.0));
        }
        case 2u: {
            return select(slope * value, value, kept > vec4<f32>(0.0));
        }
        case 3u: {
            return value * kept;
        }
        default: {
            return value;
        }
    }
}
