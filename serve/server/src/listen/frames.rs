//! The heads of HTTP/2 frames (RFC 9113, 4.1) on their way through a connection.

/// What a client sends first if it speaks HTTP/2 (RFC 9113, 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
const END_STREAM: u8 = 1;

/// A frame that has passed completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// The type.
    pub(super) kind: u8,
    flags: u8,
    pub(super) stream: u32,
    /// Bytes after the head.
    pub(super) length: usize,
}

impl Frame {
    /// Returns whether its sender sends nothing more on the stream.
    pub(super) fn ends_stream(self) -> bool {
        self.kind == RST_STREAM || (matches!(self.kind, DATA | HEADERS) && self.flags & END_STREAM != 0)
    }
}

/// The frames of one direction.
#[derive(Debug, Default)]
pub(super) struct Frames {
    head: [u8; 9],
    /// Known bytes of the head.
    known: usize,
    /// Bytes of the payload that are still to come.
    left: usize,
}

impl Frames {
    /// Reads the next bytes, and calls `each` for every frame that ends in them.
    pub(super) fn pass(&mut self, mut bytes: &[u8], mut each: impl FnMut(Frame)) {
        loop {
            if self.known < self.head.len() {
                let taken = (self.head.len() - self.known).min(bytes.len());
                self.head[self.known..self.known + taken].copy_from_slice(&bytes[..taken]);
                self.known += taken;
                bytes = &bytes[taken..];
                if self.known < self.head.len() {
                    return;
                }
                self.left = self.frame().length;
            }
            let taken = self.left.min(bytes.len());
            self.left -= taken;
            bytes = &bytes[taken..];
            if self.left > 0 {
                return;
            }
            each(self.frame());
            self.known = 0;
            if bytes.is_empty() {
                return;
            }
        }
    }

    fn frame(&self) -> Frame {
        let [a, b, c, kind, flags, stream @ ..] = self.head;
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        Frame { kind, flags, stream: u32::from_be_bytes(stream) & 0x7fff_ffff, length }
    }
}

/// The protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// This many bytes of the preface of HTTP/2 were read.
    Unknown(usize),
    Http1,
    Http2,
}

impl Protocol {
    /// Reads the next bytes from the client. Returns those after the preface.
    pub(super) fn detect<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let Protocol::Unknown(known) = *self else { return bytes };
        let rest = &PREFACE[known..];
        let taken = rest.len().min(bytes.len());
        *self = if rest[..taken] != bytes[..taken] {
            Protocol::Http1
        } else if taken == rest.len() {
            Protocol::Http2
        } else {
            Protocol::Unknown(known + taken)
        };
        &bytes[taken..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u32, length: usize) -> Vec<u8> {
        let mut out = (length as u32).to_be_bytes()[1..].to_vec();
        out.extend([kind, flags]);
        out.extend(stream.to_be_bytes());
        out.resize(out.len() + length, b'x');
        out
    }

    #[test]
    fn frames_are_found_wherever_the_bytes_are_cut() {
        let all = [frame(HEADERS, 5, 1, 3), frame(4, 0, 0, 0), frame(DATA, 0, 1, 300), frame(6, 0, 0, 8)].concat();
        let expected = [(HEADERS, true, 1, 3), (4, false, 0, 0), (DATA, false, 1, 300), (6, false, 0, 8)];
        for step in [1, 2, 5, 9, 10, 300, 1000] {
            let (mut frames, mut found) = (Frames::default(), Vec::new());
            for bytes in all.chunks(step) {
                frames.pass(bytes, |frame| found.push((frame.kind, frame.ends_stream(), frame.stream, frame.length)));
            }
            assert_eq!(found, expected, "{step}");
        }
    }

    #[test]
    fn the_preface_identifies_the_protocol() {
        let sent = [PREFACE, b"rest"].concat();
        for step in [1, 7, 24, 100] {
            let (mut protocol, mut rest) = (Protocol::Unknown(0), Vec::new());
            sent.chunks(step).for_each(|bytes| rest.extend(protocol.detect(bytes)));
            assert_eq!((protocol, rest.as_slice()), (Protocol::Http2, &b"rest"[..]), "{step}");
        }
        let mut protocol = Protocol::Unknown(0);
        protocol.detect(b"P");
        protocol.detect(b"UT / HTTP/1.1\r\n");
        assert_eq!(protocol, Protocol::Http1);
    }
}
