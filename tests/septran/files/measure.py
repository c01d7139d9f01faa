"""Reads files in a process of its own, and prints what this took at most."""

from __future__ import annotations

import json
import resource
import sys
import time

from eas.septran.files import SeptranError, load_mapping

PEAK_UNIT = 1 if sys.platform == "darwin" else 2**10  # bytes there, KiB elsewhere


def megabytes() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (PEAK_UNIT / 2**20)


def length_of_error(path: str) -> int:
    try:
        load_mapping(path)
    except SeptranError as error:
        return len(str(error))
    return 0


def main(paths: list[str]) -> None:
    before = megabytes()
    slowest, longest = (0.0, ""), (0, "")
    for path in paths:
        start = time.process_time()
        longest = max(longest, (length_of_error(path), path))
        slowest = max(slowest, (time.process_time() - start, path))
    grown = megabytes() - before
    print(
        json.dumps(
            {
                "seconds": slowest[0],
                "slowest": slowest[1],
                "characters": longest[0],
                "longest": longest[1],
                "megabytes": grown,
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1:])
