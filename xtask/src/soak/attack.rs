//! Hostile clients. Each repeats its attack, and connects again when the server ends the connection.

use super::Shared;
use super::client::{connect, hostile};
use super::frames::{ACK, CONTINUATION, DATA, HEADERS, PING, RST_STREAM, SETTINGS, WINDOW_UPDATE};
use super::frames::{fields, frame, get, request};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The time limit of a client for reading or writing.
const STEP: Duration = Duration::from_millis(500);
/// An attack starts again after this time.
const LONGEST: Duration = Duration::from_mins(1);

/// The user of attacks: one with few permissions, if the server has users.
const WHO: (&str, &str) = ("authorization", "Bearer reader");
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Attacks until the test is over. `number` selects the attack.
pub(super) fn run(shared: &Shared, number: usize) {
    yield_to_others();
    while !shared.is_over() {
        if let Ok(stream) = connect(hostile(number), shared.address) {
            shared.attacks.fetch_add(1, Relaxed);
            let _ = stream.set_read_timeout(Some(STEP));
            let _ = stream.set_write_timeout(Some(STEP));
            // The server ends the connection, sooner or later.
            let _ = Attack { shared, stream, began: Instant::now() }.one(number);
        }
        sleep(Duration::from_millis(200));
    }
}

/// Gives this thread the lowest priority: real clients would not use the processors of the server.
pub(super) fn yield_to_others() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(19);
}

struct Attack<'s> {
    shared: &'s Shared,
    stream: TcpStream,
    began: Instant,
}

impl Attack<'_> {
    fn one(mut self, number: usize) -> std::io::Result<()> {
        let (name, value) = WHO;
        let head = format!("HTTP/1.1\r\nHost: localhost\r\n{name}: {value}\r\n\r\n");
        let plain = |path: &str| format!("GET {path} {head}").into_bytes();
        match number % 14 {
            // Sends nothing.
            0 => self.wait(|_| Ok(())),
            // A head that is sent byte by byte.
            1 => {
                self.stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")?;
                self.wait(|stream| stream.write_all(b"y"))
            }
            // A large response that is not read.
            2 => {
                self.stream.write_all(&plain("/openapi/v2"))?;
                self.wait(|_| Ok(()))
            }
            // A large response that is read too slowly.
            3 => {
                self.stream.write_all(&plain("/openapi/v2").repeat(50))?;
                self.wait(|stream| stream.read_exact(&mut [0; 64]))
            }
            // Many requests whose responses are not read.
            4 => {
                let _ = self.stream.write_all(&plain("/openapi/v2").repeat(2000));
                self.wait(|_| Ok(()))
            }
            // A body without an end.
            5 => {
                self.stream.write_all(b"POST /apis HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")?;
                self.wait(|stream| stream.write_all(b"y"))
            }
            // An idle connection after a response.
            6 => {
                self.stream.write_all(&plain("/version"))?;
                self.wait(|_| Ok(()))
            }
            // Streams with a closed window, and PINGs.
            7 => self.blocked("/openapi/v2", &[]),
            8 => self.blocked("/openapi/v3/apis/down.example.com/v1", &[]),
            9 => self.blocked("/openapi/v2", &[("range", &format!("bytes={}0-0", "0-0,".repeat(12_000)))]),
            // A window that opens byte by byte.
            10 => {
                self.http2(0)?;
                self.stream.write_all(&request(1, "/openapi/v2", &[WHO]))?;
                self.repeat(&frame(WINDOW_UPDATE, 0, 1, &1_u32.to_be_bytes()))
            }
            11 => {
                self.http2(65_535)?;
                self.repeat(&frame(PING, 0, 0, &[0; 8]).repeat(100))
            }
            // Requests that are cancelled immediately.
            12 => {
                self.http2(65_535)?;
                let mut stream = 1;
                self.wait_for(Duration::ZERO, |out| {
                    for _ in 0..50 {
                        out.write_all(&request(stream, "/openapi/v2", &[WHO]))?;
                        out.write_all(&frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes()))?;
                        stream += 2;
                    }
                    Ok(())
                })
            }
            // A head or a body without end.
            _ => {
                self.http2(65_535)?;
                self.stream.write_all(&frame(HEADERS, 0, 1, &fields(&get("/apis"))))?;
                let next = if number.is_multiple_of(2) { CONTINUATION } else { DATA };
                self.repeat(&frame(next, 0, 1, &[]).repeat(100))
            }
        }
    }

    fn http2(&mut self, window: u32) -> std::io::Result<()> {
        let settings = [&[0, 4][..], &window.to_be_bytes()].concat();
        self.stream.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, &settings), &frame(SETTINGS, ACK, 0, &[])].concat())
    }

    /// Opens a hundred streams whose windows allow no response, and sends a PING from time to time.
    fn blocked(&mut self, path: &str, more: &[(&str, &str)]) -> std::io::Result<()> {
        self.http2(0)?;
        let more = [&[WHO], more].concat();
        for n in 0..100 {
            self.stream.write_all(&request(n * 2 + 1, path, &more))?;
        }
        self.repeat(&frame(PING, 0, 0, &[0; 8]))
    }

    /// Sends the same bytes repeatedly, and reads the responses.
    fn repeat(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.wait_for(Duration::from_millis(100), |stream| {
            stream.write_all(bytes)?;
            stream.set_nonblocking(true)?;
            let mut buffer = [0; 16 << 10];
            let read = stream.read(&mut buffer);
            stream.set_nonblocking(false)?;
            match read {
                Ok(0) => Err(std::io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => Err(error),
                _ => Ok(()),
            }
        })
    }

    fn wait(&mut self, step: impl FnMut(&mut TcpStream) -> std::io::Result<()>) -> std::io::Result<()> {
        self.wait_for(STEP, step)
    }

    /// Repeats a step from time to time, until one fails.
    fn wait_for(
        &mut self,
        pause: Duration,
        mut step: impl FnMut(&mut TcpStream) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        while !self.shared.is_over() && self.began.elapsed() < LONGEST {
            step(&mut self.stream)?;
            sleep(pause);
        }
        Ok(())
    }
}
