//! Frames of HTTP/2, as no library would write them. `cargo xtask soak` uses them, too.

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const ACK: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

/// A frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend(payload);
    out
}

/// Returns header fields that do not use the table.
pub(crate) fn fields(fields: &[(&str, &str)]) -> Vec<u8> {
    let text = |out: &mut Vec<u8>, text: &str| {
        let mut length = text.len();
        if length < 127 {
            out.push(length as u8);
        } else {
            out.push(127);
            length -= 127;
            while length >= 128 {
                out.push((length % 128) as u8 | 128);
                length /= 128;
            }
            out.push(length as u8);
        }
        out.extend(text.as_bytes());
    };
    let mut out = Vec::new();
    for (name, value) in fields {
        out.push(0);
        text(&mut out, name);
        text(&mut out, value);
    }
    out
}

/// Returns the fields of a request.
pub(crate) fn get(path: &str) -> [(&str, &str); 4] {
    [(":method", "GET"), (":scheme", "http"), (":authority", "localhost"), (":path", path)]
}

/// A request as frames.
pub(crate) fn request(stream: u32, path: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let block = fields(&[&get(path)[..], more].concat());
    let mut parts = block.chunks(16_000);
    let first = parts.next().unwrap_or_default();
    let rest: Vec<&[u8]> = parts.collect();
    let end = |is_last: bool| if is_last { END_HEADERS } else { 0 };
    let mut out = frame(HEADERS, END_STREAM | end(rest.is_empty()), stream, first);
    for (place, part) in rest.iter().enumerate() {
        out.extend(frame(CONTINUATION, end(place + 1 == rest.len()), stream, part));
    }
    out
}
