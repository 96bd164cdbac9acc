//! The record of an output folder: the files that kubeshape wrote there, and their contents.
//!
//! It is in the folder as `.kubeshape.json`. Files are deleted, or skipped among the inputs, only if the record names
//! them and their contents are unchanged. A record may come from someone else, with a pull request for example, so its
//! names are checked as if they were malicious: they cannot leave the folder, neither by `..` nor by a link, and they
//! can only be names that a result may have.

use super::what;
use crate::error::describe;
use kubeshape_input::{Code, Finding, Limits};
use kubeshape_registry::describe as kind_of;
use kubeshape_yaml::{Kind, Node};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Component, Path, PathBuf};

/// The name of the record.
pub(crate) const NAME: &str = ".kubeshape.json";
/// The format that this release writes and reads.
const FORMAT: &str = "1";
/// The text before a digest.
const SHA256: &str = "sha256:";
/// An explanation for people who find the file.
const ABOUT: &str = "Files that kubeshape wrote. `kubeshape convert --prune` may delete them.";
/// Larger records are not read.
const LARGEST: u64 = 64 << 20;

/// The SHA-256 of a file's bytes.
pub(crate) type Digest = [u8; 32];

/// The files that kubeshape wrote into a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// The digests by file name. The name is relative to the folder, with `/` as the separator.
    files: BTreeMap<String, Digest>,
}

/// What the folder has at a name of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum There {
    /// Nothing.
    Nothing,
    /// The file that kubeshape wrote.
    Result(PathBuf),
    /// Something else: other content, a link or a folder.
    Other,
}

impl Record {
    /// Reads the record of a folder. Returns `None` if it has none.
    ///
    /// # Errors
    /// A finding, if there is a record that cannot be used.
    pub(crate) fn read(folder: &Path) -> Result<Option<Record>, Box<Finding>> {
        let path = folder.join(NAME);
        let name = path.to_string_lossy();
        let wrong = |detail: String| Box::new(Finding::new(Code::DamagedRecord, detail).in_input(name.as_ref()));
        // A link is not followed.
        let metadata = match fs::symlink_metadata(&path) {
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(wrong(describe(&error))),
            Ok(metadata) => metadata,
        };
        if !metadata.is_file() {
            return Err(wrong(format!("found {}, expected a file", what(&metadata))));
        }
        if metadata.len() > LARGEST {
            return Err(wrong(format!("it has {} bytes; the limit is {LARGEST}", metadata.len())));
        }
        let bytes = fs::read(&path).map_err(|error| wrong(describe(&error)))?;
        Record::parse(&name, &bytes).map(Some)
    }

    fn parse(name: &str, bytes: &[u8]) -> Result<Record, Box<Finding>> {
        let input = kubeshape_input::read(name, bytes, Limits::default());
        if let Some(mut finding) = input.findings.into_iter().next() {
            finding.code = Code::DamagedRecord;
            return Err(Box::new(finding));
        }
        let [document] = input.documents.as_slice() else {
            let detail = format!("found {} documents, expected one", input.documents.len());
            return Err(Box::new(Finding::new(Code::DamagedRecord, detail).in_input(name)));
        };
        let root = document.root();
        let wrong = |node: Node<'_>, detail: String| {
            Box::new(document.source().finding(Code::DamagedRecord, node.span(), detail))
        };
        let member = |name: &str, kind: Kind, expected: &str| {
            let node = root.get(name).ok_or_else(|| wrong(root, format!("found no {name}, expected {expected}")))?;
            if node.kind() != kind {
                return Err(wrong(node, format!("found {}, expected {expected}", kind_of(node))));
            }
            Ok(node)
        };
        if root.kind() != Kind::Map {
            return Err(wrong(root, format!("found {}, expected an object", kind_of(root))));
        }
        let format = member("format", Kind::Int, "the number of the format")?;
        if format.text() != FORMAT {
            let detail = format!("found format {}, expected format {FORMAT}, which this release reads", format.text());
            return Err(wrong(format, detail));
        }
        let mut record = Record::default();
        for (key, value) in member("files", Kind::Map, "an object of files and their digests")?.pairs() {
            if !is_name(key.text()) {
                let detail = format!("found {:?}, expected the name of a result in this folder", key.text());
                return Err(wrong(key, detail));
            }
            let digest = (value.kind() == Kind::Str).then(|| parsed(value.text())).flatten();
            let Some(digest) = digest else {
                return Err(wrong(value, format!("expected {SHA256} and 64 hexadecimal digits")));
            };
            record.files.insert(key.text().to_owned(), digest);
        }
        Ok(record)
    }

    /// Returns the record as a file: JSON with one line per file, so that its changes can be read and merged.
    pub(crate) fn print(&self) -> Vec<u8> {
        let mut out = format!("{{\n  \"about\": {ABOUT:?},\n  \"format\": {FORMAT},\n  \"files\": {{");
        for (at, (name, digest)) in self.files.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let name = serde_json::Value::from(name.as_str());
            let _ = write!(out, "{comma}\n    {name}: \"{SHA256}{}\"", printed(digest));
        }
        out.push_str(if self.files.is_empty() { "}\n}\n" } else { "\n  }\n}\n" });
        out.into_bytes()
    }

    /// Returns the names of all files, sorted.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns whether the record names this file.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// Returns whether the record names a file with this digest.
    #[cfg(feature = "cluster")]
    pub(crate) fn has_as(&self, name: &str, digest: &Digest) -> bool {
        self.files.get(name) == Some(digest)
    }

    /// Adds a file, unless its name is one that no result can have.
    pub(crate) fn add(&mut self, name: &str, digest: Digest) {
        if is_name(name) {
            self.files.insert(name.to_owned(), digest);
        }
    }

    /// Removes a file from the record.
    pub(crate) fn remove(&mut self, name: &str) {
        self.files.remove(name);
    }

    /// Returns what the folder has at a name now. Links are not followed.
    pub(crate) fn there(&self, folder: &Path, name: &str) -> There {
        let Some(digest) = self.files.get(name) else { return There::Other };
        let mut path = folder.to_owned();
        let mut parts = name.split('/').peekable();
        while let Some(part) = parts.next() {
            path.push(part);
            match fs::symlink_metadata(&path) {
                Err(error) if is_missing(&error) => return There::Nothing,
                Ok(metadata) if parts.peek().is_some() && metadata.is_dir() => {}
                Ok(metadata) if parts.peek().is_none() && metadata.is_file() => {}
                _ => return There::Other,
            }
        }
        if digest_of(&path).is_ok_and(|now| now == *digest) { There::Result(path) } else { There::Other }
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Computes the digest of a file.
///
/// # Errors
/// It cannot be read.
pub(crate) fn digest_of(path: &Path) -> io::Result<Digest> {
    let mut hash = Sha256::new();
    let mut file = BufReader::new(File::open(path)?);
    loop {
        let read = file.fill_buf()?;
        if read.is_empty() {
            return Ok(hash.finalize().into());
        }
        hash.update(read);
        let length = read.len();
        file.consume(length);
    }
}

/// Returns whether a name is that of a reference page: `index.md`, or `apps.v1/Deployment.md`. No other Markdown file
/// is a result.
pub(crate) fn is_page(name: &str) -> bool {
    let is_version =
        |text: &str| text.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    match name.split_once('/') {
        None => name == "index.md",
        Some((folder, file)) => {
            !file.contains('/')
                && file.strip_suffix(".md").is_some_and(|kind| !kind.is_empty())
                && folder.rsplit_once('.').is_some_and(|(group, version)| !group.is_empty() && is_version(version))
        }
    }
}

/// Returns whether a result may have this name. It must be a relative path that stays in the folder and enters no
/// hidden folder, to a file in one of the formats.
fn is_name(name: &str) -> bool {
    let is_plain = |part: &str| {
        let mut components = Path::new(part).components();
        matches!((components.next(), components.next()), (Some(Component::Normal(only)), None) if only == part)
            && !part.contains('\\')
            && !part.chars().any(char::is_control)
    };
    let (folders, file) = name.rsplit_once('/').map_or((None, name), |(folders, file)| (Some(folders), file));
    let ending = Path::new(file).extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    is_plain(file)
        && file != NAME
        && (is_page(name) || matches!(ending.as_deref(), Some("json" | "yaml" | "yml" | "pb")))
        && folders.is_none_or(|folders| folders.split('/').all(|part| is_plain(part) && !part.starts_with('.')))
}

fn printed(digest: &Digest) -> String {
    digest.iter().fold(String::with_capacity(64), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

fn parsed(text: &str) -> Option<Digest> {
    let digits = text.strip_prefix(SHA256)?;
    if digits.len() != 64 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut digest = Digest::default();
    for (at, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(text: &str) -> Digest {
        Sha256::digest(text.as_bytes()).into()
    }

    #[test]
    fn a_printed_record_reads_back_the_same() -> Result<(), Box<Finding>> {
        let mut record = Record::default();
        assert_eq!(Record::parse("r", &record.print())?, record);
        record.add("swagger.json", digest(""));
        record.add("a.b/v1.v3.json", digest("x"));
        record.add("../x.json", digest("y"));
        let text = String::from_utf8_lossy(&record.print()).into_owned();
        let expected = "{
  \"about\": \"Files that kubeshape wrote. `kubeshape convert --prune` may delete them.\",
  \"format\": 1,
  \"files\": {
    \"a.b/v1.v3.json\": \"sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881\",
    \"swagger.json\": \"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"
  }
}
";
        assert_eq!(text, expected);
        assert_eq!(Record::parse("r", text.as_bytes())?, record);
        Ok(())
    }

    #[test]
    fn names_that_no_result_can_have_are_rejected() {
        for name in ["swagger.json", "a.b/v1.v3.json", "a/b/c.yaml", ".._openapi.json", "é.pb", "X.YML"] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "",
            ".json",
            "/etc/x.json",
            "../x.json",
            "a/../x.json",
            "a/../../x.json",
            "./x.json",
            "a//x.json",
            "a/",
            "..",
            "a\\..\\x.json",
            "x\0.json",
            "x\n.json",
            ".git/x.json",
            "a/.git/x.json",
            ".kubeshape.json",
            "a/.kubeshape.json",
            "README.md",
            "docs/README.md",
            "a.b/README.md",
            "x/apps.v1/Deployment.md",
            "src/main.rs",
            "json",
        ] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn a_damaged_record_is_a_finding_with_its_position() {
        let of = |text: &str| match Record::parse("r", text.as_bytes()) {
            Ok(record) => format!("{record:?}"),
            Err(finding) => format!("{}: {}", finding.location(), finding.detail),
        };
        for (text, expected) in [
            ("", "r: found 0 documents, expected one"),
            ("[]", "r:1:1: found a list, expected an object"),
            ("{}", "r:1:1: found no format, expected the number of the format"),
            (r#"{"format": "1"}"#, "r:1:12: found a string, expected the number of the format"),
            (r#"{"format": 2}"#, "r:1:12: found format 2, expected format 1, which this release reads"),
            (r#"{"format": 1}"#, "r:1:1: found no files, expected an object of files and their digests"),
            (r#"{"format": 1, "files": []}"#, "r:1:24: found a list, expected an object of files and their digests"),
            (
                r#"{"format": 1, "files": {"../x.json": ""}}"#,
                "r:1:25: found \"../x.json\", expected the name of a result in this folder",
            ),
            (r#"{"format": 1, "files": {"x.json": ""}}"#, "r:1:35: expected sha256: and 64 hexadecimal digits"),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
        // What version control writes for a conflict.
        let conflict = "{\n<<<<<<< HEAD\n  \"format\": 1,\n=======\n";
        assert!(of(conflict).starts_with("r:"), "{}", of(conflict));
    }

    #[test]
    fn only_the_written_file_counts_as_a_result() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let folder = dir.path();
        fs::create_dir_all(folder.join("a.b/v2.v3.json"))?;
        fs::write(folder.join("a.b/v1.v3.json"), "x")?;
        fs::write(folder.join("swagger.json"), "y")?;
        let mut record = Record::default();
        for name in ["a.b/v1.v3.json", "a.b/v2.v3.json", "swagger.json", "gone.json", "swagger.json/x.json"] {
            record.add(name, digest("x"));
        }
        assert_eq!(record.there(folder, "a.b/v1.v3.json"), There::Result(folder.join("a.b/v1.v3.json")));
        assert_eq!(record.there(folder, "a.b/v2.v3.json"), There::Other);
        assert_eq!(record.there(folder, "swagger.json"), There::Other);
        assert_eq!(record.there(folder, "gone.json"), There::Nothing);
        assert_eq!(record.there(folder, "swagger.json/x.json"), There::Other);
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            symlink("a.b", folder.join("link"))?;
            symlink("a.b/v1.v3.json", folder.join("link.json"))?;
            for name in ["link/v1.v3.json", "link.json"] {
                record.add(name, digest("x"));
                assert_eq!(record.there(folder, name), There::Other, "{name}");
            }
        }
        Ok(())
    }
}
