// What happens to a step's result before it is stored: 0 nothing; 1 slope · x for x ≤ 0; 2 tanh; 3 and 4 the derivatives of
// 1 and 2 times it, read off the activation's own value `kept`.

fn finish(value: vec4<f32>, kept: vec4<f32>, epilogue: u32, slope: f32) -> vec4<f32> {
    switch (epilogue) {
        case 1u: {
            return select(slope * value, value, value > vec4<f32>(0.0));
        }
        case 2u: {
            return vec4<f32>(
                tanh_accurate(value.x), tanh_accurate(value.y), tanh_accurate(value.z), tanh_accurate(value.w),
            );
        }
        case 3u: {
            return select(slope * value, value, kept > vec4<f32>(0.0));
        }
        case 4u: {
            return value * ((1.0 - kept) * (1.0 + kept));
        }
        default: {
            return value;
        }
    }
}
