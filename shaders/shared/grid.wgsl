// Work in one dimension, folded into the grid's y beyond the 65535 workgroups that x may have.

fn flat_index(group: vec3<u32>, groups: vec3<u32>, lane: u32, lanes: u32) -> u32 {
    return (group.y * groups.x + group.x) * lanes + lane;
}
