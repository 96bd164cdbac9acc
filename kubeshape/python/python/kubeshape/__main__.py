"""The command: `kubeshape`, `python -m kubeshape`."""

import sys

from ._native import main as run


def main() -> None:
    """Runs the command, and ends with its exit code."""
    sys.exit(run(sys.argv))


if __name__ == "__main__":
    main()
