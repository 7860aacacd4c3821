//! What is to become of one image's prediction.

/// What is to become of one image's prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// Anything but the label.
    Away,
    /// This class.
    To(i32),
    /// The class that is least likely as the image stands, which is not known before it is scored.
    ToLeast,
    /// All of so many binary labels.
    Labels(i32),
}

impl Aim {
    /// The class that is aimed at, where that is known; of binary labels, how many.
    pub fn target(self) -> Option<i32> {
        match self {
            Self::To(target) | Self::Labels(target) => Some(target),
            _ => None,
        }
    }

    /// Whether an image with this label and prediction counts as failing.
    pub fn met(self, label: i32, predicted: i32) -> bool {
        match self {
            Self::Away => predicted != label,
            Self::To(target) | Self::Labels(target) => predicted == target,
            Self::ToLeast => false,
        }
    }
}
