"""`@eas.autotune`: a kernel whose constexpr arguments are chosen by measuring."""

from __future__ import annotations

import ast
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard, cast

from eas.call_arguments import identity
from eas.config import BackendError, CheckError, choose_backend, choose_checks
from eas.frontend_ast.source.errors import CompileError
from eas.frontend_ast.source.reading import read_source
from eas.frontend_ast.source.wrappers import kernel_function
from eas.kernel import Kernel
from eas.kernel_trials import KernelTrials
from eas.runtime.refusals import BadArgument, LaunchError
from eas.runtime.streams.active import ACTIVE
from eas.runtime.streams.recording import RECORDER
from eas.runtime.torch_arguments import is_fake_launch
from eas.runtime.torch_tracing import make_opaque
from eas.signature import LAUNCH_OPTIONS
from eas.support.records import frozen
from eas.tuned_choices import Choice, Choices, Slot, device_name, text_digest
from eas.tuning.isolation import Limits
from eas.tuning.judging import Plan
from eas.tuning.outcomes import Outcome
from eas.tuning_configs import (
    Config,
    check_configs,
    check_key,
    in_words,
    type_in_words,
    type_key,
    value_key,
)

Prune = Callable[[list["Config"], dict[str, Any]], Iterable["Config"]]
Key = tuple[object, ...]

_MOST_NAMED = 4  # configs with one reason


@frozen
class Trial:
    """A config and what came of it. `seconds` are comparable between the trials of one tuning."""

    config: Config
    outcome: Outcome
    seconds: float


def autotune(
    configs: Sequence[Config],
    key: Sequence[str] = (),
    *,
    prune: Prune | None = None,
    warmup: int = 2,
    rep: int | None = None,
    repeat: int | None = None,
    timeout: float = 30.0,
    memory: int = 4 << 30,
    tolerance: float | None = None,
    progress: bool | None = None,
) -> Callable[[Kernel], Autotuned]:
    """Chooses the fastest of some configs, by measuring, when a kernel is launched.

        @eas.autotune(configs=[eas.Config(BLOCK=128), eas.Config(BLOCK=1024)], key=["N"])
        @eas.kernel
        def add(a, b, c, N, BLOCK: eas.constexpr): ...

        add(a, b, c, 1_000_000)  # measures once, and keeps the answer in a file

    It measures once for each device, combination of types and value of the arguments in `key`. The
    first config is the default and the reference: one that gives another result, up to rounding
    (`tolerance`, relative to the largest value), fails, hangs (`timeout` in seconds) or takes
    too much `memory` never wins. The launch has the effect of one launch. Results are kept in
    `EAS_TUNING_FILE`, else in `tuning.json` in the cache folder, and are not used once the kernel
    changes.

    `prune(configs, arguments)` gives the configs that are worth a trial. `rep` is the number of
    samples per config (`repeat` is another name of it), `warmup` of runs before them. `progress`
    shows a line per trial; without it, only on a terminal.
    """
    if callable(configs):
        raise TypeError("@eas.autotune needs configs: `@eas.autotune(configs=[...], key=[...])`")
    rounds = _rounds(rep, repeat)
    _check_number("warmup", warmup)
    _check_number("memory", memory, 1)
    _check_options(prune, timeout, tolerance, progress)
    plan = Plan(warmup=warmup, rounds=rounds, tolerance=tolerance)
    limits = Limits(timeout, memory)

    def decorate(kernel: Kernel) -> Autotuned:
        return Autotuned(kernel, configs, key, prune, plan, limits, progress)

    return decorate


def _rounds(rep: int | None, repeat: int | None) -> int:
    if rep is not None and repeat is not None:
        raise TypeError("`rep` and `repeat` are two names of one number: give one of them")
    rounds = 7 if rep is None and repeat is None else (rep if repeat is None else repeat)
    _check_number("rep" if repeat is None else "repeat", rounds, 1)
    assert rounds is not None
    return rounds


def _check_number(name: str, value: object, least: int = 0) -> None:
    if type(value) is not int or value < least:
        raise TypeError(f"`{name}` is an int from {least} on, not {value!r}")


def _check_options(prune: object, timeout: object, tolerance: object, progress: object) -> None:
    if progress is not None and type(progress) is not bool:
        raise TypeError(f"`progress` is True, False or None, not {progress!r}")
    if prune is not None and not callable(prune):
        raise TypeError(f"`prune` is a function of configs and arguments, not {prune!r}")
    if not _is_number(timeout) or not timeout > 0:
        raise TypeError(f"`timeout` is a number of seconds above 0, not {timeout!r}")
    if tolerance is not None and (not _is_number(tolerance) or not tolerance >= 0):
        raise TypeError(f"`tolerance` is a number from 0 on, or None, not {tolerance!r}")


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


class Autotuned:
    """A kernel that chooses one of some configs; it is launched like the kernel itself.

    `kernel` is the kernel, to be launched with a config of one's own. `trials` are those of the
    last tuning in this process.
    """

    def __init__(
        self,
        kernel: Kernel,
        configs: Sequence[Config],
        key: Sequence[str],
        prune: Prune | None,
        plan: Plan,
        limits: Limits,
        progress: bool | None,
    ) -> None:
        _check_kernel(kernel)
        self.kernel = kernel
        self.configs = check_configs(kernel, configs)
        self.key = check_key(kernel, key, self.configs[0])
        self.trials: list[Trial] = []
        self._constants = frozenset(p.name for p in kernel.parameters.all if p.is_constexpr)
        self._prune = prune
        self._plan = plan
        self._limits = limits
        self._progress = progress
        self._chosen: dict[Key, Config] = {}
        self._choices = Choices()
        self._lock = threading.RLock()
        self.__name__ = kernel.name
        self.__doc__ = kernel.__doc__
        self.__wrapped__ = kernel

    def __repr__(self) -> str:
        return f"<autotuned kernel {self.kernel.fn.__qualname__}, {len(self.configs)} configs>"

    def __getattr__(self, name: str) -> Any:
        """`to_msl`, `compile` and the like are those of the kernel."""
        if name.startswith("_") or name == "kernel":
            raise AttributeError(name)
        return getattr(self.kernel, name)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Launches the kernel with the best config, which is measured if it is not known."""
        config = self._chosen.get(self._key(args, kwargs)) if self._chosen else None
        if config is None:
            config = self.best(*args, **kwargs)
        self.kernel(*args, **kwargs, **config.values)

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        """The kernel with a grid, to be called: `add[4](...)`."""

        def launcher(*args: Any, **kwargs: Any) -> None:
            if "_grid" in kwargs:
                raise LaunchError(
                    self.kernel.name, "the grid is given twice, in brackets and as `_grid`"
                )
            self(*args, _grid=grid, **kwargs)

        return launcher

    def best(self, *args: Any, **kwargs: Any) -> Config:
        """The config that a launch with these arguments uses; it is measured if it is not known.

        While a graph is recorded and under `torch.compile` nothing is measured: what is not known
        is the first config.
        """
        bound = self._bind(args, kwargs)
        if len(self.configs) == 1:
            return self.configs[0]
        key = self._key(args, kwargs)
        with self._lock:
            if key not in self._chosen:
                found = self._stored_or_measured(bound, kwargs)
                if found is None:
                    return self.configs[0]
                self._chosen[key] = found
            return self._chosen[key]

    def _stored_or_measured(
        self, bound: dict[str, Any], kwargs: Mapping[str, Any]
    ) -> Config | None:
        options = {name: kwargs[name] for name in LAUNCH_OPTIONS if name in kwargs}
        is_fake = is_fake_launch(list(bound.values()))
        if is_fake:
            return None
        slot = self._slot(bound, options)
        names = [str(each) for each in self.configs]
        stored = self._choices.find(
            slot, names, lambda number: self._ir(bound, self.configs[number])
        )
        if stored is not None:
            return self.configs[stored]
        if RECORDER.get() is not None:
            return None
        return self._measured(bound, options, slot)

    def _measured(self, bound: dict[str, Any], options: dict[str, Any], slot: Slot) -> Config:
        if ACTIVE:
            from eas.asynchronous import synchronize

            synchronize()
        configs = self._pruned(bound)
        trials = KernelTrials(self.kernel, bound, options, self._plan, self._limits)
        self.trials = []
        for config in configs:
            outcome, seconds = trials.run(config.values)
            self.trials.append(Trial(config, outcome, seconds))
            self._show(f"{len(self.trials)}/{len(configs)} {config}: {_in_words(self.trials[-1])}")
        best = min(self.trials, key=lambda each: each.seconds)
        if not best.outcome.is_right:
            raise LaunchError(self.kernel.name, _none_works(self.trials))
        self._show(f"chosen: {best.config}")
        self._choices.store(slot, self._choice(bound, best), self._ir(bound, best.config))
        return best.config

    def _choice(self, bound: Mapping[str, Any], best: Trial) -> Choice:
        rows = [(str(each.config), each.outcome.status, each.seconds) for each in self.trials]
        return Choice(self.configs.index(best.config), str(best.config), best.seconds, rows)

    def _pruned(self, bound: Mapping[str, Any]) -> list[Config]:
        if self._prune is None:
            return list(self.configs)
        tuned = self.configs[0].values
        given = {name: value for name, value in bound.items() if name not in tuned}
        found: Any = self._prune(list(self.configs), given)
        if not isinstance(found, Iterable):
            raise LaunchError(self.kernel.name, f"`prune` gave {found!r}, which is no list")
        left = list(cast(Iterable[Config], found))
        strange = [each for each in left if each not in self.configs]
        if strange:
            raise LaunchError(self.kernel.name, f"`prune` gave {strange[0]!r}, which is no config")
        if not left:
            raise LaunchError(self.kernel.name, "`prune` left no config")
        return left

    def _bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by name, with the values of the first config."""
        name = self.kernel.name
        tuned = self.configs[0].values
        twice = [each for each in tuned if each in kwargs]
        if twice:
            raise LaunchError(name, f"`{twice[0]}` is tuned: leave it out, or launch `.kernel`")
        given = {each: value for each, value in kwargs.items() if each not in LAUNCH_OPTIONS}
        defaults = {each: value for each, value in tuned.items() if each not in LAUNCH_OPTIONS}
        try:
            return self.kernel.parameters.bind(args, {**given, **defaults})
        except BadArgument as error:
            raise LaunchError(name, str(error)) from None

    def _key(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Key:
        """Equal for launches that share a choice."""
        names = self.kernel.parameters.by_position
        given = [*zip(names, args, strict=False), *kwargs.items()]
        tuned_for, constants = self.key, self._constants
        try:
            parts = [
                (name, identity(value))
                if name in constants
                else (name, type_key(value), value_key(value) if name in tuned_for else None)
                for name, value in given
                if name != "_sync"
            ]
            return (choose_backend(kwargs.get("_backend")), self._checked(kwargs), *parts)
        except (BackendError, CheckError, BadArgument) as error:
            raise LaunchError(self.kernel.name, str(error)) from None

    def _checked(self, options: Mapping[str, Any]) -> bool | None:
        """Whether a launch with these options reports accesses outside of arrays."""
        return choose_checks(options.get("_checked"), self.kernel.checked)

    def _slot(self, bound: Mapping[str, Any], options: Mapping[str, Any]) -> Slot:
        """What a choice depends on, as it stands in the file."""
        kernel = self.kernel
        types: list[str] = []
        for p in kernel.parameters.all:
            if p.name not in self.configs[0].values:
                value = bound[p.name]
                is_constant = p.name in self._constants
                types.append(f"{p.name}={in_words(value)}" if is_constant else type_in_words(value))
        values = [f"{name}={value_key(bound[name])}" for name in self.key]
        backend = choose_backend(options.get("_backend"))
        source = ast.dump(read_source(kernel_function(kernel.fn)).node)
        names = [str(each) for each in self.configs]
        text = text_digest(source, names, kernel.fast_math)
        checked = self._checked(options)
        values += [] if checked is None else [f"checked={checked}"]
        title = ", ".join([f"{_module_of(kernel)}.{kernel.fn.__qualname__}", *types, *values])
        return Slot(title, device_name(backend), text)

    def _ir(self, bound: Mapping[str, Any], config: Config) -> str:
        """The IR of the kernel, in which its helpers and captured values are, too."""
        values = {name: value for name, value in config.values.items() if name != "_tptg"}
        try:
            return self.kernel.compile(**{**bound, **values}).ir
        except (CompileError, LaunchError):
            return ""

    def _show(self, text: str) -> None:
        is_shown = sys.stderr.isatty() if self._progress is None else self._progress
        if is_shown:
            print(f"tuning {self.kernel.name}: {text}", file=sys.stderr, flush=True)


make_opaque(Autotuned.__call__)


def _check_kernel(kernel: object) -> None:
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"@eas.autotune stands above @eas.kernel, and takes a kernel, not {kernel!r}"
        )


def _module_of(kernel: Kernel) -> str:
    module = kernel.fn.__module__
    return Path(kernel.fn.__code__.co_filename).stem if module == "__main__" else module


def _in_words(trial: Trial) -> str:
    if trial.outcome.is_right:
        return f"{trial.seconds * 1e6:.1f} µs"
    return f"{trial.outcome.status}, {trial.outcome.reason}"


def _none_works(trials: Sequence[Trial]) -> str:
    """The reasons, each once with its configs, and the first report that says where."""
    configs: dict[str, list[str]] = {}
    for each in trials:
        configs.setdefault(_in_words(each), []).append(str(each.config))
    rows = [f"  {_listed(names)}: {words}" for words, names in configs.items()]
    reported = [each for each in trials if each.outcome.report][:1]
    reports = [f"\nwith {each.config}:\n{each.outcome.report}" for each in reported]
    return "\n".join(["no config works:", *rows, *reports])


def _listed(names: Sequence[str]) -> str:
    left = len(names) - _MOST_NAMED
    return "; ".join([*names[:_MOST_NAMED], *([f"{left} more"] if left > 0 else [])])
