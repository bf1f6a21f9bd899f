//! What the host is told: a list, or in plain words why there is none.
//!
//! kpt takes any ResourceList for success, and an empty answer for a list without items: it then deletes the package's files.
//! So a failure is always text, never empty, and never looks like a list.

use expose_valkey::run;

/// Which of kpt's runtimes runs the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// Shows the message after the answer.
    Wasmtime,
    /// Takes the message for the function's output, and then complains that it is none.
    Node,
}

/// The answer in place of a list.
pub(crate) const FAILED: &str = "expose-valkey failed";

/// The message when no other was left behind.
pub(crate) const STOPPED: &str = "[error] expose-valkey stopped before it was done: it may have run out of memory";

/// Most that goes through the exchange buffer, in bytes.
pub(crate) const LIMIT: usize = 64 << 20;

/// Input that is no text for us.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It has so many bytes.
    TooLarge(usize),
    NotUtf8,
}

/// Runs the function, and hands its list to `give` in pieces; `give` returns nothing if they are too large.
pub(crate) fn of<T>(input: Result<String, Unreadable>, give: impl Fn(&[&str]) -> Option<T>) -> Result<T, String> {
    let input = input.map_err(|problem| match problem {
        Unreadable::TooLarge(size) => too_large("is given", size),
        Unreadable::NotUtf8 => "[error] the input is not UTF-8".to_owned(),
    })?;
    #[cfg(feature = "panics")]
    #[allow(clippy::panic)]
    if input.contains("panic, please") {
        panic!("as asked");
    }
    let output = run(&input);
    if output.failed() || output.text.is_empty() {
        let lines: Vec<String> = output.findings.iter().map(ToString::to_string).collect();
        return Err(lines.join("\n"));
    }
    let pieces: Vec<&str> = output.text.0.iter().map(AsRef::as_ref).collect();
    give(&pieces).ok_or_else(|| too_large("comes out", output.text.len()))
}

fn too_large(what: &str, size: usize) -> String {
    format!(
        "[error] the list that {what} has {size} bytes, and the WASM module can pass on at most {LIMIT}: use the program `expose-valkey`, or its container image, for a package of this size"
    )
}

/// A panic's message.
pub(crate) fn panicked(message: &str) -> String {
    format!("[error] expose-valkey {message}\nthis is a bug of expose-valkey: please report it, with the list that it was given")
}

/// The message in the form that the host shows whole.
pub(crate) fn as_message(why: &str, host: Host) -> String {
    let why = if why.trim().is_empty() { STOPPED } else { why };
    match host {
        Host::Wasmtime => why.to_owned(),
        // A YAML string: neither a mapping, whose keys would be missed, nor a comment, which would be an empty list.
        Host::Node => {
            let why: String = why.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect();
            let lines: Vec<String> =
                why.replace("kind: ResourceList", "kind ResourceList").lines().map(|line| format!("  {line}")).collect();
            format!("|-\n{}", lines.join("\n"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n";

    fn text_of(input: &str) -> Result<String, String> {
        of(Ok(input.to_owned()), |pieces| Some(pieces.concat()))
    }

    #[test]
    fn failure_and_panic_are_no_lists() {
        for text in [FAILED.to_owned(), STOPPED.to_owned(), panicked("panicked at src/x.rs:1:2:\noh")] {
            assert!(!text.contains("ResourceList") && !text.is_empty(), "{text}");
        }
        assert!(panicked("panicked at src/x.rs:1:2:\noh").starts_with("[error] expose-valkey panicked at src/x.rs:1:2:\noh\n"));
    }

    #[test]
    fn a_list_is_the_answer() {
        assert_eq!(text_of(LIST).as_deref(), Ok(LIST));
    }

    #[test]
    fn every_finding_is_told() {
        let cluster = "- apiVersion: valkey.io/v1alpha1\n  kind: ValkeyCluster\n  metadata: {name: c}\n  spec: {shards: 0, externalAccess: {enabled: true, typo: 1}}\n";
        let why = text_of(&LIST.replace(" []", format!("\n{cluster}").trim_end())).unwrap_err();
        assert!(why.contains("spec.shards") && why.contains("typo"), "{why}");
        for input in ["", "kind: Pod\n", "a: [", "\u{0}"] {
            let why = text_of(input).unwrap_err();
            assert!(why.starts_with("[error] "), "{input:?}: {why:?}");
        }
    }

    #[test]
    fn size_and_encoding_are_told() {
        let why = of(Err(Unreadable::TooLarge(70_000_000)), |_| Some(())).unwrap_err();
        assert!(why.contains("70000000 bytes") && why.contains("at most 67108864"), "{why}");
        let why = of(Ok(LIST.to_owned()), |_| None::<()>).unwrap_err();
        assert!(why.contains(&format!("comes out has {} bytes", LIST.len())), "{why}");
        let why = of(Err(Unreadable::NotUtf8), |_| Some(())).unwrap_err();
        assert_eq!(why, "[error] the input is not UTF-8");
    }

    #[test]
    fn a_message_is_never_empty_and_never_a_list() {
        for why in ["", " ", "\n\n"] {
            assert_eq!(as_message(why, Host::Wasmtime), STOPPED);
            assert_eq!(as_message(why, Host::Node), format!("|-\n  {STOPPED}"));
        }
        assert_eq!(as_message("a: b: c\n# d\u{1b}[0m", Host::Node), "|-\n  a: b: c\n  # d\u{fffd}[0m");
        assert!(!as_message("kind: ResourceList", Host::Node).contains("kind: ResourceList"));
    }
}
