"""Any sequence of messages is answered: requests about any position of any text, between edits, with wrong parameters,
about files that are not open. The server neither stops nor reports an internal error.

    pytest test_messages.py --kubeshape=../../target/debug/kubeshape --folder=FOLDER [--messages=3000]
"""

import os
import pathlib
import random
import signal

from marks import Server
from test_sessions import OWN, WORDS, texts

METHODS = [
    "textDocument/hover",
    "textDocument/completion",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/codeAction",
    "textDocument/inlayHint",
    "textDocument/documentSymbol",
    "workspace/executeCommand",
    "completionItem/resolve",
    "textDocument/nothing",
]
NOTIFICATIONS = [
    "workspace/didChangeWatchedFiles",
    "textDocument/didSave",
    "$/cancelRequest",
    "workspace/nothing",
]
ODD = [
    None,
    [],
    {},
    "",
    -1,
    1e300,
    {"textDocument": None},
    {"textDocument": {"uri": 1}},
    {"position": {"line": -1}},
]
INTERNAL = -32603
# A longer answer is a hang.
SECONDS = 60


def stopped(number, frame):
    raise TimeoutError(f"no answer after {SECONDS} seconds")


def test_any_messages_are_answered(request, tmp_path):
    option = request.config.getoption
    program = option("--kubeshape")
    program = str(pathlib.Path(program).resolve()) if os.sep in program else program
    numbers = random.Random(option("--seed"))
    found = texts(option("--folder") or [OWN], 40)
    names = [f"{number}.yaml" for number in range(len(found))] + [
        "templates/a.yaml",
        "kustomization.yaml",
        "b.json",
    ]
    for name, text in list(zip(names, found))[::2]:
        (tmp_path / name).write_text(text)
    said = tmp_path.parent / "said"
    server = Server([program, "lsp"], tmp_path, {}, said.open("w"))
    signal.signal(signal.SIGALRM, stopped)
    lines = {}
    kinds = {}
    for count in range(option("--messages")):
        name = numbers.choice(names)
        uri = (
            (tmp_path / name).as_uri()
            if numbers.random() < 0.98
            else numbers.choice(["untitled:a", "file://", "x", ""])
        )
        line = numbers.randrange(lines.get(uri, 3) + 2)
        at = {"line": line, "character": numbers.choice([0, 1, 2, 4, 7, 12, 200])}
        to = {"line": line + numbers.choice([0, 0, 0, 1, 30]), "character": numbers.choice([0, 3, 9])}
        document = {"uri": uri, "languageId": "yaml", "version": count}
        signal.alarm(SECONDS)
        match numbers.randrange(10):
            case 0:
                text = numbers.choice(found)
                lines[uri] = text.count("\n")
                server.notify("textDocument/didOpen", {"textDocument": {**document, "text": text}})
            case 1 | 2 | 3 | 4:
                changes = [{"range": {"start": at, "end": to}, "text": numbers.choice(WORDS)}]
                if numbers.random() < 0.02:
                    changes = [{"text": numbers.choice(found)}, *changes]
                server.notify("textDocument/didChange", {"textDocument": document, "contentChanges": changes})
            case 5 if numbers.random() < 0.3:
                server.notify("textDocument/didClose", {"textDocument": document})
                lines.pop(uri, None)
            case 6 if numbers.random() < 0.1:
                params = {"changes": [{"uri": uri, "type": numbers.choice([1, 2, 3])}]}
                server.notify(numbers.choice(NOTIFICATIONS), numbers.choice([params, *ODD]))
            case _:
                method = numbers.choice(METHODS)
                params = {"textDocument": document, "position": at, "range": {"start": at, "end": to}}
                params |= {"context": {"diagnostics": [], "includeDeclaration": True, "triggerKind": 1}}
                params |= {"newName": numbers.choice([*WORDS, "other"]), "command": "kubeshape.explainCode"}
                params |= {"arguments": [numbers.choice(["KS8101", "x", 1])]}
                params |= {"label": "a", "data": numbers.choice([None, {"kind": "Pod", "apiVersion": "v1"}])}
                answer = server.answer(method, params if numbers.random() < 0.9 else numbers.choice(ODD))
                error = answer.get("error", {})
                assert error.get("code") != INTERNAL, (method, params, error)
                kinds[method, "error" in answer] = kinds.get((method, "error" in answer), 0) + 1
    signal.alarm(SECONDS)
    server.end()
    signal.alarm(0)
    assert server.child.returncode == 0
    assert said.read_text() == ""
    # The others need a place with a name, or something that is offered.
    for method in METHODS[:3] + METHODS[6:9]:
        assert (method, False) in kinds, kinds
