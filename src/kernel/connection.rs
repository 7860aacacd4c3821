//! The file by which Jupyter says where a kernel is to be reached, and the sockets that it says so of.

use std::net::{IpAddr, TcpListener};
use std::path::Path;

use serde_json::Value as Json;

use crate::core::{Error, Result};

/// A longer one is something else.
const LARGEST: u64 = 1 << 20;

/// Where a kernel is reached. The sockets are bound when this is made: once a process is held, it makes no more of them.
pub struct Connection {
    pub shell: TcpListener,
    pub control: TcpListener,
    pub iopub: TcpListener,
    pub stdin: TcpListener,
    pub heartbeat: TcpListener,
    /// What messages are signed by; nothing is signed where it is empty.
    pub key: Vec<u8>,
}

impl Connection {
    pub fn open(file: &Path) -> Result<Self> {
        let wrong = |problem: String| {
            Error::file(file, problem)
                .hint("Jupyter writes this file and starts kernels itself; see `viva kernel --install`")
        };
        let size = std::fs::metadata(file).map_err(|e| wrong(e.to_string()))?.len();
        if size > LARGEST {
            return Err(wrong("not a connection file".into()));
        }
        let text = std::fs::read(file).map_err(|e| wrong(e.to_string()))?;
        let said: Json = serde_json::from_slice(&text).map_err(|e| wrong(format!("not a connection file: {e}")))?;
        let word = |name: &str| said[name].as_str().unwrap_or_default();
        let transport = said["transport"].as_str().unwrap_or("tcp");
        if transport != "tcp" {
            return Err(wrong(format!("the transport is {transport:?}, and this kernel is reached by tcp alone")));
        }
        let scheme = said["signature_scheme"].as_str().unwrap_or("hmac-sha256");
        if scheme != "hmac-sha256" {
            return Err(wrong(format!("signatures are {scheme:?}, and this kernel signs by hmac-sha256 alone")));
        }
        let ip = word("ip");
        let ip: IpAddr = match ip {
            "localhost" => IpAddr::from([127, 0, 0, 1]),
            "*" => IpAddr::from([0, 0, 0, 0]),
            _ => ip.parse().map_err(|_| wrong(format!("{ip:?} is no address of this machine")))?,
        };
        let bound = |name: &str| -> Result<TcpListener> {
            let port = said[name].as_u64().and_then(|port| u16::try_from(port).ok());
            let port = port.ok_or_else(|| wrong(format!("there is no port {name:?} in it")))?;
            TcpListener::bind((ip, port)).map_err(|e| wrong(format!("{name} {port} of {ip} can't be had: {e}")))
        };
        Ok(Self {
            shell: bound("shell_port")?,
            control: bound("control_port")?,
            iopub: bound("iopub_port")?,
            stdin: bound("stdin_port")?,
            heartbeat: bound("hb_port")?,
            key: word("key").as_bytes().to_vec(),
        })
    }
}
