//! Shaders written once for tiles of several heights: WGSL has neither macros nor arrays that stay in registers.
//!
//! What stands between the lines `//: each x of a b` and `//: end` is there once for a and once for b, with `$x` replaced by
//! it; `fours` stands for the numbers of a tile's fours of rows. FOURS and THREADS (of a workgroup) are constants.

/// Threads of a workgroup. Hardware, which gets the lowest tiles alone, wants two or more of its own groups; software
/// adapters share workgroups out to their cores, so there they are small where a thread has much to do.
pub(super) const fn threads(fours: u32) -> u32 {
    if fours == 1 { 64 } else { 16 }
}

/// WGSL for a tile of so many fours of rows.
pub(super) fn expand(text: &str, fours: u32) -> String {
    let fours_of_rows: Vec<String> = (0..fours).map(|i| i.to_string()).collect();
    let lines: Vec<&str> = text.lines().collect();
    let constants = format!("const FOURS = {fours}u;\nconst THREADS = {}u;", threads(fours));
    let mut expanded = vec![constants];
    expand_lines(&lines, &fours_of_rows.join(" "), &mut expanded);
    expanded.join("\n")
}

fn expand_lines<S: AsRef<str>>(lines: &[S], fours: &str, out: &mut Vec<String>) {
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let Some(each) = line.as_ref().trim().strip_prefix("//: each ") else {
            out.push(line.as_ref().into());
            continue;
        };
        let (name, values) = each.split_once(" of ").expect("each … of …");
        let end = at + end_of(&lines[at..]);
        for value in if values == "fours" { fours } else { values }.split(' ') {
            let name = format!("${name}");
            let body: Vec<String> = lines[at..end].iter().map(|line| line.as_ref().replace(&name, value)).collect();
            expand_lines(&body, fours, out);
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
    use super::expand;

    #[test]
    fn bodies_are_there_for_each_value() {
        let text = "a\n  //: each t of 1 2\n  b$t\n    //: each r of fours\n    c$t_$ru\n    //: end\n  //: end\nd";
        let expected =
            "const FOURS = 2u;\nconst THREADS = 16u;\na\n  b1\n    c1_0u\n    c1_1u\n  b2\n    c2_0u\n    c2_1u\nd";
        assert_eq!(expand(text, 2), expected);
    }
}
