"""An API server for tests of programs that talk to one.

The server is `kubeshape serve --objects` in a process of its own. With pytest, the fixture `api_server` is one for each test,
and the fixture `api_world` a world of one server.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

__all__ = ["ApiServer", "World"]

_READY = "serving on "


class _Objects:
    """What a server and its worlds have in common."""

    url: str
    """The address: `http://127.0.0.1:40123`."""
    kubeconfig: Path
    """A file for clients. It exists as long as the server or the world."""

    def config(self) -> dict[str, object]:
        """Returns the kubeconfig as a dict."""
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "kubeshape", "cluster": {"server": self.url}}],
            "users": [{"name": "kubeshape", "user": {}}],
            "contexts": [
                {
                    "name": "kubeshape",
                    "context": {"cluster": "kubeshape", "user": "kubeshape", "namespace": "default"},
                }
            ],
            "current-context": "kubeshape",
        }

    def snapshot(self) -> int:
        """Keeps the current objects. Returns the number of the state, for `restore`."""
        return int(self._control("snapshot", {})["snapshot"])

    def restore(self, snapshot: int) -> None:
        """Returns to a state: what was created since is deleted, and what was changed or deleted is back.

        The state 0 is the one with which the server or the world began.
        """
        self._control("restore", {"snapshot": snapshot})

    def now(self) -> datetime:
        """Returns the time of a manual clock."""
        return datetime.fromisoformat(self._control("clock", None)["now"].replace("Z", "+00:00"))

    def advance(self, seconds: float) -> None:
        """Moves a manual clock."""
        self._control("clock", {"advanceSeconds": seconds})

    def _control(self, name: str, body: dict[str, float] | None, method: str | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/kubeshape/{name}", data=data, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                made: dict[str, Any] = json.load(answer)
                return made
        except urllib.error.HTTPError as error:
            with error:
                reason = json.loads(error.read()).get("message", "")
            raise RuntimeError(f"{name} of the server: {reason}") from None


class ApiServer(_Objects):
    """An API server with CustomResourceDefinitions and objects. It is a context manager.

    >>> import urllib.request
    >>> with ApiServer() as server:
    ...     with urllib.request.urlopen(server.url + "/api/v1/namespaces") as answer:
    ...         answer.status
    200
    """

    def __init__(
        self,
        schemas: Iterable[str | os.PathLike[str]] = (),
        *,
        objects: str | os.PathLike[str] | None = None,
        kubernetes: str | None = None,
        manual_clock: bool = False,
        arguments: Iterable[str] = (),
        timeout: float = 60,
    ) -> None:
        """Starts the server, and waits until it is ready.

        `schemas` are files and folders with CustomResourceDefinitions, `objects` is one with the first objects,
        `kubernetes` a release such as `1.36`, and `arguments` are others of `kubeshape serve`. A manual clock stands
        still until `advance` moves it.
        """
        self._folder = tempfile.TemporaryDirectory(prefix="kubeshape-")
        folder = Path(self._folder.name)
        own = folder / "objects"
        own.mkdir()
        command = [sys.executable, "-m", "kubeshape", "serve", "--listen", "127.0.0.1:0"]
        command += ["--objects", os.fspath(own if objects is None else objects), "--log-level", "error"]
        command += ["--extensions", "on"]
        if manual_clock:
            command += ["--clock", "manual"]
        if kubernetes is not None:
            command += ["--kubernetes", kubernetes]
        command += [*arguments, *(os.fspath(path) for path in schemas)]
        self._log = (folder / "log").open("w+", encoding="utf-8")
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._log, text=True
        )
        watchdog = threading.Timer(timeout, self._process.kill)
        watchdog.start()
        try:
            self.url = self._wait()
            self._check()
        except BaseException:
            self.stop()
            raise
        finally:
            watchdog.cancel()
        self.kubeconfig = folder / "kubeconfig"
        self.kubeconfig.write_text(json.dumps(self.config()), encoding="utf-8")

    def _wait(self) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(_READY):
                return line.removeprefix(_READY).strip()
        self._process.wait()
        raise RuntimeError(f"kubeshape serve does not start:\n{self.log()}")

    def _check(self) -> None:
        """Fails if the server leaves out what it cannot read."""
        try:
            urllib.request.urlopen(self.url + "/readyz?verbose").close()
        except urllib.error.HTTPError as error:
            with error:
                reason = error.read().decode()
            raise RuntimeError(f"kubeshape serve does not serve everything:\n{self.log()}{reason}") from None

    def world(self, snapshot: int = 0) -> World:
        """Makes a world: the objects of a kept state, or without one those with which the server began.

        A world is at a port of its own in the same process. Nothing that happens in it affects another one or the
        server, so cases that run at the same time have one each.

        >>> with ApiServer() as server, server.world() as world:
        ...     world.url != server.url
        True
        """
        return World(self, snapshot)

    def log(self) -> str:
        """Returns what the server has logged."""
        self._log.flush()
        return Path(self._log.name).read_text(encoding="utf-8")

    def stop(self) -> None:
        """Stops the server, and ends its worlds."""
        process = self._process
        if process.poll() is None:
            # Clients may keep their connections.
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(1)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if process.stdout is not None:
            process.stdout.close()
        self._log.close()
        self._folder.cleanup()

    def __enter__(self) -> ApiServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class World(_Objects):
    """Objects of their own in the process of a server. It is a context manager. `ApiServer.world` makes one."""

    name: str
    """The name: `w1`."""

    def __init__(self, server: ApiServer, snapshot: int = 0) -> None:
        """Makes a world of a server that begins with a kept state."""
        made = server._control("worlds", {"snapshot": snapshot})
        self._server: ApiServer | None = server
        self.name, self.url = made["world"], made["url"]
        self.kubeconfig = server.kubeconfig.with_name(f"kubeconfig-{self.name}")
        self.kubeconfig.write_text(json.dumps(self.config()), encoding="utf-8")

    def stop(self) -> None:
        """Ends the world. Further calls do nothing."""
        server, self._server = self._server, None
        if server is not None and server._process.poll() is None:
            self.kubeconfig.unlink(missing_ok=True)
            server._control(f"worlds/{self.name}", None, "DELETE")

    def __enter__(self) -> World:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
