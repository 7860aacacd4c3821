//! Moments as people read them.

/// Seconds since 1970 as a date: always in UTC, so that what is written is the same everywhere.
pub fn date(seconds: i64) -> String {
    match time::OffsetDateTime::from_unix_timestamp(seconds) {
        Ok(t) => format!(
            "{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC",
            t.year(),
            u8::from(t.month()),
            t.day(),
            t.hour(),
            t.minute(),
            t.second()
        ),
        Err(_) => format!("{seconds} seconds after 1970"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        // date -u -d @1795248714
        assert_eq!(date(1_795_248_714), "2026-11-21 08:11:54 UTC");
        assert_eq!(date(i64::MAX), format!("{} seconds after 1970", i64::MAX));
    }
}
