"""`python -m eas.cli` is the command `eas`."""

from eas.cli import main

raise SystemExit(main())
