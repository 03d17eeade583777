use super::*;

fn table(text: &str) -> Labelled {
    read(text.as_bytes(), &Columns::default()).expect("a table")
}

fn array<'a>(table: &'a Labelled, name: &str) -> (&'a [usize], Vec<f64>) {
    let array = table.arrays.get(name).expect("an array");
    (array.shape(), array.to_f64().expect("memory"))
}

fn fault(text: &str, columns: Columns) -> String {
    read(text.as_bytes(), &columns).expect_err("no such table").message
}

#[test]
fn text_becomes_classes_in_alphabetical_order() {
    let found = table("Id,width,height,Species\n1,0.5,2,setosa\n2,1e3,-4,\"iris, wild\"\n3,7,8,setosa\n");
    assert_eq!(array(&found, "inputs"), (&[3, 2][..], vec![0.5, 2.0, 1000.0, -4.0, 7.0, 8.0]));
    assert_eq!(array(&found, "targets"), (&[3][..], vec![1.0, 0.0, 1.0]));
    assert_eq!(found.classes, ["iris, wild", "setosa"]);
    assert!(found.arrays.notes[0].contains("counts the rows"), "{:?}", found.arrays.notes);
    assert!(found.arrays.notes[1].contains("alphabetical order: iris, wild, setosa"), "{:?}", found.arrays.notes);
}

#[test]
fn targets_are_the_column_of_that_name_or_the_last_or_the_one_asked_for() {
    let text = "y,a,b\n1,2,3\n4,5,6";
    assert_eq!(array(&table(text), "targets").1, [1.0, 4.0]);
    assert_eq!(array(&table(&text.replace('y', "c")), "targets").1, [3.0, 6.0]);
    // Beside a coordinate x, y is one too, unless nothing is behind it.
    let points = table("x,y,cluster\n1.5,2.5,0\n3,4.5,1");
    assert_eq!((array(&points, "inputs").1, array(&points, "targets").1), (vec![1.5, 2.5, 3.0, 4.5], vec![0.0, 1.0]));
    assert!(points.arrays.notes[0].contains("the last, \"cluster\", is taken"), "{:?}", points.arrays.notes);
    assert_eq!(array(&table("x,z,y\n1,2,3"), "targets").1, [3.0]);
    let columns = Columns { inputs: Some("b,Y"), targets: Some("a") };
    let found = read(text.as_bytes(), &columns).expect("a table");
    assert_eq!((array(&found, "inputs").1, array(&found, "targets").1), (vec![3.0, 1.0, 6.0, 4.0], vec![2.0, 5.0]));
    let two = read(text.as_bytes(), &Columns { inputs: None, targets: Some("a, b") }).expect("a table");
    assert_eq!(array(&two, "targets"), (&[2, 2][..], vec![2.0, 3.0, 5.0, 6.0]));
    assert!(fault(text, Columns { inputs: Some("a,d"), targets: None }).contains("no column is named \"d\""));
    assert!(fault(text, Columns { inputs: Some("a,a"), targets: None }).contains("named twice"));
}

#[test]
fn pixels_are_bytes() {
    for header in ["label,pixel0,pixel1", "label,1x1,1x2"] {
        let found = table(&format!("{header}\n5,0,255\n0,17,3\n"));
        assert_eq!(found.arrays.get("inputs").expect("inputs").elements(), &Elements::U8(vec![0, 255, 17, 3]));
        assert_eq!(array(&found, "targets").1, [5.0, 0.0]);
    }
    let without = table("pixel0,pixel1\n0,255");
    assert!(without.arrays.get("targets").is_none() && array(&without, "inputs").0 == [1, 2]);
    let other = table("label,pixel0\n1,0.5");
    assert_eq!(other.arrays.get("inputs").expect("inputs").elements(), &Elements::F64(vec![0.5]));
}

#[test]
fn semicolons_go_with_decimal_commas() {
    let found = table("a;b;class\n1,5;2;0\n-3,25;1.5;1\n");
    assert_eq!(array(&found, "inputs").1, [1.5, 2.0, -3.25, 1.5]);
}

#[test]
fn faults_are_named_with_line_and_column() {
    let of = |text| fault(text, Columns::default());
    let found = of("a,b,y\n1,2,0\n\n1,,0");
    assert!(found.starts_with("line 4, column \"b\": a value is missing"), "{found}");
    assert!(of("a,b,y\n1,nan,0").contains("column \"b\": a value is missing"));
    assert!(of("a,y\n1,\n2,0").contains("line 2, column \"y\": a value is missing"));
    assert!(of("a,y\n1,0\nred,0").starts_with("line 3, column \"a\": this is text"));
    assert!(of("a,b,y\n1,2,0\n1,2").contains("line 3 has 2 fields, but the first line names 3"));
    assert!(of("a,b,y\n1,2,0,5").contains("line 2 has 4 fields"));
    assert!(of("5.1,3.5,0\n4.9,3.0,0").contains("must name the columns"));
    assert!(
        of("a,b\n").contains("no line behind")
            && of("").contains("empty")
            && of("y\n1").contains("no column of numbers")
    );
    assert!(read(b"a,b\n1,\xff", &Columns::default()).expect_err("no text").message.contains("not UTF-8"));
}

#[test]
fn a_first_line_that_is_a_row_is_no_header() {
    let rows = "5.1,3.5,0.2,setosa\n4.9,3.0,0.2,setosa\n6.3,3.3,2.5,virginica\n";
    assert!(fault(rows, Columns::default()).contains("a row like the others"));
    for header in ["1990,2000,2010,name", "0,1,2,name", "a,3.5,0.2,name"] {
        table(&format!("{header}\n{rows}"));
    }
}

#[test]
fn commas_and_points_do_not_go_together() {
    let said = fault("a;b;y\n2,5;1;0\n3;1.000;1\n", Columns::default());
    assert!(said.contains("line 2 has a number with a comma, and line 3 one with a point"), "{said}");
}

#[test]
fn a_second_column_of_targets_is_told() {
    let found = table("label,target,a\n1,2,3\n4,5,6\n");
    assert_eq!(array(&found, "targets").1, [2.0, 5.0]);
    assert!(found.arrays.notes[0].contains("label"), "{:?}", found.arrays.notes);
    let named = Columns { inputs: Some("a"), targets: None };
    assert!(read(b"label,target,a\n1,2,3\n", &named).expect("a table").arrays.notes.is_empty());
}

#[test]
fn a_column_that_is_not_taken_may_lack_values() {
    let text = "name,age,fare,y\nAda,,7.5,1\nBen,3,8,0";
    assert!(fault(text, Columns::default()).contains("column \"age\""));
    let found = read(text.as_bytes(), &Columns { inputs: Some("fare"), targets: None }).expect("a table");
    assert_eq!(array(&found, "inputs").1, [7.5, 8.0]);
}

#[test]
fn tables_are_known_by_their_names_or_first_lines() {
    let is = |name: &str, text: &str| super::is(&File::new(name, text.as_bytes()));
    assert!(is("iris.CSV", "") && is("a.tsv", "x") && is("", "a,b\n1,2\n") && is("iris", "a\tb\n1\t2\n"));
    assert!(
        !is("", "{\"a\": 1,\n \"b\": 2}")
            && !is("a.json", "a,b\n1,2\n")
            && !is("", "one line, two")
            && !is("", "a,b\n\u{1}")
    );
}
