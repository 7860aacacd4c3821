//! Scripts that answer what is to be true, by name.

use viva::core::Value;

/// Fails with the first that is not true, and where nothing was asked.
#[track_caller]
pub fn hold(answer: &Value) {
    let Value::Map(all) = answer else { panic!("no map: {}", answer.summary()) };
    assert!(!all.is_empty(), "nothing is asked");
    for (name, value) in all {
        assert!(matches!(value, Value::Bool(true)), "{name}: {}", value.summary());
    }
}
