//! The log: events of the server and its libraries on standard error.

use crate::args::{LogFormat, LogLevel, When};
use crate::report;
use std::io;
use tracing_subscriber::EnvFilter;

/// Starts logging. Libraries log warnings and errors only, and everything at level `trace`.
pub(super) fn begin(format: LogFormat, level: LogLevel, color: When) {
    let filter = match level {
        LogLevel::Error => "error",
        LogLevel::Warn => "warn",
        LogLevel::Info => "warn,kubeshape=info,kubeshape_server=info",
        LogLevel::Debug => "warn,kubeshape=debug,kubeshape_server=debug",
        LogLevel::Trace => "trace",
    };
    let builder = tracing_subscriber::fmt().with_env_filter(EnvFilter::new(filter)).with_writer(io::stderr);
    // A second call does not change anything.
    let _ = match format {
        LogFormat::Text => builder.with_ansi(report::is_coloured(color)).with_target(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).with_ansi(false).try_init(),
    };
}
