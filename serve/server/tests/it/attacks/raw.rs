//! An HTTP/2 client with scripted frames.

pub(crate) use super::frames::*;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

pub(crate) const PRIORITY: u8 = 2;
pub(crate) const GOAWAY: u8 = 7;

/// A connection.
pub(crate) struct Raw {
    pub(crate) reader: OwnedReadHalf,
    pub(crate) writer: OwnedWriteHalf,
}

impl Raw {
    /// Connects, and gives every stream a window of this size.
    pub(crate) async fn new(address: SocketAddr, window: u32) -> Raw {
        let (reader, writer) = TcpStream::connect(address).await.expect("a connection").into_split();
        let mut raw = Raw { reader, writer };
        let settings = [&[0, 4][..], &window.to_be_bytes()].concat();
        raw.send(&[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), frame(SETTINGS, 0, 0, &settings)].concat()).await;
        raw
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) -> bool {
        self.writer.write_all(bytes).await.is_ok()
    }

    /// Returns the next frame: type, flags, stream and payload. `None` at the end.
    pub(crate) async fn frame(&mut self) -> Option<(u8, u8, u32, Vec<u8>)> {
        let mut head = [0; 9];
        self.reader.read_exact(&mut head).await.ok()?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.reader.read_exact(&mut payload).await.ok()?;
        Some((kind, flags, u32::from_be_bytes(stream), payload))
    }

    /// Answers PINGs and settings, sends a PING for each of them, and otherwise does nothing, until the end.
    pub(crate) async fn stay(mut self) {
        while let Some((kind, flags, _, payload)) = self.frame().await {
            let sent = match kind {
                SETTINGS if flags & ACK == 0 => self.send(&frame(SETTINGS, ACK, 0, &[])).await,
                PING if flags & ACK == 0 => self.send(&frame(PING, ACK, 0, &payload)).await,
                PING => {
                    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                    self.send(&frame(PING, 0, 0, &[0; 8])).await
                }
                _ => true,
            };
            if !sent {
                return;
            }
        }
    }

    /// Returns the status and the length of the body of the response on a stream.
    pub(crate) async fn answer(&mut self, wanted: u32) -> Option<(u8, usize)> {
        let (mut status, mut length) = (0, 0);
        loop {
            let (kind, flags, stream, payload) = self.frame().await?;
            if stream != wanted {
                continue;
            }
            match kind {
                HEADERS => status = *payload.first()?,
                DATA => length += payload.len(),
                _ => return None,
            }
            if flags & END_STREAM != 0 {
                return Some((status, length));
            }
        }
    }
}
