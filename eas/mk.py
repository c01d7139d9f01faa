"""`import eas.mk`: the module that `from eas import mk` gives, `eas.language`."""

import sys

from eas import language
from eas.language import *  # noqa: F403

sys.modules[__name__] = language
