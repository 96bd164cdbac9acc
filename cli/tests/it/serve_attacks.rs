//! Attacks on `kubeshape serve` as a separate process, with limits on descriptors and memory.
#![cfg(target_os = "linux")]

use crate::common::Folder;
use crate::serve::{Server, crd};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Returns the peak memory of the process so far, in KiB.
fn memory(server: &Server) -> u64 {
    of_status(server, "VmHWM:")
}

/// Returns a value from the status of the process, in KiB.
fn of_status(server: &Server, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a figure of memory");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
fn descriptors_held_by_others_block_nobody_and_files_are_read_again() {
    let folder = Folder::new();
    folder.write("crds/gears.yaml", crd("a.example.com", "one"));
    // This sets the hard limit, so that the server cannot raise it.
    let server = Server::start_limited(&folder, "crds --watch", 200);
    let held: Vec<TcpStream> = (0..400).map(|_| TcpStream::connect(&server.address).expect("a connection")).collect();
    for n in 0..5 {
        let began = Instant::now();
        assert_eq!(server.get("/livez").0, 200);
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        // There are descriptors left for files.
        folder.write("crds/gears.yaml", crd("a.example.com", &format!("p{n}")));
        server.until("/openapi/v3/apis/a.example.com/v1", |_, body| body.contains(&format!("\"p{n}\"")));
        assert_eq!(server.get("/readyz").0, 200);
    }
    drop(held);
}

/// Returns a frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend(payload);
    out
}

/// Answers that need no other thread: each connection requests an object of 30 KB a hundred times, and reads nothing.
#[test]
fn short_answers_on_many_streams_take_bounded_memory_which_is_freed() {
    /// The memory in KiB that may remain.
    const LEFT: u64 = 96 << 10;
    let connections = 300 / kubeshape_corpus::one_in(4) as u64;
    // The maximum size of all responses, and a MiB for each connection.
    let most = (512 + connections) << 10;
    let folder = Folder::new();
    folder.write("crds/gears.yaml", crd("a.example.com", "one"));
    let lines = "a: b\\n".repeat(5_000);
    let map =
        r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"map","namespace":"default"},"data":{"a":"TEXT"}}"#;
    folder.write("objects/map.yaml", map.replace("TEXT", &lines));
    let server = Server::start(&folder, "crds --objects objects --max-connections 400");
    let path = "/api/v1/namespaces/default/configmaps/map";
    assert_eq!(server.get(path).0, 200);
    let before = of_status(&server, "VmRSS:");
    let mut block = vec![0x82, 0x86];
    for (name, value) in [(":authority", "localhost"), (":path", path), ("accept", "application/yaml")] {
        block.push(0);
        for text in [name, value] {
            block.push(text.len() as u8);
            block.extend(text.as_bytes());
        }
    }
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    // No stream has room for its answer.
    bytes.extend(frame(4, 0, 0, &[0, 4, 0, 0, 0, 0]));
    (0..100).for_each(|n| bytes.extend(frame(1, 5, n * 2 + 1, &block)));
    bytes.extend(frame(6, 0, 0, b"the-ping"));
    let streams: Vec<TcpStream> = (0..connections)
        .map(|_| {
            let mut stream = TcpStream::connect(&server.address).expect("a connection");
            stream.set_write_timeout(Some(Duration::from_secs(30))).expect("a timeout");
            stream.write_all(&bytes).expect("sent");
            stream
        })
        .collect();
    // The server may close connections from which it accepts no more requests.
    for mut stream in &streams {
        stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
        let (mut got, mut buffer): (Vec<u8>, _) = (Vec::new(), [0; 4096]);
        while !got.windows(8).any(|bytes| bytes == b"the-ping") {
            match stream.read(&mut buffer) {
                Ok(n) if n > 0 => got.extend(&buffer[..n]),
                _ => break,
            }
        }
    }
    assert_eq!(server.get("/livez").0, 200);
    let peak = memory(&server);
    assert!(peak > before + (64 << 10), "{peak} KiB: the attack does nothing");
    assert!(peak < before + most, "{peak} KiB, {before} KiB before");
    drop(streams);
    let began = Instant::now();
    while of_status(&server, "VmRSS:") > before + LEFT {
        let now = of_status(&server, "VmRSS:");
        assert!(began.elapsed() < Duration::from_mins(1), "{now} KiB stay of {peak}, {before} KiB before");
        // A thread frees its memory when it works again.
        (0..20).for_each(|_| assert_eq!(server.get(path).0, 200));
    }
}

#[test]
fn many_ranges_on_many_streams_take_little_memory() {
    let folder = Folder::new();
    let long = "x".repeat(100_000);
    let described =
        crd("a.example.com", "one").replace("type: object,", &format!("type: object, description: {long},"));
    folder.write("crds/gears.yaml", described);
    let server = Server::start(&folder, "crds");
    let before = memory(&server);
    let ranges = format!("bytes={}", "0-0,".repeat(15_000));
    let mut block = vec![0x82, 0x86];
    let mut text = |name: &str, value: &str| {
        block.push(0);
        for text in [name, value] {
            if text.len() < 127 {
                block.push(text.len() as u8);
            } else {
                let mut rest = text.len() - 127;
                block.push(127);
                while rest >= 128 {
                    block.push((rest % 128) as u8 | 128);
                    rest /= 128;
                }
                block.push(rest as u8);
            }
            block.extend(text.as_bytes());
        }
    };
    text(":authority", "localhost");
    text(":path", "/openapi/v3/apis/a.example.com/v1");
    text("range", &ranges);
    let mut streams = Vec::new();
    for _ in 0..5 {
        let mut stream = TcpStream::connect(&server.address).expect("a connection");
        stream.set_write_timeout(Some(Duration::from_secs(5))).expect("a timeout");
        // No stream has room for its answer.
        let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        bytes.extend(frame(4, 0, 0, &[0, 4, 0, 0, 0, 0]));
        for n in 0..100 {
            let mut parts = block.chunks(16_384);
            bytes.extend(frame(1, 1, n * 2 + 1, parts.next().expect("a part")));
            let rest: Vec<&[u8]> = parts.collect();
            for (place, part) in rest.iter().enumerate() {
                bytes.extend(frame(9, if place + 1 == rest.len() { 4 } else { 0 }, n * 2 + 1, part));
            }
        }
        stream.write_all(&bytes).expect("sent");
        streams.push(stream);
    }
    // A PING is answered when all requests before it have been read.
    for stream in &mut streams {
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
        stream.write_all(&frame(6, 0, 0, b"the-ping")).expect("sent");
        let mut got: Vec<u8> = Vec::new();
        let mut buffer = [0; 4096];
        while !got.windows(8).any(|bytes| bytes == b"the-ping") {
            let n = stream.read(&mut buffer).expect("an answer");
            assert!(n > 0, "the connection ended");
            got.extend(&buffer[..n]);
        }
    }
    assert_eq!(server.get("/livez").0, 200);
    let grown = memory(&server) - before;
    assert!(grown < 64 << 10, "{grown} KiB for 500 requests");
}
