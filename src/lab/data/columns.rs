//! What the caller says of where pictures and labels stand in a file that holds more.

/// Columns of a table, or arrays of an archive, by their names.
#[derive(Debug, Clone, Default)]
pub struct ColumnNames {
    pub image: Option<String>,
    pub label: Option<String>,
}

impl ColumnNames {
    pub fn is_empty(&self) -> bool {
        self.image.is_none() && self.label.is_none()
    }
}
