//! What a kernel says of itself.

use serde_json::{Value as Json, json};

use super::message::PROTOCOL;
use crate::notebook::language;

pub fn information() -> Json {
    let version = env!("CARGO_PKG_VERSION");
    json!({
        "status": "ok",
        "protocol_version": PROTOCOL,
        "implementation": "viva",
        "implementation_version": version,
        "language_info": language(),
        "banner": format!("viva {version}: ?name explains, :help lists commands"),
        "help_links": [],
        "debugger": false,
    })
}
