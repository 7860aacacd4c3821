//! The sockets of a kernel, on a thread of their own: they are heard while a cell runs.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep, timeout_at};
use zeromq::{
    PubSocket, RepSocket, RouterRecvHalf, RouterSendHalf, RouterSocket, Socket, SocketRecv, SocketSend, ZmqError,
    ZmqMessage,
};

use super::connection::Connection;
use super::information::information;
use super::message::{Message, Messages};
use super::stop::Running;
use crate::core::{Error, Result};
use crate::term::leave_at_once;

/// What is printed is sent together with what follows it within this time.
const TOGETHER: Duration = Duration::from_millis(40);

/// More of it is sent at once.
const ENOUGH: usize = 1 << 16;

/// How long a cell has to stop before a kernel that is to end does so without it.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long messages that were sent last have to go out.
const LAST: Duration = Duration::from_millis(100);

/// What the thread that runs cells has to say.
pub enum Outgoing {
    /// To all who listen.
    Publish(Message),
    /// Printed text, which is gathered.
    Stream { parent: Json, name: &'static str, text: String },
    /// To who asked on the shell.
    Reply(Message),
    /// Nothing any more.
    End,
}

/// The way out of the kernel; every thread may have one.
#[derive(Clone)]
pub struct Speaker {
    pub messages: Arc<Messages>,
    outgoing: UnboundedSender<Outgoing>,
}

impl Speaker {
    /// What it says comes out of the other end, where `Sockets` send it.
    pub fn new(key: Vec<u8>) -> (Self, UnboundedReceiver<Outgoing>) {
        let (outgoing, said) = unbounded_channel();
        (Self { messages: Arc::new(Messages::new(key)), outgoing }, said)
    }

    pub fn send(&self, outgoing: Outgoing) {
        // Nobody listens to a kernel that ends.
        let _ = self.outgoing.send(outgoing);
    }

    pub fn publish(&self, kind: &str, parent: &Json, content: Json) {
        self.send(Outgoing::Publish(self.messages.of(kind, parent, content)));
    }

    pub fn status(&self, state: &str, parent: &Json) {
        self.publish("status", parent, json!({ "execution_state": state }));
    }

    pub fn stream(&self, parent: &Json, name: &'static str, text: String) {
        self.send(Outgoing::Stream { parent: parent.clone(), name, text });
    }
}

/// The thread that hears and sends.
pub struct Sockets {
    pub speaker: Speaker,
    thread: std::thread::JoinHandle<()>,
}

impl Sockets {
    /// Starts hearing: what is asked on the shell goes to `shell`, and nothing where the kernel is to end.
    pub fn start(
        connection: Connection,
        running: Running,
        shell: Sender<Option<Message>>,
        (speaker, said): (Speaker, UnboundedReceiver<Outgoing>),
    ) -> Result<Self> {
        let failed = |e: std::io::Error| Error::internal(format!("the kernel's sockets: {e}"));
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let own = speaker.clone();
        let work = move || {
            if let Err(error) = runtime.block_on(hear(connection, running, shell, own, said)) {
                eprintln!("viva kernel: its sockets failed: {error}");
                leave_at_once(1);
            }
        };
        let thread = std::thread::Builder::new().name("viva sockets".into()).spawn(work).map_err(failed)?;
        Ok(Self { speaker, thread })
    }

    /// Sends what is left.
    pub fn end(self) {
        self.speaker.send(Outgoing::End);
        // A thread that failed has said so.
        let _ = self.thread.join();
    }
}

async fn hear(
    connection: Connection,
    running: Running,
    shell: Sender<Option<Message>>,
    speaker: Speaker,
    said: UnboundedReceiver<Outgoing>,
) -> std::result::Result<(), ZmqError> {
    let (mut heartbeat, mut iopub) = (RepSocket::new(), PubSocket::new());
    let (mut asked, mut control, mut stdin) = (RouterSocket::new(), RouterSocket::new(), RouterSocket::new());
    heartbeat.bind_listener(connection.heartbeat).await?;
    iopub.bind_listener(connection.iopub).await?;
    asked.bind_listener(connection.shell).await?;
    control.bind_listener(connection.control).await?;
    stdin.bind_listener(connection.stdin).await?;
    tokio::task::spawn(beat(heartbeat));
    // Nothing is ever asked of a person.
    tokio::task::spawn(async move {
        loop {
            drop(stdin.recv().await);
        }
    });
    let (answers, questions) = asked.split();
    tokio::task::spawn(hear_shell(questions, running.clone(), shell.clone(), speaker.clone()));
    let (replies, requests) = control.split();
    tokio::task::spawn(hear_control(requests, replies, running.clone(), shell, speaker.clone()));
    tokio::task::spawn(mind_parent(running));
    speak(said, iopub, answers, &speaker.messages).await;
    sleep(LAST).await;
    Ok(())
}

/// A message as a client sent it; a connection that broke says nothing.
async fn heard(socket: &mut RouterRecvHalf, messages: &Messages) -> Option<Message> {
    match socket.recv().await {
        Ok(frames) => messages.read(frames.into_vec()),
        Err(_) => {
            sleep(Duration::from_millis(10)).await;
            None
        }
    }
}

async fn hear_shell(mut socket: RouterRecvHalf, running: Running, shell: Sender<Option<Message>>, speaker: Speaker) {
    loop {
        let Some(message) = heard(&mut socket, &speaker.messages).await else { continue };
        if message.kind() == "execute_request" {
            running.queue();
        }
        if shell.send(Some(message)).is_err() {
            return;
        }
    }
}

/// What is asked of a kernel whether it is busy or not.
async fn hear_control(
    mut socket: RouterRecvHalf,
    mut answers: RouterSendHalf,
    running: Running,
    shell: Sender<Option<Message>>,
    speaker: Speaker,
) {
    loop {
        let Some(message) = heard(&mut socket, &speaker.messages).await else { continue };
        let parent = &message.header;
        speaker.status("busy", parent);
        let content = match message.kind() {
            "interrupt_request" => {
                if let Some((cell, said)) = running.interrupt() {
                    speaker.stream(&cell, "stderr", said);
                }
                Some(json!({ "status": "ok" }))
            }
            "shutdown_request" => Some(json!({ "status": "ok", "restart": message.content["restart"] == true })),
            "kernel_info_request" => Some(information()),
            _ => None,
        };
        if let Some(content) = content {
            let reply = speaker.messages.reply(&message, content);
            // Who asked may be gone.
            let _ = answers.send(whole(speaker.messages.frames(&reply))).await;
        }
        speaker.status("idle", parent);
        if message.kind() == "shutdown_request" {
            running.leave();
            let _ = shell.send(None);
            tokio::task::spawn(async {
                sleep(PATIENCE).await;
                leave_at_once(0);
            });
        }
    }
}

/// Sends what there is to send, in its order.
async fn speak(
    mut said: UnboundedReceiver<Outgoing>,
    mut iopub: PubSocket,
    mut shell: RouterSendHalf,
    messages: &Messages,
) {
    let mut gathered: Option<(Json, &'static str, String, Instant)> = None;
    loop {
        let next = match &gathered {
            Some((.., text, until)) if text.len() < ENOUGH => timeout_at(*until, said.recv()).await.ok(),
            Some(_) => None,
            None => Some(said.recv().await),
        };
        let next = match (next, &mut gathered) {
            (Some(Some(Outgoing::Stream { parent, name, text })), Some((of, known, all, _)))
                if *of == parent && *known == name =>
            {
                all.push_str(&text);
                continue;
            }
            (next, _) => next,
        };
        if let Some((parent, name, text, _)) = gathered.take() {
            let message = messages.of("stream", &parent, json!({ "name": name, "text": text }));
            publish(&mut iopub, messages, message).await;
        }
        match next {
            None => {}
            Some(Some(Outgoing::Stream { parent, name, text })) => {
                gathered = Some((parent, name, text, Instant::now() + TOGETHER));
            }
            Some(Some(Outgoing::Publish(message))) => publish(&mut iopub, messages, message).await,
            Some(Some(Outgoing::Reply(message))) => {
                // Who asked may be gone.
                let _ = shell.send(whole(messages.frames(&message))).await;
            }
            Some(Some(Outgoing::End) | None) => return,
        }
    }
}

async fn publish(iopub: &mut PubSocket, messages: &Messages, message: Message) {
    let topic = format!("kernel.{}", message.kind()).into_bytes();
    let frames = messages.frames(&Message { identities: vec![topic.into()], ..message });
    // Those who listen are told what can be told.
    let _ = iopub.send(whole(frames)).await;
    // The same thread brings it out.
    tokio::task::yield_now().await;
}

fn whole(frames: Vec<bytes::Bytes>) -> ZmqMessage {
    ZmqMessage::try_from(frames).unwrap_or_else(|_| ZmqMessage::from(Vec::new()))
}

async fn beat(mut socket: RepSocket) {
    loop {
        match socket.recv().await {
            Ok(message) => drop(socket.send(message).await),
            Err(_) => sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Ends the kernel after who started it, who can't any more.
async fn mind_parent(running: Running) {
    let said = std::env::var("JPY_PARENT_PID").ok().and_then(|text| text.parse::<u32>().ok());
    if said != Some(std::os::unix::process::parent_id()) {
        return;
    }
    while said == Some(std::os::unix::process::parent_id()) {
        sleep(Duration::from_secs(1)).await;
    }
    running.leave();
    sleep(PATIENCE).await;
    leave_at_once(0);
}
