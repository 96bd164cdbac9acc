//! Pipes named by a path: `/dev/stdin`, `/dev/fd/63` of `<(command)`, a FIFO. Their bytes can be read only once.

use crate::error::Fatal;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The number of links that Linux follows.
const LINKS: usize = 40;
const STDIN: &str = "/dev/stdin";

/// Returns the path without symbolic links.
///
/// A descriptor such as `/dev/fd/63` is a link to a name that is in no folder (`pipe:[17]`). The path to the descriptor
/// is returned, because it can be opened.
///
/// # Errors
/// The file does not exist, or the path to it cannot be followed.
pub(super) fn canonical(path: &Path) -> io::Result<PathBuf> {
    let failed = match path.canonicalize() {
        Ok(canonical) => return Ok(canonical),
        Err(error) => error,
    };
    if fs::metadata(path).is_err() {
        return Err(failed);
    }
    let mut path = std::path::absolute(path)?;
    for _ in 0..LINKS {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { break };
        match fs::read_link(&path).map(|target| folder.join(target)) {
            Ok(target) if fs::symlink_metadata(&target).is_ok() => path = target,
            _ => return folder.canonicalize().map(|folder| folder.join(name)),
        }
    }
    Err(failed)
}

/// Returns the path of the standard input without symbolic links.
fn stdin() -> Option<PathBuf> {
    canonical(Path::new(STDIN)).ok()
}

/// Checks that an input that can be read only once is not named twice.
///
/// # Errors
/// Standard input or a pipe is named again.
pub(crate) fn check_once<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<(), Fatal> {
    let mut seen = BTreeSet::new();
    for path in paths {
        let is_dash = path.as_os_str() == "-";
        if !is_dash && !is_pipe(path) {
            continue;
        }
        let name = if is_dash { stdin() } else { canonical(path).ok() }.unwrap_or_else(|| path.clone());
        let is_stdin = is_dash || stdin().as_ref() == Some(&name);
        if !seen.insert(name) {
            let what = if is_stdin { "standard input".to_owned() } else { format!("the pipe {}", path.display()) };
            return Err(Fatal::Usage(format!("{what} can be read once: give `{}` once", path.display())));
        }
    }
    Ok(())
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo() || metadata.file_type().is_socket())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_descriptor_is_named_by_the_path_that_can_be_opened() -> io::Result<()> {
        let (reader, _writer) = io::pipe()?;
        let folder = tempfile::tempdir()?;
        let own = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), reader.as_raw_fd()));
        let link = folder.path().join("link");
        symlink(format!("/dev/fd/{}", reader.as_raw_fd()), &link)?;
        let by_number = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
        for path in [&own, &by_number, &link] {
            assert_eq!(canonical(path)?, own, "{}", path.display());
            assert!(is_pipe(path));
        }
        assert!(check_once([&by_number]).is_ok());
        let error = check_once([&by_number, &link]).expect_err("it is one pipe");
        let expected = format!("the pipe {0} can be read once: give `{0}` once", link.display());
        assert_eq!(error.to_string(), expected);
        Ok(())
    }

    #[test]
    fn a_descriptor_of_a_deleted_file_can_be_opened() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("a.yaml");
        fs::write(&path, "a: 1")?;
        let file = fs::File::open(&path)?;
        fs::remove_file(&path)?;
        let descriptor = format!("/dev/fd/{}", file.as_raw_fd());
        assert_eq!(fs::read(canonical(Path::new(&descriptor))?)?, b"a: 1");
        assert!(canonical(&path).is_err());
        Ok(())
    }

    #[test]
    fn files_can_be_named_again() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("a.yaml");
        fs::write(&path, "")?;
        assert!(check_once([&path, &path, &PathBuf::from("/dev/null"), &PathBuf::from("/dev/null")]).is_ok());
        assert!(check_once([&PathBuf::from("-"), &PathBuf::from("-")]).is_err());
        assert!(canonical(&folder.path().join("none")).is_err());
        Ok(())
    }
}
