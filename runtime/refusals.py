"""What is wrong with a launch, found before anything runs."""

from __future__ import annotations


class BadArgument(Exception):
    """A value breaks a rule. A caller that knows the kernel adds its name."""


class LaunchError(Exception):
    """A kernel cannot be launched: names the kernel, the argument and what was expected."""

    __module__ = "eas"  # where a user imports it from; tracebacks show it

    def __init__(self, kernel: str, message: str, argument: str = "") -> None:
        super().__init__(kernel, message, argument)
        self.kernel = kernel
        self.message = message
        self.argument = argument

    def __str__(self) -> str:
        argument = f", argument `{self.argument}`" if self.argument else ""
        return f"kernel `{self.kernel}`{argument}: {self.message}"
