"""Measures `kubeshape.spark` next to the command: rows per second, one and two cores, memory, a lost executor.

    python kubeshape/python/examples/removed_apis.py --out removed --rows 200000 REPOSITORY...
    python kubeshape/python/benchmarks/spark.py removed/manifests.parquet --command target/dist/kubeshape

Every run reads the same rows and writes Parquet. Spark runs each job twice and the second one is measured: the first one
starts the workers and compiles the schemas. Processor time is that of Java and of the workers.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pyarrow.parquet

OPTIONS = ["--kubernetes", "1.37", "--missing-schemas", "skip"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "rows", type=Path, help="a folder of Parquet files with the columns manifest, copy and yaml"
    )
    parser.add_argument("--command", default="kubeshape", help="the command to compare with")
    parser.add_argument(
        "--files", type=int, default=20_000, help="rows that the command reads as files (%(default)s)"
    )
    parser.add_argument("--rounds", type=int, default=3, help="rounds (%(default)s)")
    parser.add_argument("--run", nargs=2, metavar=("MASTER", "OUT"), help=argparse.SUPPRESS)
    parser.add_argument("--lose", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        print(json.dumps(run(arguments.rows, *arguments.run, lose=arguments.lose)), flush=True)
        # A cluster on one machine takes minutes to stop.
        for pid, _ in below(os.getpid()):
            os.kill(pid, signal.SIGKILL)
        os._exit(0)
    cores = sorted(os.sched_getaffinity(0))[:2]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        count = pyarrow.dataset.dataset(arguments.rows).count_rows()
        files, stream = best_commands(arguments, work, cores[:1], count)
        print(f"the command, files, one core: {files:.0f} rows per second")
        print(f"the command, stream, one core: {stream:.0f} rows per second")
        rates = {}
        for used in (cores[:1], cores):
            made = best(arguments, f"local[{len(used)}]", work / "answers", used)
            rate, per_core = count / made["seconds"], count / made["processor"]
            rates[len(used)] = rate
            print(
                f"Spark, {len(used)} core(s): {rate:.0f} rows per second ({rate / len(used) / files:.2f} times the command "
                f"per core with files, {rate / len(used) / stream:.2f} with the stream); "
                f"{per_core:.0f} rows per second of processor time ({per_core / files:.2f}, {per_core / stream:.2f}); "
                f"memory: worker {made['worker'] / 1e6:.0f} MB, Java {made['java'] / 1e6:.0f} MB"
            )
        print(f"from one core to two: {rates[2] / rates[1]:.2f} times")
        whole = spark(arguments.rows, "local-cluster[2,1,1024]", work / "whole", cores)
        lost = spark(arguments.rows, "local-cluster[2,1,1024]", work / "lost", cores, "--lose")
        equal = answers(work / "whole").equals(answers(work / "lost"))
        print(
            f"two executors: {whole['seconds']:.1f} s; one is killed after {lost['killed']:.1f} s: {lost['seconds']:.1f} s; "
            f"the answers are {'equal' if equal else 'not equal'}"
        )
        if not equal:
            sys.exit(1)


def best_commands(
    arguments: argparse.Namespace, work: Path, core: list[int], count: int
) -> tuple[float, float]:
    """Rows per second of the command on one core, with files and with a stream."""
    rows = pyarrow.dataset.dataset(arguments.rows).head(min(count, arguments.files)).to_pylist()
    (work / "files").mkdir()
    with (work / "rows.ndjson").open("w") as stream:
        for at, row in enumerate(rows):
            (work / "files" / f"{at:06}{Path(row['manifest']).suffix}").write_text(row["yaml"])
            stream.write(json.dumps({"id": at, "text": row["yaml"]}) + "\n")
    files = [
        arguments.command,
        "validate",
        *OPTIONS,
        "--jobs",
        "1",
        "--output-format",
        "json",
        str(work / "files"),
    ]
    streamed = [arguments.command, "stream", "validate", *OPTIONS, "--jobs", "1"]
    rates = ([], [])  # type: tuple[list[float], list[float]]
    for _ in range(arguments.rounds):
        for command, found in zip((files, streamed), rates):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            with (work / "rows.ndjson").open("rb") as source, (work / "out").open("wb") as out:
                subprocess.run(
                    ["taskset", "-c", ",".join(map(str, core)), *command],
                    stdin=source,
                    stdout=out,
                    stderr=subprocess.DEVNULL,
                    check=False,
                )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            # On one core this is the time without other programs.
            found.append(len(rows) / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return max(rates[0]), max(rates[1])


def best(arguments: argparse.Namespace, master: str, out: Path, cores: list[int]) -> dict[str, float]:
    """The fastest of several runs."""
    runs = [spark(arguments.rows, master, out, cores) for _ in range(arguments.rounds)]
    return min(runs, key=lambda run: run["seconds"])


def spark(rows: Path, master: str, out: Path, cores: list[int], *more: str) -> dict[str, float]:
    """A run of Spark in a process of its own, on some cores."""
    command = ["taskset", "-c", ",".join(map(str, cores)), sys.executable, __file__, str(rows), *more]
    made = subprocess.run(
        [*command, "--run", master, str(out)], stdout=subprocess.PIPE, check=True, text=True
    )
    found: dict[str, float] = json.loads(made.stdout.splitlines()[-1])
    return found


def run(rows: Path, master: str, out: str, *, lose: bool) -> dict[str, float]:
    """Judges the rows twice. With `lose`, once more, and an executor is killed in the middle of this job."""
    from pyspark.sql import SparkSession

    import kubeshape.spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    # A partition for each file, which is read by one task.
    builder = builder.config("spark.sql.files.openCostInBytes", 128 << 20)
    session = builder.config("spark.executor.memory", "1g").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    answers = kubeshape.spark.validate(
        session.read.parquet(str(rows)), name="manifest", kubernetes="1.37", missing_schemas="skip"
    ).select("manifest", "copy", "kubeshape.verdict", "kubeshape.findings")
    found: dict[str, float] = {}
    for job in range(3 if lose else 2):
        shutil.rmtree(out, ignore_errors=True)
        # The first job starts the workers, so it takes longer.
        watch = Watch(kill_after=found["seconds"] / 2 if job == 2 else None)
        begin = time.perf_counter()
        answers.write.parquet(out)
        found = {"seconds": time.perf_counter() - begin, **watch.end()}
    if lose and not found["killed"]:
        sys.exit("no executor was killed: the job was too short; take more rows")
    return found


class Watch:
    """Watches the processes below this one."""

    def __init__(self, kill_after: float | None) -> None:
        self.begin, self.kill_after, self.killed = time.perf_counter(), kill_after, 0.0
        self.worker, self.java, self.before = 0, 0, processor()
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self) -> None:
        while not self.is_over.wait(0.1):
            for pid, command in below(os.getpid()):
                size = resident(pid)
                if "pyspark.daemon" in command or "pyspark/daemon" in command:
                    self.worker = max(self.worker, size)
                elif "java" in command:
                    self.java = max(self.java, size)
                    passed = time.perf_counter() - self.begin
                    if self.kill_after and passed > self.kill_after and "ExecutorBackend" in command:
                        os.kill(pid, signal.SIGKILL)
                        self.kill_after, self.killed = None, passed

    def end(self) -> dict[str, float]:
        self.is_over.set()
        self.thread.join()
        used = processor() - self.before
        return {"processor": used, "worker": self.worker, "java": self.java, "killed": self.killed}


def below(root: int) -> list[tuple[int, str]]:
    """The processes below a process, with their commands."""
    parents: dict[int, Any] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(
                (int(folder.name), command)
            )
    found: list[tuple[int, str]] = []
    todo = [root]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += [pid for pid, _ in children]
    return found


def processor() -> float:
    """Seconds of processor time of the processes below this one, and of those that ended."""
    ticks = 0
    for pid, _ in below(os.getpid()):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            continue
        ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> int:
    """Bytes of a process in memory."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def answers(folder: Path) -> Any:
    """The answers in order."""
    return pyarrow.parquet.read_table(folder).sort_by([("manifest", "ascending"), ("copy", "ascending")])


if __name__ == "__main__":
    main()
