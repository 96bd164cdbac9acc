//! Listening sockets.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

/// Bytes that the system buffers for a client that reads slowly. With a larger buffer, which Linux would choose, it
/// could take minutes to see that a slow client reads at all.
const SEND_BUFFER: u32 = 192 << 10;
/// Connections that the system may keep until they are accepted. It uses its own limit if that is lower (Linux:
/// `net.core.somaxconn`). A client that finds no place tries again after a second.
const BACKLOG: u32 = 65_535;

/// A listening socket.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener, SocketFile),
}

/// An accepted connection.
#[derive(Debug)]
pub(crate) enum Accepted {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Listener {
    /// Listens on a TCP address; port 0 chooses a free one.
    ///
    /// # Errors
    /// The address is in use, does not belong to this machine, or is not permitted.
    #[allow(clippy::unused_async)] // It must be called within a runtime.
    pub async fn tcp(address: SocketAddr) -> io::Result<Listener> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // Like Tokio's `bind`: an address whose last connections have just ended can be used.
        #[cfg(not(windows))]
        socket.set_reuseaddr(true)?;
        // Accepted connections inherit it.
        socket.set_send_buffer_size(SEND_BUFFER)?;
        socket.bind(address)?;
        Ok(Listener { socket: Socket::Tcp(socket.listen(BACKLOG)?) })
    }

    /// Listens on a socket file that only this user may use (mode 0600). The file of a process that has ended is
    /// replaced.
    ///
    /// # Errors
    /// Another process listens on it, it is not a socket, or it cannot be created.
    #[cfg(unix)]
    pub async fn unix(path: &Path) -> io::Result<Listener> {
        use std::fs::{self, Permissions};
        use std::os::unix::fs::{FileTypeExt, PermissionsExt};

        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
            Ok(found) if !found.file_type().is_socket() => {
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is a file that is no socket"));
            }
            Ok(_) => match UnixStream::connect(path).await {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(error),
                Ok(_) => {
                    return Err(io::Error::new(io::ErrorKind::AddrInUse, "another process listens on it"));
                }
            },
        }
        // It is renamed after its mode is set, so that no client can connect before. The name is random, and must not
        // exist: two processes may have the same number, in containers that share a folder.
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{:08x}", uuid::Uuid::new_v4().as_fields().0));
        let temporary = path.with_file_name(name);
        let socket = UnixListener::bind(&temporary)?;
        let named = fs::set_permissions(&temporary, Permissions::from_mode(0o600))
            .and_then(|()| fs::rename(&temporary, path))
            .and_then(|()| SocketFile::new(path));
        match named {
            Ok(file) => Ok(Listener { socket: Socket::Unix(socket, file) }),
            Err(error) => {
                let _ = fs::remove_file(&temporary);
                Err(error)
            }
        }
    }

    /// Returns the TCP address, with the port that was chosen.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.socket {
            Socket::Tcp(socket) => socket.local_addr().ok(),
            #[cfg(unix)]
            Socket::Unix(..) => None,
        }
    }

    /// Returns the path of the socket file.
    pub fn path(&self) -> Option<&Path> {
        match &self.socket {
            Socket::Tcp(_) => None,
            #[cfg(unix)]
            Socket::Unix(_, file) => Some(&file.path),
        }
    }

    pub(crate) async fn accept(&self) -> io::Result<Accepted> {
        match &self.socket {
            Socket::Tcp(socket) => {
                let (stream, _) = socket.accept().await?;
                // Responses are written as a whole, so there is nothing to wait for.
                stream.set_nodelay(true)?;
                Ok(Accepted::Tcp(stream))
            }
            #[cfg(unix)]
            Socket::Unix(socket, _) => Ok(Accepted::Unix(socket.accept().await?.0)),
        }
    }
}

/// The file of a socket. It is removed at the end if it is still the same file.
#[cfg(unix)]
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

#[cfg(unix)]
impl SocketFile {
    fn new(path: &Path) -> io::Result<SocketFile> {
        Ok(SocketFile { path: path.to_owned(), identity: identity(path)? })
    }
}

#[cfg(unix)]
impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|identity| identity == self.identity) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::symlink_metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}
