"""A process that adds entries: `python -m tests.tuning.adding FILE NAME COUNT`."""

from __future__ import annotations

import sys
from pathlib import Path

from eas.tuning.merged_json import add_entries

if __name__ == "__main__":
    file, name, count = sys.argv[1:]
    for number in range(int(count)):
        add_entries(Path(file), {f"{name}.{number}": {"number": number}})
