// What the pool/* kernels share: the shapes of an image before and after, and the thread's place in one of them. Images are
// (position, channel, sample) with the padding that their reader wants around them; `origin` is the first position inside.
// z: direction or point.

struct Pool {
    channels: u32,
    height: u32,
    width: u32,
    lanes4: u32,
    in_row: u32,
    in_origin: u32,
    out_height: u32,
    out_width: u32,
    out_row: u32,
    out_origin: u32,
    window_height: u32,
    window_width: u32,
    stride_y: u32,
    stride_x: u32,
    in_batch: u32,
    out_batch: u32,
    chosen_batch: u32,
    epilogue: u32,
    slope: f32,
    padding_y: u32,
    padding_x: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(0) var<uniform> pool: Pool;

// A thread has four samples of one channel at (y, x).
struct Place {
    y: u32,
    x: u32,
    channel: u32,
    lane4: u32,
}

fn place_of(index: u32, width: u32) -> Place {
    let feature = index / pool.lanes4;
    let position = feature / pool.channels;
    return Place(position / width, position % width, feature % pool.channels, index % pool.lanes4);
}

// Where four samples before, or after, the pool lie.
fn before(y: u32, x: u32, place: Place) -> u32 {
    return ((pool.in_origin + y * pool.in_row + x) * pool.channels + place.channel) * pool.lanes4 + place.lane4;
}

fn after(y: u32, x: u32, place: Place) -> u32 {
    return ((pool.out_origin + y * pool.out_row + x) * pool.channels + place.channel) * pool.lanes4 + place.lane4;
}

// The part of a window that is inside the image, along one axis: it begins at `start` − `padding`.
fn inside(start: u32, size: u32, padding: u32, length: u32) -> vec2<u32> {
    return vec2<u32>(padding - min(start, padding), min(size, length + padding - min(start, length + padding)));
}

// The windows along one axis that contain i of the padded image: (first, one beyond the last).
fn windows_over(i: u32, size: u32, stride: u32, count: u32) -> vec2<u32> {
    let first = select(0u, (i - min(i, size - 1u) + stride - 1u) / stride, i + 1u > size);
    return vec2<u32>(first, min(i / stride + 1u, count));
}
