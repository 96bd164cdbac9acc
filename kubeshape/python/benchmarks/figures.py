"""Measures the Python package: many manifests next to the command, one object from a dict, and memory.

    python kubeshape/python/benchmarks/figures.py FOLDER-OF-CRDS --command target/dist/kubeshape

The manifests are accepted samples of all built-in kinds and of all kinds of the definitions, under different names. The command
and the library read the same files, in turns. The best round is the figure.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kubeshape

LIBRARY = """
import sys, time
from pathlib import Path
import kubeshape

schemas, folder, threads = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
start = time.perf_counter()
api = kubeshape.Api(schemas, kubernetes="1.37")
files = sorted(folder.glob("*.yaml"))
ready = time.perf_counter()
accepted = sum(bool(result) for result in api.validate_many(files, threads=threads))
print(accepted, ready - start, time.perf_counter() - ready)
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("schemas", type=Path, help="a folder of CustomResourceDefinitions")
    parser.add_argument("--command", default="kubeshape", help="the command to compare with")
    parser.add_argument("--count", type=int, default=10_000, help="manifests (%(default)s)")
    parser.add_argument(
        "--calls", type=int, default=1_000_000, help="calls while memory is measured (%(default)s)"
    )
    parser.add_argument("--rounds", type=int, default=7, help="rounds (%(default)s)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads (%(default)s)")
    arguments = parser.parse_args()
    api = kubeshape.Api(arguments.schemas, kubernetes="1.37")
    with tempfile.TemporaryDirectory() as folder:
        size = write(api, Path(folder), arguments.count)
        print(
            f"{arguments.count} manifests, {size / 1e6:.1f} MB, {len(api.kinds())} kinds, {arguments.threads} threads"
        )
        many(arguments, folder)
    one(api)
    memory(api, arguments.calls)


def write(api: kubeshape.Api, folder: Path, count: int) -> int:
    """Writes manifests. Returns their size."""
    samples: list[dict[str, Any]] = []
    for api_version, kind in api.kinds():
        for maximal in (False, True):
            try:
                sample = api.sample(kind, api_version=api_version, maximal=maximal).to_dict()
            except kubeshape.KubeshapeError:
                # Kinds of requests have no sample.
                continue
            # The name of some kinds is given by other fields.
            if api.validate(named(sample, 0)):
                samples.append(sample)
    size = 0
    for at, sample in zip(range(count), itertools.cycle(samples)):
        text = kubeshape.Object.read(named(sample, at)).to_yaml()
        (folder / f"{at:06}.yaml").write_text(text)
        size += len(text)
    return size


def named(sample: dict[str, Any], at: int) -> dict[str, Any]:
    """The sample with another name."""
    return {**sample, "metadata": {**sample.get("metadata", {}), "name": f"sample-{at}"}}


def many(arguments: argparse.Namespace, folder: str) -> None:
    """The command and a program with `Api.validate_many`, from start to end, and the call alone."""
    command = [arguments.command, "validate", "--kubernetes", "1.37", "--schemas", str(arguments.schemas)]
    command += ["--jobs", str(arguments.threads), "--quiet", folder]
    library = [sys.executable, "-c", LIBRARY, str(arguments.schemas), folder, str(arguments.threads)]
    times: dict[str, list[float]] = {"command": [], "program": [], "start": [], "call": []}
    accepted = "0"
    for _ in range(arguments.rounds):
        begin = time.perf_counter()
        run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        times["command"].append(time.perf_counter() - begin)
        if run.returncode not in (0, 1):
            sys.exit(run.stderr.decode())
        begin = time.perf_counter()
        made = subprocess.run(library, stdout=subprocess.PIPE, check=True, text=True).stdout
        times["program"].append(time.perf_counter() - begin)
        accepted, start, call = made.split()
        times["start"].append(float(start))
        times["call"].append(float(call))
    best = {name: min(rounds) for name, rounds in times.items()}
    print(f"the command: {best['command']:.3f} s")
    print(
        f"a program with Api.validate_many: {best['program']:.3f} s, {best['program'] / best['command']:.2f} times"
    )
    print(f"  of these: Api {best['start']:.3f} s, validate_many {best['call']:.3f} s; {accepted} accepted")


def one(api: kubeshape.Api) -> None:
    """One object from a dict, the median."""
    for kind in ("ConfigMap", "Service", "Deployment"):
        config: Any = {"ConfigMap": CONFIG_MAP, "Service": SERVICE, "Deployment": DEPLOYMENT}[kind]
        assert api.validate(config)
        print(f"one {kind} from a dict: {median(lambda: api.validate(config)):.1f} µs")
    print(f"the same Deployment as a str: {median(lambda: api.validate(TEXT)):.1f} µs")


def median(call: Callable[[], object]) -> float:
    times = []
    for _ in range(20_000):
        begin = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - begin)
    return statistics.median(times) / 1_000


def memory(api: kubeshape.Api, calls: int) -> None:
    """Memory after each tenth of the calls, of which one in ten is another function than `validate`."""
    crd, refused = (
        api.sample("CustomResourceDefinition").to_dict(),
        {**SERVICE, "spec": {"ports": [{"port": 0}]}},
    )
    live = api.apply(None, CONFIG_MAP, manager="alice")
    work: list[Callable[[], object]] = [
        *[lambda: api.validate(DEPLOYMENT)] * 4,
        *[lambda: api.validate(refused)] * 3,
        lambda: api.validate(TEXT),
        lambda: list(api.validate_many([CONFIG_MAP, TEXT], threads=1)),
    ]
    others: list[Callable[[], object]] = [
        lambda: kubeshape.Object.read(DEPLOYMENT).to_dict(),
        lambda: api.apply(live, CONFIG_MAP, manager="alice"),
        lambda: api.explain("service.spec"),
        lambda: kubeshape.check(crd),
        lambda: kubeshape.convert(crd, "v3"),
        lambda: kubeshape.diff(crd, crd),
    ]
    sizes = []
    for at in range(calls):
        if at % 10 == 9:
            others[at // 10 % len(others)]()
        else:
            work[at % 10]()
        if (at + 1) % max(calls // 10, 1) == 0:
            gc.collect()
            sizes.append(resident())
    print("MB after each tenth of", calls, "calls:", " ".join(f"{size / 1e6:.1f}" for size in sizes))


def resident() -> int:
    """Bytes in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


CONFIG_MAP: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "labels": {"app": "web"}},
    "data": {"size": "1", "colour": "blue"},
}
SERVICE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]},
}
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "web",
                        "image": "nginx:1.29",
                        "ports": [{"containerPort": 8080}],
                        "env": [{"name": "MODE", "value": "fast"}],
                        "resources": {"limits": {"memory": "64Mi"}, "requests": {"cpu": "100m"}},
                        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}},
                    }
                ]
            },
        },
    },
}
TEXT = kubeshape.Object.read(DEPLOYMENT).to_yaml()

if __name__ == "__main__":
    main()
