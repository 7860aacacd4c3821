//! Messages of Jupyter's protocol, version 5.3: frames of JSON, signed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use hmac::{Hmac, Mac};
use serde_json::{Value as Json, json};
use sha2::Sha256;

pub const PROTOCOL: &str = "5.3";

/// What stands between who a message is for and the message.
const DELIMITER: &[u8] = b"<IDS|MSG>";

#[derive(Debug, Clone)]
pub struct Message {
    /// Who it is from, or for.
    pub identities: Vec<Bytes>,
    pub header: Json,
    pub parent: Json,
    pub metadata: Json,
    pub content: Json,
}

impl Message {
    pub fn kind(&self) -> &str {
        self.header["msg_type"].as_str().unwrap_or_default()
    }
}

/// Makes and reads the messages of one kernel.
pub struct Messages {
    key: Vec<u8>,
    session: String,
    made: AtomicU64,
}

impl Messages {
    pub fn new(key: Vec<u8>) -> Self {
        let session = format!("{:032x}", rand::random::<u128>());
        Self { key, session, made: AtomicU64::new(0) }
    }

    /// A message that answers `parent`, which is null where nothing was asked.
    pub fn of(&self, kind: &str, parent: &Json, content: Json) -> Message {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let header = json!({
            "msg_id": format!("{}_{number}", self.session), "session": self.session, "username": "viva", "date": now(),
            "msg_type": kind, "version": PROTOCOL,
        });
        let parent = if parent.is_object() { parent.clone() } else { json!({}) };
        Message { identities: vec![], header, parent, metadata: json!({}), content }
    }

    /// What a request is answered by, on the socket that it came from.
    pub fn reply(&self, request: &Message, content: Json) -> Message {
        let kind = request.kind().replace("_request", "_reply");
        let reply = self.of(&kind, &request.header, content);
        Message { identities: request.identities.clone(), ..reply }
    }

    fn signature(&self, parts: &[Bytes]) -> Option<Hmac<Sha256>> {
        if self.key.is_empty() {
            return None;
        }
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        parts.iter().for_each(|part| mac.update(part));
        Some(mac)
    }

    pub fn frames(&self, message: &Message) -> Vec<Bytes> {
        let parts = [&message.header, &message.parent, &message.metadata, &message.content];
        let parts = parts.map(|part| Bytes::from(part.to_string()));
        let signature = self.signature(&parts).map_or_else(String::new, |mac| hex(&mac.finalize().into_bytes()));
        let mut frames = message.identities.clone();
        frames.extend([Bytes::from_static(DELIMITER), Bytes::from(signature)]);
        frames.extend(parts);
        frames
    }

    /// The message in these frames; nothing where it is none, or is not signed by who may ask this kernel.
    pub fn read(&self, frames: Vec<Bytes>) -> Option<Message> {
        let delimiter = frames.iter().position(|frame| frame == DELIMITER)?;
        let [signature, header, parent, metadata, content] = frames.get(delimiter + 1..delimiter + 6)? else {
            return None;
        };
        if !self.key.is_empty() {
            let parts = [header, parent, metadata, content].map(Bytes::clone);
            self.signature(&parts)?.verify_slice(&unhex(signature)?).ok()?;
        }
        let json = |frame: &Bytes| serde_json::from_slice::<Json>(frame).ok().filter(Json::is_object);
        Some(Message {
            header: json(header)?,
            parent: json(parent)?,
            metadata: json(metadata)?,
            content: json(content)?,
            identities: frames[..delimiter].to_vec(),
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pairs = text.chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?));
    pairs.collect()
}

/// In UTC, as ISO 8601 writes it.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    match time::OffsetDateTime::from_unix_timestamp(since.as_secs() as i64) {
        Ok(t) => format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
            t.year(),
            u8::from(t.month()),
            t.day(),
            t.hour(),
            t.minute(),
            t.second(),
            since.subsec_micros()
        ),
        Err(_) => "1970-01-01T00:00:00.000000Z".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_back_as_it_was_and_changed_or_foreign_ones_do_not() {
        let ours = Messages::new(b"a secret".to_vec());
        let mut asked = ours.of("execute_request", &Json::Null, json!({ "code": "1 + 1" }));
        asked.identities = vec![Bytes::from_static(b"who")];
        let frames = ours.frames(&asked);
        let read = ours.read(frames.clone()).expect("our own message");
        assert_eq!((read.kind(), &read.content["code"]), ("execute_request", &json!("1 + 1")));
        assert_eq!(read.identities, asked.identities);
        let reply = ours.reply(&read, json!({ "status": "ok" }));
        assert_eq!((reply.kind(), &reply.parent["msg_id"]), ("execute_reply", &asked.header["msg_id"]));
        for place in 0..frames.len() {
            let mut changed = frames.clone();
            changed[place] = Bytes::from_static(b"{\"x\":1}");
            assert!(place == 0 || ours.read(changed).is_none(), "frame {place}");
            assert!(ours.read(frames[..place].to_vec()).is_none(), "{place} frames");
        }
        assert!(Messages::new(b"another".to_vec()).read(frames).is_none());
    }

    #[test]
    fn signatures_are_those_of_the_standard() {
        // RFC 4231, test case 2.
        let ours = Messages::new(b"Jefe".to_vec());
        let mac = ours.signature(&[Bytes::from_static(b"what do ya want "), Bytes::from_static(b"for nothing?")]);
        assert_eq!(
            hex(&mac.expect("a key").finalize().into_bytes()),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
