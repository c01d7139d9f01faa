"""`python -m eas.septran` is the command `septran`."""

from eas.septran.cli import main

raise SystemExit(main())
