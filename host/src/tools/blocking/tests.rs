use std::sync::mpsc;

use super::{blocking, going_on};
use crate::tools::ToolError;
use crate::tools::testing::Place;

#[tokio::test]
async fn a_panic_is_a_failure_that_says_what_it_said() {
    let place = Place::new();
    let error = blocking::<(), _>(&place.context, |_| panic!("the index is {}", 7)).await.unwrap_err();
    assert!(matches!(&error, ToolError::Failed(text) if text.contains("the index is 7")), "{error:?}");
}

#[tokio::test]
async fn work_that_is_stopped_sees_it_and_the_call_is_cancelled() {
    let place = Place::new();
    let (started, has_started) = mpsc::channel();
    let cancel = place.context.cancel.clone();
    let call = blocking::<(), _>(&place.context, move |context| {
        started.send(()).unwrap();
        loop {
            going_on(context)?;
            std::thread::yield_now();
        }
    });
    let stop = tokio::task::spawn_blocking(move || {
        has_started.recv().unwrap();
        cancel.cancel();
    });
    let (ended, _) = tokio::join!(call, stop);
    assert_eq!(ended, Err(ToolError::Cancelled));
}

#[tokio::test]
async fn work_that_hangs_is_left_behind_and_the_call_is_cancelled() {
    let place = Place::new();
    let (release, released) = mpsc::channel::<()>();
    let cancel = place.context.cancel.clone();
    let call = blocking(&place.context, move |_| {
        cancel.cancel();
        let _ = released.recv();
        Ok(())
    });
    assert_eq!(call.await, Err(ToolError::Cancelled));
    drop(release);
}
