//! Errors of the API server in its own words: their `Display` repeats every field of the answer.

use kube::runtime::watcher;

/// What went wrong, without a dump.
pub fn of_client(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.message.clone(),
        error => chain(error),
    }
}

/// What went wrong with a watch.
pub fn of_watch(error: &watcher::Error) -> String {
    match error {
        watcher::Error::InitialListFailed(error) => format!("cannot list: {}", of_client(error)),
        // An answer that is no event of a watch, as when the CRD was removed meanwhile.
        watcher::Error::WatchFailed(kube::Error::SerdeError(_)) => "the watch was ended by the API server".to_owned(),
        watcher::Error::WatchStartFailed(error) | watcher::Error::WatchFailed(error) => format!("cannot watch: {}", of_client(error)),
        watcher::Error::WatchError(status) => format!("the watch ended: {}", status.message),
        watcher::Error::NoResourceVersion => "the API server sent no resourceVersion".to_owned(),
    }
}

/// Whether it is part of every long watch: the API server has forgotten where it began, and all is listed again.
pub fn is_expired(error: &watcher::Error) -> bool {
    matches!(error, watcher::Error::WatchError(status) if status.code == 410)
}

/// An error and its causes; what a cause says that was said already is left out.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}
