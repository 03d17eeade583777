//! Shaders written once for tiles of several shapes: WGSL has neither macros nor arrays that stay in registers.
//!
//! What stands between the lines `//: each x of a b` and `//: end` is there once for a and once for b, with `$x` replaced by
//! it; a shape has lists of its own, such as `fours`, the numbers of a tile's fours of rows. Its constants come first.

/// Shape of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// So many fours of rows × 16 columns a thread, in its registers.
    Registers { fours: u32 },
    /// So many fours of rows × fours of columns a workgroup, through its memory; 4 × 16 a thread.
    Workgroup { rows4: u32, columns4: u32 },
}

impl Shape {
    /// Threads of a workgroup. Of those whose tiles are in registers hardware gets the lowest alone unless it was tuned, and wants two
    /// or more of its own groups; software adapters share workgroups out to their cores, so there they are small where a thread has
    /// much to do.
    pub const fn threads(self) -> u32 {
        match self {
            Self::Registers { fours: 1 } => 64,
            Self::Registers { .. } => 16,
            Self::Workgroup { rows4, columns4 } => rows4 * columns4 / 4,
        }
    }

    /// Rows and columns of a tile.
    pub const fn size(self) -> [usize; 2] {
        match self {
            Self::Registers { fours } => [4 * fours as usize, 16],
            Self::Workgroup { rows4, columns4 } => [4 * rows4 as usize, 4 * columns4 as usize],
        }
    }

    fn constants(self) -> String {
        let threads = self.threads();
        match self {
            Self::Registers { fours } => format!("const FOURS = {fours}u;\nconst THREADS = {threads}u;"),
            Self::Workgroup { rows4, columns4 } => {
                format!("const ROWS4 = {rows4}u;\nconst COLUMNS4 = {columns4}u;\nconst THREADS = {threads}u;")
            }
        }
    }

    /// The list of this name; what is none is one by itself.
    fn list(self, name: &str) -> String {
        let count = match (self, name) {
            (Self::Registers { fours }, "fours") => fours,
            // Vectors of four samples that a thread brings into a tile of four of them.
            (Self::Workgroup { rows4, .. }, "row_loads") => 16 * rows4 / self.threads(),
            (Self::Workgroup { columns4, .. }, "column_loads") => 16 * columns4 / self.threads(),
            _ => return name.into(),
        };
        (0..count).map(|i| i.to_string()).collect::<Vec<_>>().join(" ")
    }
}

/// WGSL for a tile of this shape.
pub(super) fn expand(text: &str, shape: Shape) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut expanded = vec![shape.constants()];
    expand_lines(&lines, shape, &mut expanded);
    expanded.join("\n")
}

fn expand_lines<S: AsRef<str>>(lines: &[S], shape: Shape, out: &mut Vec<String>) {
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let Some(each) = line.as_ref().trim().strip_prefix("//: each ") else {
            out.push(line.as_ref().into());
            continue;
        };
        let (name, values) = each.split_once(" of ").expect("each … of …");
        let end = at + end_of(&lines[at..]);
        for value in shape.list(values).split(' ') {
            let name = format!("${name}");
            let body: Vec<String> = lines[at..end].iter().map(|line| line.as_ref().replace(&name, value)).collect();
            expand_lines(&body, shape, out);
        }
        at = end + 1;
    }
}

/// The line that ends a body.
fn end_of<S: AsRef<str>>(lines: &[S]) -> usize {
    let mut depth = 0;
    for (i, line) in lines.iter().enumerate() {
        match line.as_ref().trim() {
            "//: end" if depth == 0 => return i,
            "//: end" => depth -= 1,
            line if line.starts_with("//: each ") => depth += 1,
            _ => {}
        }
    }
    panic!("a body without an end");
}

#[cfg(test)]
mod tests {
    use super::{Shape, expand};

    #[test]
    fn bodies_are_there_for_each_value() {
        let text = "a\n  //: each t of 1 2\n  b$t\n    //: each r of fours\n    c$t_$ru\n    //: end\n  //: end\nd";
        let expected =
            "const FOURS = 2u;\nconst THREADS = 16u;\na\n  b1\n    c1_0u\n    c1_1u\n  b2\n    c2_0u\n    c2_1u\nd";
        assert_eq!(expand(text, Shape::Registers { fours: 2 }), expected);
    }

    #[test]
    fn a_workgroup_brings_in_all_of_its_tile() {
        for (rows4, columns4) in [(16, 16), (8, 32), (32, 16)] {
            let shape = Shape::Workgroup { rows4, columns4 };
            let count = |list: &str| shape.list(list).split(' ').count() as u32;
            let threads = shape.threads();
            assert_eq!([count("row_loads") * threads, count("column_loads") * threads], [16 * rows4, 16 * columns4]);
        }
    }
}
