"""The version of the package."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def package_version() -> str:
    """The version that is installed."""
    try:
        return version("easy_as")
    except PackageNotFoundError:  # a checkout that is not installed
        return "unknown"
