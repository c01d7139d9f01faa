"""`import task_lang as task`: see `eas.septran.logic.language`."""

from eas.septran.logic.language import *  # noqa: F403
from eas.septran.logic.language import __all__ as __all__
