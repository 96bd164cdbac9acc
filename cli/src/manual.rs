//! `kubeshape man` and `kubeshape completions`: descriptions of the command line for other programs.

use crate::args::{Cli, ManArgs};
use crate::error::Fatal;
use crate::output::Stage;
use crate::report;
use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory};
use kubeshape_schema::{Code, Selector, did_you_mean, nearest};
use kubeshape_validate::Release;
use std::io;

/// Prints the page of one command, or one with all commands, or writes a page per command.
///
/// # Errors
/// There is no such command, or a page cannot be written.
pub(crate) fn man(args: &ManArgs) -> Result<(), Fatal> {
    let mut command = Cli::command();
    command.build();
    if let Some(folder) = &args.output {
        let stage = Stage::default().within(Some(folder)).until_interrupted();
        for (name, text) in pages(&command).map_err(Fatal::Stdout)? {
            let staged = stage.write(folder.join(format!("{name}.1")), &text).inspect_err(|_| stage.abandon())?;
            stage.finish(staged)?;
        }
        return Ok(());
    }
    let mut out = Vec::new();
    let written = match args.command.as_slice() {
        [] => all(&command, &mut out),
        names => {
            let mut found = &command;
            for name in names {
                let known = found.get_subcommands().map(Command::get_name);
                let near = || did_you_mean(&nearest(name, known));
                found = match found.find_subcommand(name) {
                    Some(found) => found,
                    None => return Err(Fatal::Usage(format!("there is no command `{}`{}", names.join(" "), near()))),
                };
            }
            page(found, &format!("kubeshape-{}", names.join("-")), &mut out)
        }
    };
    written.map_err(Fatal::Stdout)?;
    report::print(&out)
}

/// Returns the page of each command, by its name: `kubeshape-lifecycle-lint`.
fn pages(command: &Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut out = Vec::new();
    let mut text = Vec::new();
    all(command, &mut text)?;
    out.push(("kubeshape".to_owned(), text));
    let mut left: Vec<(String, &Command)> = vec![("kubeshape".to_owned(), command)];
    while let Some((above, command)) = left.pop() {
        for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
            let name = format!("{above}-{}", below.get_name());
            let mut text = Vec::new();
            page(below, &name, &mut text)?;
            out.push((name.clone(), text));
            left.push((name, below));
        }
    }
    Ok(out)
}

/// Prints the page of a command.
fn page(command: &Command, name: &str, out: &mut Vec<u8>) -> io::Result<()> {
    clap_mangen::Man::new(command.clone()).title(name).render(out)
}

/// Prints a page with all commands.
fn all(command: &Command, out: &mut Vec<u8>) -> io::Result<()> {
    let page = clap_mangen::Man::new(command.clone());
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    page.render_options_section(out)?;
    for subcommand in command.get_subcommands() {
        section(subcommand, subcommand.get_name(), out)?;
        // `lifecycle` has its own commands.
        for nested in subcommand.get_subcommands().filter(|nested| nested.get_name() != "help") {
            section(nested, &format!("{} {}", subcommand.get_name(), nested.get_name()), out)?;
        }
    }
    page.render_extra_section(out)?;
    page.render_version_section(out)
}

/// Prints a command as a section of the page with all commands.
fn section(command: &Command, name: &str, out: &mut Vec<u8>) -> io::Result<()> {
    let page = clap_mangen::Man::new(command.clone());
    let mut section = Vec::new();
    page.render_synopsis_section(&mut section)?;
    page.render_description_section(&mut section)?;
    page.render_options_section(&mut section)?;
    page.render_extra_section(&mut section)?;
    // Headings of a command move one level down.
    let section = String::from_utf8_lossy(&section).replace(".SH EXTRA", ".SS NOTES").replace("\n.SH ", "\n.SS ");
    let section = section.replacen(".SH ", ".SS ", 1);
    out.extend_from_slice(format!(".SH \"KUBESHAPE {}\"\n", name.to_uppercase()).as_bytes());
    out.extend_from_slice(section.as_bytes());
    Ok(())
}

/// Prints a completion script, which contains codes and releases, and calls the command for kinds and paths of fields.
///
/// # Errors
/// Standard output is closed.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<(), Fatal> {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut with_values(Cli::command()), "kubeshape", &mut out);
    report::print(with_kinds(shell, &String::from_utf8_lossy(&out)).as_bytes())
}

/// Adds functions to a script that call the command: with `--complete`, `explain` and `sample` print the completions of
/// their argument. In bash they are not called after an option, because the script does not know which options have
/// values.
fn with_kinds(shell: clap_complete::Shell, script: &str) -> String {
    use clap_complete::Shell;
    match shell {
        Shell::Bash => format!("{script}{BASH}"),
        Shell::Fish => format!("{script}{FISH}"),
        Shell::Zsh => {
            let is_asked = |line: &str| {
                let line = line.trim_start();
                (line.starts_with("':resource -- ") || line.starts_with("':kind -- ")) && line.contains(":_default'")
            };
            let ask =
                |line| if is_asked(line) { line.replace(":_default'", ":_kubeshape_kinds'") } else { line.to_owned() };
            let lines: Vec<String> = script.lines().map(ask).collect();
            lines.join("\n").replacen("_kubeshape() {", &format!("{ZSH}_kubeshape() {{"), 1) + "\n"
        }
        _ => script.to_owned(),
    }
}

const BASH: &str = r#"
_kubeshape_with_kinds() {
    _kubeshape "$@"
    local cur="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
    case "${COMP_WORDS[1]}" in explain|sample) ;; *) return 0 ;; esac
    if [[ ${COMP_CWORD} -lt 2 || "${cur}" == -* || "${before}" == -* ]]; then return 0; fi
    COMPREPLY=( $(command kubeshape "${COMP_WORDS[@]:1:COMP_CWORD}" --complete 2>/dev/null) )
}
complete -F _kubeshape_with_kinds -o bashdefault -o default kubeshape
"#;

const ZSH: &str = r#"_kubeshape_kinds() {
    local -a found
    found=( ${(f)"$(command kubeshape "${(@Q)words[1,CURRENT-1]}" "$PREFIX" --complete 2>/dev/null)"} )
    compadd -a found
}

"#;

const FISH: &str = r#"
function __kubeshape_kinds
    set -l words (commandline -opc) (commandline -ct)
    command kubeshape $words[2..-1] --complete 2>/dev/null
end
complete -c kubeshape -n "__fish_seen_subcommand_from explain sample" -f -a "(__kubeshape_kinds)"
"#;

/// Adds values of options that are too many for help.
fn with_values(command: Command) -> Command {
    let codes = || Code::ALL.iter().map(ToString::to_string);
    let is_code = command.get_name() == "explain-code";
    let command = command.mut_args(|arg| {
        let values: Vec<String> = match arg.get_id().as_str() {
            "kubernetes" | "emulate" => Release::all().map(|release| release.to_string()).collect(),
            "deny" | "allow" => Selector::words().map(str::to_owned).chain(codes()).collect(),
            "code" | "codes" if is_code => codes().collect(),
            _ => return arg,
        };
        arg.value_parser(PossibleValuesParser::new(values))
    });
    command.mut_subcommands(with_values)
}
