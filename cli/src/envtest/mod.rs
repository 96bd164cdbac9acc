//! `kubeshape envtest`: the programs that test libraries start. They are this program under other names.

mod api_server;
mod etcd;
mod flags;

use crate::args::{EnvtestArgs, When};
use crate::error::Fatal;
use crate::report::{self, Setup};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A program as which this one runs if it has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    ApiServer,
    Etcd,
}

impl Program {
    const ALL: [Program; 2] = [Program::ApiServer, Program::Etcd];

    fn name(self) -> &'static str {
        match self {
            Program::ApiServer => "kube-apiserver",
            Program::Etcd => "etcd",
        }
    }

    /// Returns the program whose name the first argument is.
    pub(crate) fn of(arguments: &[OsString]) -> Option<Program> {
        let name = arguments.first().map(Path::new).and_then(Path::file_stem).and_then(OsStr::to_str)?;
        Program::ALL.into_iter().find(|program| program.name() == name)
    }

    /// Runs the program with these arguments. Returns whether it ended as it should.
    ///
    /// # Errors
    /// A flag has an invalid value, or the program cannot listen.
    pub(crate) fn run(self, arguments: &[OsString]) -> Result<bool, Fatal> {
        let texts: Result<Vec<String>, OsString> = arguments.iter().cloned().map(OsString::into_string).collect();
        let texts = texts.map_err(|flag| Fatal::Usage(format!("{} is not UTF-8", flag.display())))?;
        match self {
            Program::ApiServer => api_server::run(&texts),
            Program::Etcd => etcd::run(&texts),
        }
    }
}

/// Returns the settings of programs without a configuration file.
fn setup() -> Setup {
    Setup { color: When::Auto, rules: Vec::new() }
}

/// Prints a note to standard error.
fn note(text: &str) {
    // A note is optional: if standard error is closed, it is dropped.
    let _ = writeln!(io::stderr().lock(), "note: {}", report::clean::lines(text));
}

/// Runs the command.
///
/// # Errors
/// The folder cannot be written, or it has files of others with the names of the programs.
pub(crate) fn run(args: &EnvtestArgs) -> Result<(), Fatal> {
    let unreadable = |error: io::Error| Fatal::Read { path: "kubeshape".into(), message: error.to_string() };
    let own = std::env::current_exe().and_then(fs::canonicalize).map_err(unreadable)?;
    if stem(&own) != Some("kubeshape") {
        return Err(Fatal::Usage(format!(
            "this command links to the program that runs it, which has to be `kubeshape` and is {}",
            own.display()
        )));
    }
    let folder = args.output.as_path();
    let unwritable = |path: &Path| {
        let path = path.to_owned();
        move |source| Fatal::Write { path, source }
    };
    fs::create_dir_all(folder).map_err(unwritable(folder))?;
    let mut programs: Vec<(PathBuf, PathBuf)> =
        Program::ALL.into_iter().map(|program| (folder.join(executable(program.name())), own.clone())).collect();
    match kubectl(&own) {
        Some(found) => programs.push((folder.join(executable("kubectl")), found)),
        None => note("there is no kubectl in PATH; tests that call it need one"),
    }
    // All are checked before the first is written.
    for (path, target) in &programs {
        if !is_replaceable(path, target).map_err(unwritable(path))? {
            return Err(Fatal::Usage(format!(
                "{} is not a link of kubeshape: delete it, or name another folder",
                path.display()
            )));
        }
    }
    for (path, target) in &programs {
        write(path, target, args.copy).map_err(unwritable(path))?;
    }
    let folder = fs::canonicalize(folder).map_err(unwritable(folder))?;
    report::print(format!("export KUBEBUILDER_ASSETS={}\n", quoted(&folder)).as_bytes())
}

/// Returns the file name of a program.
fn executable(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

fn stem(path: &Path) -> Option<&str> {
    path.file_stem().and_then(OsStr::to_str)
}

/// Finds kubectl in PATH.
fn kubectl(own: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let name = executable("kubectl");
    let mut found = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(&name));
    found.find_map(|file| {
        let target = fs::canonicalize(file).ok()?;
        (target.is_file() && target != own).then_some(target)
    })
}

/// Returns whether a path is free, or has what this command wrote: a link to this program or to kubectl, or a copy.
fn is_replaceable(path: &Path, target: &Path) -> io::Result<bool> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    if metadata.is_symlink() {
        let link = fs::read_link(path)?;
        return Ok(link == target || (stem(&link) == stem(target) && link.is_absolute()));
    }
    Ok(metadata.is_file() && is_same(path, target)?)
}

/// Returns whether two files have the same content.
fn is_same(path: &Path, other: &Path) -> io::Result<bool> {
    if fs::metadata(path)?.len() != fs::metadata(other)?.len() {
        return Ok(false);
    }
    Ok(fs::read(path)? == fs::read(other)?)
}

/// Writes a link or a copy under a temporary name, and renames it. Links at either name are not followed.
fn write(path: &Path, target: &Path, copies: bool) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let temporary = tempfile::Builder::new().prefix(".kubeshape-").suffix(".tmp").tempdir_in(folder)?;
    let staged = temporary.path().join("program");
    if copies || cfg!(not(unix)) {
        let mut from = File::open(target)?;
        let mut to = OpenOptions::new().write(true).create_new(true).open(&staged)?;
        io::copy(&mut from, &mut to)?;
        to.set_permissions(from.metadata()?.permissions())?;
    } else {
        #[cfg(unix)]
        std::os::unix::fs::symlink(target, &staged)?;
    }
    fs::rename(&staged, path)
}

/// Quotes a path for a POSIX shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::{Program, quoted};
    use std::path::Path;

    #[test]
    fn names_decide_which_program_runs() {
        let of = |name: &str| Program::of(&[name.into(), "--help".into()]);
        assert_eq!(of("/assets/kube-apiserver"), Some(Program::ApiServer));
        assert_eq!(of("etcd"), Some(Program::Etcd));
        assert_eq!(of("kubeshape"), None);
        assert_eq!(quoted(Path::new("/a/it's")), r"'/a/it'\''s'");
    }
}
