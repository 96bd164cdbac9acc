"""Measures `kubeshape.spark` next to the command: rows per second, one and two cores, memory, a lost executor.

    python kubeshape/python/examples/removed_apis.py --out removed --rows 200000 REPOSITORY...
    python kubeshape/python/benchmarks/spark.py removed/manifests.parquet --command kubeshape

Spark and the command read the same rows. Each is run with half of the rows and with all of them, several times, and the best
runs count. A rate is the difference of the rows divided by the difference of the times, so what happens once is not part of
it: programs that start, schemas that are compiled, Java's warm-up. Times are processor time of the command, or of Java and
the workers together, on one core: other programs on the machine change them little. "From one core to two" compares real
time, so it needs an idle machine; the processor time of both is printed with it, because equal processor time on two cores
is half of the real time.
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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pyarrow.parquet

OPTIONS = ["--kubernetes", "1.37", "--missing-schemas", "skip"]
COLUMNS = ["manifest", "copy"]
Times = dict[str, list[float]]
"""The times of each number of rows."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "rows", type=Path, help="a folder of Parquet files with the columns manifest, copy and yaml"
    )
    parser.add_argument("--command", default="kubeshape", help="the command to compare with")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (%(default)s)")
    parser.add_argument(
        "--only", choices=["rates", "cores", "lost"], action="append", help="measure only this; may be repeated"
    )
    parser.add_argument("--run", nargs=2, metavar=("MASTER", "OUT"), help=argparse.SUPPRESS)
    parser.add_argument("--lose", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        master, out = arguments.run
        made = lose(arguments.rows, master, out) if arguments.lose else run(arguments, master, out)
        print(json.dumps(made), flush=True)
        # A cluster on one machine takes minutes to stop.
        for pid, _ in below(os.getpid()):
            os.kill(pid, signal.SIGKILL)
        os._exit(0)
    cores = sorted(os.sched_getaffinity(0))[:2]
    only = arguments.only or ["rates", "cores", "lost"]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        one: Any = None
        if "rates" in only:
            one = rates(arguments, work, cores)
        if "cores" in only:
            scaling(arguments, work, cores, one)
        if "lost" in only:
            lost_executor(arguments, work, cores)


def rates(arguments: argparse.Namespace, work: Path, cores: list[int]) -> dict[str, Any]:
    """The command and Spark on one core."""
    commands = write_inputs(arguments, work)
    found: dict[str, Times] = {name: {} for name in commands}
    measure_commands(commands, arguments.rounds, work, cores[:1], found)
    one = spark(arguments, "local[1]", work / "answers", cores[:1])
    # Other programs on the machine have changed meanwhile.
    measure_commands(commands, arguments.rounds, work, cores[:1], found)
    of_spark = rate(one["processor"])
    print(f"Spark, one core: {of_spark:.0f} rows per second", flush=True)
    for name, times in found.items():
        of_command = rate(times)
        print(
            f"the command, {name}, one core: {of_command:.0f} rows per second; "
            f"Spark is {of_spark / of_command:.2f} times as fast"
        )
    print(f"memory: worker {one['worker'] / 1e6:.0f} MB, Java {one['java'] / 1e6:.0f} MB", flush=True)
    return one


def scaling(arguments: argparse.Namespace, work: Path, cores: list[int], one: Any) -> None:
    """Spark on one core and on two."""
    one = one or spark(arguments, "local[1]", work / "answers", cores[:1])
    two = spark(arguments, "local[2]", work / "answers", cores)
    count = max(map(int, one["seconds"]))
    seconds = [min(made["seconds"][str(count)]) for made in (one, two)]
    processor = [min(made["processor"][str(count)]) for made in (one, two)]
    print(
        f"{count} rows on one core: {seconds[0]:.1f} s ({processor[0]:.1f} s of processor time); on two: {seconds[1]:.1f} s "
        f"({processor[1]:.1f} s); {seconds[0] / seconds[1]:.2f} times as fast",
        flush=True,
    )


def lost_executor(arguments: argparse.Namespace, work: Path, cores: list[int]) -> None:
    """Two executors, of which one is killed."""
    made = spark(arguments, "local-cluster[2,1,1024]", work / "lost", cores, "--lose")
    print(
        f"two executors: {made['whole']:.1f} s; one is killed after {made['killed']:.1f} s: {made['seconds']:.1f} s; "
        f"the answers are {'equal' if made['equal'] else 'not equal'}"
    )
    if not made["equal"]:
        sys.exit(1)


def rate(times: Times) -> float:
    """Rows per second, without what happens once."""
    (few, at_few), (many, at_many) = sorted((int(count), min(all)) for count, all in times.items())
    return (many - few) / (at_many - at_few)


def sizes(rows: Path) -> list[tuple[int, list[str]]]:
    """Half of the files, and all of them, with how many rows they have."""
    files = sorted(map(str, rows.glob("*.parquet")))
    if len(files) < 2:
        sys.exit(f"{rows}: expected several Parquet files, found {len(files)}")
    return [
        (pyarrow.dataset.dataset(some).count_rows(), some) for some in (files[: len(files) // 2], files)
    ]


def write_inputs(arguments: argparse.Namespace, work: Path) -> dict[str, dict[int, list[str]]]:
    """Writes the rows as files and as a stream. Returns the commands that read them, by their number of rows."""
    commands: dict[str, dict[int, list[str]]] = {"files": {}, "stream": {}}
    start = [arguments.command, "validate", *OPTIONS, "--jobs", "1", "--output-format", "json"]
    for count, some in sizes(arguments.rows):
        folder, stream = work / f"files-{count}", work / f"{count}.ndjson"
        folder.mkdir()
        with stream.open("w") as to:
            for at, row in enumerate(pyarrow.dataset.dataset(some).to_table().to_pylist()):
                part = folder / f"{at // 1_000:04}"
                part.mkdir(exist_ok=True)
                (part / f"{at:07}{Path(row['manifest']).suffix}").write_text(row["yaml"])
                to.write(json.dumps({"id": at, "text": row["yaml"]}) + "\n")
        commands["files"][count] = [*start, str(folder)]
        commands["stream"][count] = [arguments.command, "stream", "validate", *OPTIONS, "--jobs", "1"]
    return commands


def measure_commands(
    commands: dict[str, dict[int, list[str]]],
    rounds: int,
    work: Path,
    core: list[int],
    found: dict[str, Times],
) -> None:
    """Adds the processor times of the commands on one core."""
    for _ in range(rounds):
        for name, by_count in commands.items():
            for count, command in by_count.items():
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                with (work / f"{count}.ndjson").open("rb") as source, (work / "out").open("wb") as out:
                    ended = subprocess.run(
                        ["taskset", "-c", ",".join(map(str, core)), *command],
                        stdin=source,
                        stdout=out,
                        stderr=subprocess.PIPE,
                        check=False,
                    )
                if ended.returncode not in (0, 1):
                    sys.exit(ended.stderr.decode())
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                found[name].setdefault(str(count), []).append(used)


def spark(
    arguments: argparse.Namespace, master: str, out: Path, cores: list[int], *more: str
) -> dict[str, Any]:
    """A run of Spark in a process of its own, on some cores."""
    command = ["taskset", "-c", ",".join(map(str, cores)), sys.executable, __file__, str(arguments.rows)]
    command += ["--rounds", str(arguments.rounds), *more, "--run", master, str(out)]
    made = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, Any] = json.loads(made.stdout.splitlines()[-1])
    return found


def job(master: str) -> Callable[[list[str], str], None]:
    """Starts Spark. Returns what judges the rows of some files."""
    from pyspark.sql import SparkSession

    import kubeshape.spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    # A partition for each file, which is read by one task.
    builder = builder.config("spark.sql.files.openCostInBytes", 128 << 20)
    session = builder.config("spark.executor.memory", "1g").getOrCreate()
    session.sparkContext.setLogLevel("OFF")

    def judge(files: list[str], out: str) -> None:
        shutil.rmtree(out, ignore_errors=True)
        answers = kubeshape.spark.validate(
            session.read.parquet(*files),
            name="manifest",
            keep=COLUMNS,
            kubernetes="1.37",
            missing_schemas="skip",
        )
        answers.select(*COLUMNS, "kubeshape.verdict", "kubeshape.findings").write.parquet(out)

    return judge


def run(arguments: argparse.Namespace, master: str, out: str) -> dict[str, Any]:
    """Judges half of the rows and all of them in turns. The first job starts the workers and is not counted."""
    judge = job(master)
    parts = sizes(arguments.rows)
    judge(parts[-1][1], out)
    found: dict[str, Any] = {"seconds": {}, "processor": {}, "worker": 0, "java": 0}
    for _ in range(arguments.rounds):
        for count, files in parts:
            watch, begin = Watch(), time.perf_counter()
            judge(files, out)
            found["seconds"].setdefault(str(count), []).append(time.perf_counter() - begin)
            seen = watch.end()
            found["processor"].setdefault(str(count), []).append(seen["processor"])
            for name in ("worker", "java"):
                found[name] = max(found[name], seen[name])
    return found


def lose(rows: Path, master: str, out: str) -> dict[str, Any]:
    """Judges the rows twice, and once more while an executor is killed in the middle."""
    judge = job(master)
    files = sizes(rows)[-1][1]
    judge(files, out)
    begin = time.perf_counter()
    judge(files, out)
    whole, expected = time.perf_counter() - begin, answers(Path(out))
    watch, begin = Watch(kill_after=whole / 2), time.perf_counter()
    judge(files, out)
    seconds, seen = time.perf_counter() - begin, watch.end()
    if not seen["killed"]:
        sys.exit("no executor was killed: the job was too short; take more rows")
    equal = answers(Path(out)).equals(expected)
    return {"whole": whole, "seconds": seconds, "killed": seen["killed"], "equal": equal}


class Watch:
    """Watches the processes below this one."""

    def __init__(self, kill_after: float | None = None) -> None:
        self.begin, self.kill_after, self.killed = time.perf_counter(), kill_after, 0.0
        self.worker, self.java, self.before = 0, 0, processor()
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self) -> None:
        # To look takes time, too.
        while not self.is_over.wait(0.5):
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
