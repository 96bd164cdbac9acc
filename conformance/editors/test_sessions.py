"""Sessions of an editor over real files: what `kubeshape lsp` shows after random edits is what `kubeshape validate` and
`kubeshape check` print about the same text, byte for byte, and what a new session shows.

    pip install -r requirements.txt
    pytest test_sessions.py --kubeshape=../../target/debug/kubeshape --folder=FOLDER
"""

import asyncio
import hashlib
import json
import os
import pathlib
import random
import subprocess

import pytest
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient, client_capabilities

HERE = pathlib.Path(__file__).resolve().parent
# The inputs of the project are always there.
OWN = HERE / "../../corpus"
# Larger files only take longer.
LONGEST = 100_000
EDITS = 8
WORDS = [
    "x",
    "\n",
    "---\n",
    ": ",
    "'",
    "{",
    "- ",
    "#",
    " ",
    "é",
    "𝄞",
    "1",
    "\n\n",
    "  ",
    "kind: Pod\n",
    "&a ",
    "|\n",
]
# The last in the order of files, so that its diagnostics are the last.
LAST = "zzzz.yaml"
EMPTY = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: last}\n"


def is_fit(text):
    """Returns whether a text is a manifest, and not a template. Its lines must be lines of this test, too."""
    odd = "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029\ufeff"
    return (
        "apiVersion:" in text
        and "metadata:" in text
        and "{{" not in text
        and not any(char in text for char in odd)
    )


def texts(folders, count):
    """Returns the texts of at most `count` files of folders: those with the smallest hashes of their contents."""
    found = {}
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.y*ml")):
            data = path.read_bytes()
            try:
                text = data.decode()
            except UnicodeDecodeError:
                continue
            if len(data) <= LONGEST and is_fit(text):
                found[hashlib.sha256(data).hexdigest()] = text
    return [text for _, text in sorted(found.items())][:count]


@pytest.fixture(scope="module")
def folder(request, tmp_path_factory):
    """A folder with the files. Their order is that of their numbers."""
    option = request.config.getoption
    out = tmp_path_factory.mktemp("files")
    for number, text in enumerate(texts(option("--folder") or [OWN], option("--count"))):
        (out / f"{number:03}.yaml").write_text(text)
    (out / LAST).write_text(EMPTY)
    # `validate` uses the policies that it names.
    (out / "kubeshape.toml").write_text("[lsp]\nignore-workspace-policies = true\n")
    return out


@pytest.fixture
def program(request):
    found = request.config.getoption("--kubeshape")
    return str(pathlib.Path(found).resolve()) if os.sep in found else found


class Editor:
    """An editor with one server."""

    def __init__(self, client, folder):
        self.client = client
        self.folder = folder
        self.versions = {}
        self.shown = {}
        self.news = asyncio.Event()

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params):
            self.shown[params.uri] = (params.version, [diagnostic.data for diagnostic in params.diagnostics])
            self.news.set()

        @client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params):
            """The server asks to be told of files. No other program changes them here."""

    def uri(self, name):
        return (self.folder / name).as_uri()

    def open(self, name, text):
        self.versions[name] = 1
        document = types.TextDocumentItem(uri=self.uri(name), language_id="yaml", version=1, text=text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=document))

    def change(self, name, span, text):
        self.versions[name] += 1
        document = types.VersionedTextDocumentIdentifier(uri=self.uri(name), version=self.versions[name])
        change = types.TextDocumentContentChangePartial(range=span, text=text)
        params = types.DidChangeTextDocumentParams(text_document=document, content_changes=[change])
        self.client.text_document_did_change(params)

    async def diagnostics(self, name):
        """Returns the diagnostics of the newest text of a file."""
        while self.shown.get(self.uri(name), (0, []))[0] != self.versions[name]:
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), 120)
        return self.shown[self.uri(name)][1]


async def connect(program, folder):
    client = LanguageClient(converter_factory=default_converter)
    await client.start_io(program, "lsp")
    where = types.WorkspaceFolder(uri=folder.as_uri(), name="files")
    capabilities = client_capabilities("visual-studio-code")
    params = types.InitializeParams(
        capabilities=capabilities, root_uri=folder.as_uri(), workspace_folders=[where]
    )
    editor = Editor(client, folder)
    await client.initialize_session(params)
    return editor


async def stop(editor):
    await editor.client.shutdown_session()
    await editor.client.stop()


def units(text):
    """Returns the length of a text as the protocol counts it."""
    return len(text.encode("utf-16-le")) // 2


def position(text, offset):
    """Returns a position in the protocol's units."""
    line = text.count("\n", 0, offset)
    return types.Position(line, units(text[text.rfind("\n", 0, offset) + 1 : offset]))


def edit(text, numbers):
    """Returns a random edit of a text: where it begins and ends, and what is typed."""
    start = numbers.randrange(len(text) + 1)
    end = min(start + numbers.choice([0, 0, 0, 1, 2, 30]), len(text))
    if numbers.random() < 0.2:
        # A whole line.
        start = text.rfind("\n", 0, start) + 1
        end = text.find("\n", start) + 1 or len(text)
        return start, end, numbers.choice(["", "", text[start:end] * 2])
    return start, end, numbers.choice(WORDS)


def line_of(finding):
    """Returns a finding as a line. A message has its members in another order than the output of commands."""
    return json.dumps(finding, ensure_ascii=False, sort_keys=True)


def findings(program, folder, arguments):
    """Returns what a command finds in files."""
    command = [program, *arguments, "--output-format", "json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    # Without a line: said only of files that a command names, such as that a file has no objects.
    return [finding for finding in found if "code" in finding and finding["line"] is not None]


def printed(program, folder, names):
    """Returns what the commands print about the files of a folder: lines of JSON, by file. Definitions are checked file
    by file, because an editor does not compare them with those of other files."""
    out = {}
    found = findings(program, folder, ["validate", "--schemas", ".", *names])
    for finding in found:
        out.setdefault(finding["input"], []).append(line_of(finding))
    for name in names:
        # Both commands report what cannot be read.
        known = set(out.get(name, []))
        more = [line_of(finding) for finding in findings(program, folder, ["check", name])]
        out.setdefault(name, []).extend(line for line in more if line not in known)
    return out


@pytest.mark.asyncio
async def test_after_random_edits_diagnostics_are_those_of_the_commands(program, folder, request):
    numbers = random.Random(request.config.getoption("--seed"))
    now = {path.name: path.read_text() for path in sorted(folder.glob("*.yaml"))}
    editor = await connect(program, folder)
    for name, text in now.items():
        editor.open(name, text)
    await editor.diagnostics(LAST)
    edits = [name for name in now if name != LAST for _ in range(EDITS)]
    numbers.shuffle(edits)
    back = {}
    for count, name in enumerate(edits):
        text = now[name]
        # Half of the edits undo the one before, so that not all files end as texts that nobody can read.
        start, end, word = back.pop(name, None) or edit(text, numbers)
        after = text[:start] + word + text[end:]
        if not is_fit(after):
            continue
        if numbers.random() < 0.8:
            back[name] = (start, start + len(word), text[start:end])
        now[name] = after
        editor.change(name, types.Range(position(text, start), position(text, end)), word)
        # Most edits come while the server is busy with others: a definition makes it judge all files again.
        if count % 40 == 0:
            await editor.diagnostics(name)
    editor.change(LAST, types.Range(types.Position(0, 0), types.Position(0, 0)), "")
    await editor.diagnostics(LAST)
    typed = {name: [line_of(finding) for finding in await editor.diagnostics(name)] for name in now}
    await stop(editor)

    other = await connect(program, folder)
    for name, text in now.items():
        other.open(name, text)
    await other.diagnostics(LAST)
    opened = {name: [line_of(finding) for finding in await other.diagnostics(name)] for name in now}
    await stop(other)
    assert [name for name in now if typed[name] != opened[name]] == []

    for name, text in now.items():
        (folder / name).write_text(text)
    expected = printed(program, folder, sorted(now))
    different = {
        name: (typed[name], expected.get(name, [])) for name in now if typed[name] != expected.get(name, [])
    }
    print(len(now) - 1, "files,", len(edits), "edits,", sum(map(len, typed.values())), "diagnostics")
    for name, (shown, lines) in list(different.items())[:5]:
        print(name, "shows and misses", sorted(set(shown) - set(lines)), sorted(set(lines) - set(shown)))
    assert sorted(different) == []
