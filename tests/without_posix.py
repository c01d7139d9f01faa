"""A plugin of pytest that takes away what Python has on POSIX only, before `eas` is imported.

What pytest and the libraries need of it they have imported before.
"""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from typing import Any

LIBRARIES = (
    *("ctypes", "hypothesis", "llvmlite.binding", "ml_dtypes", "multiprocessing", "numpy"),
    *("platform", "platformdirs", "rich.console", "syrupy", "tempfile", "uuid", "zipfile"),
)
OPTIONAL = "platformdirs"  # a plugin of pytest, where something brings it along
MODULES = ("fcntl", "grp", "posix", "pwd", "resource", "syslog", "termios", "tty")
PREFIXES = {
    os: (
        *("EX_", "F_", "GRND_", "MFD_", "NGROUPS", "PRIO_", "P_ALL", "P_PID", "P_PGID", "RTLD_"),
        *("SCHED_", "SPLICE_", "ST_", "W", "posix_", "sched_", "getres", "setres", "wait3"),
    ),
    signal: ("SIG_BLOCK", "SIG_SETMASK", "SIG_UNBLOCK", "SIGRT", "ITIMER_", "pthread_", "sig"),
    time: ("CLOCK_", "clock_", "pthread_", "tzset"),
}
NAMES = {
    os: (
        *("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_PATH", "O_SYNC"),
        *("chown", "chroot", "confstr", "copy_file_range", "ctermid", "eventfd", "fchdir"),
        *("fchmod", "fchown", "fdatasync", "fork", "forkpty", "fpathconf", "fstatvfs", "getegid"),
        *("geteuid", "getgid", "getgroups", "getloadavg", "getpgid", "getpgrp", "getpriority"),
        *("getrandom", "getsid", "getuid", "getxattr", "initgroups", "killpg", "lchown", "lockf"),
        *("major", "makedev", "memfd_create", "minor", "mkfifo", "mknod", "nice", "openpty"),
        *("pathconf", "pidfd_open", "pipe2", "pread", "preadv", "pwrite", "pwritev", "readv"),
        *("register_at_fork", "sendfile", "setegid", "seteuid", "setgid", "setgroups", "setpgid"),
        *("setpriority", "setsid", "setuid", "splice", "statvfs", "sync", "sysconf", "tcgetpgrp"),
        *("ttyname", "uname", "wait", "wait4", "waitid", "writev"),
    ),
    signal: (
        *("SIGALRM", "SIGBUS", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGIO", "SIGKILL", "SIGPIPE"),
        *("SIGPROF", "SIGQUIT", "SIGSTOP", "SIGSYS", "SIGTRAP", "SIGTSTP", "SIGUSR1", "SIGUSR2"),
        *("alarm", "getitimer", "pause", "setitimer", "siginterrupt"),
    ),
    time: (),
}


def remove() -> None:
    """Takes away modules, names, and the functions' arguments that only POSIX has."""
    for name in LIBRARIES:
        if name != OPTIONAL or find_spec(name) is not None:
            importlib.import_module(name)
    for name in MODULES:
        sys.modules[name] = None  # pyright: ignore[reportArgumentType]
    for module, prefixes in PREFIXES.items():
        for name in list(vars(module)):
            if name in NAMES[module] or name.startswith(prefixes):
                delattr(module, name)
    for module, name in ((shutil, "_use_fd_functions"), (subprocess, "_USE_POSIX_SPAWN")):
        setattr(module, name, False)
    os.supports_dir_fd.clear()
    os.supports_fd.discard(os.scandir)
    os.open = _without_folders(os.open)


def _without_folders(plain: Any) -> Any:
    """On Windows a folder has no descriptor, and a path is not relative to one."""

    def opened(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if dir_fd is not None:
            raise NotImplementedError("dir_fd unavailable on this platform")
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", path)
        return plain(path, flags, mode)

    return opened


remove()
