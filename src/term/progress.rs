pub fn progress() -> Box<dyn crate::core::Progress> {
    Box::new(crate::core::Quiet)
}
