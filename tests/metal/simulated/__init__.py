"""A simulated `Metal` in pyobjc's spelling: texts run on the CPU, through `eas.msl.host`.

It refuses what Metal refuses. Where that would end the process, `FailedAssertion` is raised.
"""

from tests.metal.simulated.machine import Faults, Machine
from tests.metal.simulated.modules import install, installed
from tests.metal.simulated.objects import FailedAssertion

__all__ = ["FailedAssertion", "Faults", "Machine", "install", "installed"]
