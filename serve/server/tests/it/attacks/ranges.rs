//! Many ranges of one document.

use crate::common::{ask, endpoints, get, snapshot};
use http::StatusCode;
use kubeshape_server::http::Http;

#[tokio::test]
async fn many_ranges_get_the_whole_document() {
    let http = Http::new(endpoints(snapshot(0), true));
    let path = "/openapi/v3/apis/example.com/v1";
    let whole = get(&http, path, &[]).await;
    for count in [33, 16_000] {
        let range = format!("bytes={}0-0", "0-0,".repeat(count - 1));
        let got = get(&http, path, &[("range", &range)]).await;
        assert_eq!((got.code, got.body.len()), (StatusCode::OK, whole.body.len()));
        let head = ask(&http, "HEAD", path, &[("range", &range)]).await;
        assert_eq!(head.header("content-length"), whole.body.len().to_string());
    }
}

#[tokio::test]
async fn parts_are_as_long_as_announced() {
    let http = Http::new(endpoints(snapshot(0), true));
    let path = "/openapi/v3/apis/example.com/v1";
    let whole = get(&http, path, &[]).await;
    let range =
        format!("bytes={}", (0..32).map(|n| format!("{}-{}", n * 100, n * 100 + n)).collect::<Vec<_>>().join(","));
    let got = get(&http, path, &[("range", &range)]).await;
    assert_eq!(got.code, StatusCode::PARTIAL_CONTENT);
    assert_eq!(got.header("content-length"), got.body.len().to_string());
    let boundary = got.header("content-type").strip_prefix("multipart/byteranges; boundary=").expect("parts");
    let mut expected = String::new();
    for n in 0..32 {
        let (start, end) = (n * 100, n * 100 + n);
        let line = if n == 0 { "" } else { "\r\n" };
        let part = &whole.text()[start..=end];
        let length = whole.body.len();
        expected += line;
        expected += &["--", boundary, "\r\nContent-Range: bytes "].concat();
        expected += &[start, end].map(|n: usize| n.to_string()).join("-");
        expected += &["/", &length.to_string(), "\r\nContent-Type: application/json\r\n\r\n", part].concat();
    }
    assert_eq!(got.text(), expected + &format!("\r\n--{boundary}--\r\n"));
}
