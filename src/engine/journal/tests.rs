use std::collections::HashMap;

use super::*;

/// Files in memory, of which no more than `most` are written.
#[derive(Default, Clone)]
struct Files {
    files: Rc<RefCell<HashMap<String, Vec<u8>>>>,
    is_full: Rc<std::cell::Cell<bool>>,
}

impl Store for Files {
    fn name(&self) -> &str {
        "here"
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.files.borrow().get(name).cloned())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        ensure!(!self.is_full.get(), InvalidOption, "here/{name} cannot be written: no space");
        self.files.borrow_mut().insert(name.into(), bytes.to_vec());
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.files.borrow_mut().remove(name);
        Ok(())
    }
}

fn about(model: &str) -> Vec<(String, String)> {
    vec![("model".into(), model.into()), ("train.epochs".into(), "10".into())]
}

fn open(files: &Files, model: &str, every: f64) -> Result<Rc<Journal>> {
    Journal::open(Ok(Some(Box::new(files.clone()))), None, &about(model), every)
}

#[test]
fn what_was_kept_is_given_again_and_then_goes_on() {
    for every in [0.0, 1e9] {
        let files = Files::default();
        let mut kept: Vec<(u64, Option<Vec<u8>>)> = Vec::new();
        for run in 0..4u64 {
            let journal = open(&files, "a", every).expect("a journal");
            for (asked, found) in &kept {
                match (journal.next(*asked).expect("an entry"), found) {
                    (Entry::Failed, None) => {}
                    (Entry::Found(bytes), Some(found)) => assert_eq!(&bytes, found),
                    _ => panic!("another entry"),
                }
            }
            for asked in [run, 7] {
                assert!(matches!(journal.next(asked), Ok(Entry::New)), "run {run}");
                let found = (asked != 7).then(|| vec![run as u8; run as usize]);
                journal.keep(asked, found.as_deref()).expect("room");
                kept.push((asked, found));
            }
            journal.flush().expect("room");
        }
    }
}

/// Three passes in pieces of their own or in one; after the first of them, or the second, the work takes another way.
#[test]
fn what_was_kept_of_another_way_is_forgotten() {
    for every in [0.0, 1e9] {
        for common in 0..3u64 {
            let files = Files::default();
            let journal = open(&files, "a", every).expect("a journal");
            for asked in 0..3u64 {
                assert!(matches!(journal.next(asked), Ok(Entry::New)));
                journal.keep(asked, Some(&[asked as u8])).expect("room");
            }
            journal.flush().expect("room");
            let other = open(&files, "a", every).expect("a journal");
            for asked in 0..common {
                assert!(matches!(other.next(asked), Ok(Entry::Found(bytes)) if bytes == [asked as u8]));
            }
            other.forget_rest().expect("room");
            let pieces = files.files.borrow().len() - 1;
            assert_eq!(pieces, if every == 0.0 { common as usize } else { usize::from(common > 0) });
            assert!(matches!(other.next(9), Ok(Entry::New)));
            other.keep(9, Some(&[9])).expect("room");
            other.flush().expect("room");
            let again = open(&files, "a", every).expect("a journal");
            for asked in (0..common).chain([9]) {
                assert!(matches!(again.next(asked), Ok(Entry::Found(bytes)) if bytes == [asked as u8]));
            }
            assert!(matches!(again.next(4), Ok(Entry::New)));
            again.forget_rest().expect("nothing to forget");
        }
    }
}

#[test]
fn another_run_a_damaged_piece_and_other_numbers_are_refused() {
    let files = Files::default();
    let journal = open(&files, "a", 0.0).expect("a journal");
    assert!(matches!(journal.next(1), Ok(Entry::New)));
    journal.keep(1, Some(&[5; 9])).expect("room");
    let refused = open(&files, "b", 0.0).expect_err("another model").message;
    assert_eq!(refused, "the checkpoint in here is of another run: model was a there and is b here");
    let fewer = Journal::open(Ok(Some(Box::new(files.clone()))), None, &about("a")[..1], 0.0).expect_err("another run");
    assert!(fewer.message.ends_with("train.epochs was 10 there and is not said here"), "{}", fewer.message);
    let says =
        |asked: u64| open(&files, "a", 0.0).and_then(|journal| journal.next(asked)).expect_err("an error").message;
    assert!(says(2).contains("other numbers"));
    let name = piece(0);
    let whole = files.files.borrow()[&name].clone();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        files.files.borrow_mut().insert(name.clone(), bytes);
        assert!(says(1).starts_with("here: 000000.passes is damaged"), "byte {at}: {}", says(1));
    }
    for length in 0..whole.len() {
        files.files.borrow_mut().insert(name.clone(), whole[..length].to_vec());
        assert!(says(1).starts_with("here: 000000.passes is damaged"), "{length} bytes: {}", says(1));
    }
    files.files.borrow_mut().insert(ABOUT.into(), b"{".to_vec());
    assert!(says(1).contains("no checkpoint of isoflat's"));
}

#[test]
fn what_cannot_be_written_is_an_error_and_is_written_later() {
    let files = Files::default();
    let journal = open(&files, "a", 0.0).expect("a journal");
    assert!(matches!(journal.next(1), Ok(Entry::New)));
    files.is_full.set(true);
    let error = journal.keep(1, Some(&[1])).expect_err("full").message;
    assert_eq!(error, "here/000000.passes cannot be written: no space");
    files.is_full.set(false);
    journal.flush().expect("room");
    let again = open(&files, "a", 0.0).expect("a journal");
    assert!(matches!(again.next(1), Ok(Entry::Found(bytes)) if bytes == [1]));
}
