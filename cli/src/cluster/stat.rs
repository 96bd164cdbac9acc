//! `kubeshape cache`.

use super::asked::{failed, folder};
use crate::args::{CacheArgs, CacheCommand};
use crate::error::{Fatal, describe};
use crate::report::{self, Setup};
use kubeshape_client::cache::{Bounds, Cache, Compacted};
use std::io;
use std::path::Path;
use std::time::Duration;

/// Runs the command. Returns whether nothing was damaged.
///
/// # Errors
/// The cache cannot be read or written.
pub(crate) fn cache(args: &CacheArgs, _: &Setup) -> Result<bool, Fatal> {
    let (folder_args, bounds) = match &args.command {
        CacheCommand::Stat(folder) | CacheCommand::Clear(folder) | CacheCommand::Verify(folder) => {
            (folder, Bounds::default())
        }
        CacheCommand::Compact { folder, max_size, max_age } => {
            let unused = Duration::from_secs(u64::from(*max_age) * 24 * 3600);
            (folder, Bounds { bytes: max_size.saturating_mul(1 << 20), unused, ..Bounds::default() })
        }
    };
    let path = folder(folder_args.cache.as_deref())?;
    // Showing a cache does not create one.
    if !path.exists() {
        report::print(format!("{} is empty\n", path.display()).as_bytes())?;
        return Ok(true);
    }
    let cache = Cache::open(&path, bounds).map_err(failed)?;
    let unusable = |error: io::Error| Fatal::Read { path: path.clone(), message: describe(&error) };
    let text = match &args.command {
        CacheCommand::Stat(_) => {
            let stat = cache.stat().map_err(unusable)?;
            let unfinished = match stat.unfinished {
                0 => String::new(),
                n => format!("unfinished  {n}\n"),
            };
            format!(
                "folder      {}\nclusters    {}\ndocuments   {}\nsize        {}\n{unfinished}",
                path.display(),
                stat.clusters,
                stat.documents,
                size(stat.bytes)
            )
        }
        CacheCommand::Compact { .. } => deleted(&path, cache.compact().map_err(unusable)?),
        CacheCommand::Clear(_) => deleted(&path, cache.clear().map_err(unusable)?),
        CacheCommand::Verify(_) => {
            let verified = cache.verify().map_err(unusable)?;
            let text =
                format!("{} entries are whole; {} were damaged, and deleted\n", verified.whole, verified.damaged);
            report::print(text.as_bytes())?;
            return Ok(verified.damaged == 0);
        }
    };
    report::print(text.as_bytes())?;
    Ok(true)
}

fn deleted(path: &Path, compacted: Compacted) -> String {
    if compacted.is_busy {
        return format!("{} is being compacted by another process\n", path.display());
    }
    format!("deleted {} entries, {}\n", compacted.entries, size(compacted.bytes))
}

/// Formats a size for people: `512 bytes`, `3.4 MiB`.
pub(super) fn size(bytes: u64) -> String {
    // In tenths of the unit.
    let (mut tenths, mut unit) = (bytes.saturating_mul(10), "bytes");
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if tenths < 10_240 {
            break;
        }
        (tenths, unit) = (tenths / 1024, larger);
    }
    if unit == "bytes" { format!("{bytes} bytes") } else { format!("{}.{} {unit}", tenths / 10, tenths % 10) }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_for_people() {
        let sizes = [0, 1023, 1024, 8_600_000, u64::MAX].map(size);
        assert_eq!(sizes, ["0 bytes", "1023 bytes", "1.0 KiB", "8.2 MiB", "1677721.5 TiB"]);
    }
}
