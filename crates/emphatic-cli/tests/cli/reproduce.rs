//! `emphatic reproduce`: it continues after an interruption, and explains errors.

use crate::common::{emphatic, ended, says, signal, text, units, wait_until};
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

fn start(out: &Path) -> Child {
    let mut command =
        emphatic(["reproduce", "fig2", "fig3", "--quick", "--quiet", "--threads", "1", "--out"]);
    command.arg(out).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Returns all files but the tables, which the tests of `emphatic run` compare.
fn written(out: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = vec![("report.html".to_owned(), fs::read(out.join("report.html")).unwrap())];
    for figure in ["fig2", "fig3"] {
        for entry in fs::read_dir(out.join(figure)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                files.push((format!("{figure}/{name}"), fs::read(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn interrupted_or_killed_it_goes_on_and_leaves_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, parts) = (dir.path().join("whole"), dir.path().join("parts"));
    assert!(start(&whole).wait().unwrap().success());

    // Ctrl-C as soon as figure 2 is done, then a kill when there is something of figure 3.
    for name in ["INT", "KILL"] {
        let mut child = start(&parts);
        let begun = || match name {
            "INT" => parts.join("fig2/results/fresh.parquet").exists(),
            _ => units(&parts.join("fig3/results")) > 0,
        };
        assert!(wait_until(&mut child, begun));
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert!(!output.status.success(), "{}", text(&output));
        if name == "INT" {
            assert_eq!(output.status.code(), Some(130));
            assert!(says(&output, "Give the same command again"), "{}", text(&output));
        }
        assert!(!parts.join("report.html").exists());
    }
    assert!(start(&parts).wait().unwrap().success());
    let (one, other) = (written(&whole), written(&parts));
    assert_eq!(one.len(), 1 + 2 * 9);
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&one), names(&other));
    for ((name, bytes), (_, other)) in one.iter().zip(&other) {
        assert!(bytes == other, "{name} differs");
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let asked = |arguments: &[&str]| {
        let mut all = vec!["reproduce".as_ref(), "--quiet".as_ref(), "--out".as_ref(), out.as_os_str()];
        all.extend(arguments.iter().map(|a| -> &std::ffi::OsStr { a.as_ref() }));
        ended(all)
    };
    for (arguments, word) in [
        (&["fig9"][..], "fig3-aliased"),
        (&["--runs", "0"], "1..=1000000"),
        (&["--runs", "3", "--quick"], "cannot be used with"),
        (&["--threads", "0"], "0 is not in"),
        (&["--seed", "x"], "seed"),
    ] {
        let output = asked(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(says(&output, word), "{word}: {}", text(&output));
    }
    assert!(!out.exists());

    assert!(asked(&["fig1", "--quick"]).status.success());
    let output = asked(&["fig1", "--quick", "--seed", "2"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(says(&output, "fig1") && says(&output, "another experiment"), "{}", text(&output));

    // Where the report should go there is a directory; where results should go there is a file.
    fs::remove_file(out.join("report.html")).unwrap();
    fs::create_dir(out.join("report.html")).unwrap();
    let output = asked(&["fig1", "--quick"]);
    assert!(output.status.code() == Some(1) && says(&output, "report.html"), "{}", text(&output));
    // It was once left behind.
    assert!(!out.join("report.html.partial").exists());
    fs::write(out.join("fig2"), "").unwrap();
    let output = asked(&["fig2", "--quick"]);
    assert!(output.status.code() == Some(1) && says(&output, "fig2"), "{}", text(&output));
}
