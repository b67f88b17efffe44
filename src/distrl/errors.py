"""Every error this project raises on purpose. A message says what happened, where, and what to do next."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable


class DistrlError(Exception):
    """Root of the tree. The command line prints its message without a traceback and exits with 2."""

    def __reduce__(self) -> tuple[Callable[..., DistrlError], tuple[object, ...]]:
        # Errors cross from process to process as they are, also those whose constructor wants more than a message.
        return _rebuilt, (type(self), *self.args)


def _rebuilt(kind: type[DistrlError], *args: object) -> DistrlError:
    error = kind.__new__(kind, *args)
    error.args = args
    return error


def nearest(name: str, known: Iterable[str]) -> str:
    """' Did you mean …?' for a misspelt name, or an empty string."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else ""


# --- what the user gave us ----------------------------------------------------------------------


class ConfigError(DistrlError):
    """A config file or an override cannot be used."""


class UnknownName(ConfigError):
    """A name that is not registered: a suite, a device scheme, an algorithm, a bench."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        super().__init__(f"There is no {kind} {name!r}.{nearest(name, known)} Known: {', '.join(known)}.")


class ModelNotFound(ConfigError):
    """The policy's model folder is missing or is no Hugging Face model."""


class RunExists(DistrlError):
    """The run folder is there already; nothing in it is touched."""


class RunNotFound(DistrlError):
    """No run folder at the path given."""


class RunBusy(DistrlError):
    """Another process is writing to this run."""


# --- devices ------------------------------------------------------------------------------------


class DeviceError(DistrlError):
    """Something about a phone, real or simulated."""

    blames_device = True
    """False where the phone is well and something else made the episode invalid."""


class DeviceLost(DeviceError):
    """The device stopped answering; its episode is invalid and it needs recovery."""

    def __init__(self, address: str, operation: str, waited_s: float, knob: str = "devices.command_timeout_s") -> None:
        super().__init__(
            f"{address} gave no answer to {operation} within {waited_s:.0f} s. "
            f"Look at the device, or raise {knob} if it is only slow."
        )


class DeviceGone(DeviceLost):
    """The line to the device broke: it is offline, unplugged or rebooting, or its adb server died."""

    def __init__(self, address: str, operation: str, why: str) -> None:
        DeviceError.__init__(
            self,
            f"{address} was lost in {operation}: {why}. We reconnect to it by ourselves; "
            "plug it in again or restart it if that does not help.",
        )


class DeviceFrozen(DeviceLost):
    """The device still talks, but nothing on it moves: after an input, picture and uptime are what they were before."""

    def __init__(self, address: str, uptime_s: float) -> None:
        DeviceError.__init__(
            self,
            f"{address} is frozen: after an input neither its picture nor its uptime ({uptime_s:.2f} s) moved. "
            "A reboot helps; if it freezes often, give it less load or another power supply.",
        )


class StillBooting(DeviceError):
    """The device is there, and is not through with starting up."""

    def __init__(self, address: str) -> None:
        super().__init__(
            f"{address} is still starting up; it is asked again in a moment. "
            "Raise devices.boot_timeout_s if it always takes longer than that."
        )


class PhoneFull(DeviceError):
    """The phone's storage is full, and emptying its caches was not enough."""

    def __init__(self, address: str, free_mb: float) -> None:
        super().__init__(
            f"{address} has {free_mb:.0f} MB of storage left, also with its caches emptied. "
            "Remove apps or files, or let resets erase the app's data with reset=clear in its address."
        )


class NoPicture(DeviceLost):
    """The device answers, but every way to take a picture of its screen gives none that is whole."""

    def __init__(self, address: str, reasons: Iterable[str]) -> None:
        DeviceError.__init__(
            self,
            f"{address} gives no picture of its screen: {'; '.join(reasons)}. "
            "Try `adb exec-out screencap -p > screen.png`, and restart the device if that fails too.",
        )


class NoSuchDevice(DeviceError):
    """No device of that name is attached, or none is free."""


class NoEmulator(NoSuchDevice):
    """This machine cannot start the emulator that an address names: no SDK, no AVD, no snapshot, no port is left."""


class BootFailed(DeviceError):
    """An emulator was started as often as it may be, and no phone came of it."""

    def __init__(self, address: str, reasons: Iterable[str]) -> None:
        tries = "; ".join(f"{number}. {reason}" for number, reason in enumerate(reasons, 1))
        super().__init__(
            f"{address} does not start. Tries: {tries} Start it yourself with `emulator -avd`, ask `distrl doctor` "
            "about KVM, or raise boot_s in its address if it is only slow."
        )


class SnapshotFailed(DeviceLost):
    """A snapshot cannot be loaded, or no phone comes of it."""

    def __init__(self, address: str, snapshot: str, why: str) -> None:
        DeviceError.__init__(
            self,
            f"{address} did not come back from its snapshot {snapshot!r}: {why} Save it anew with "
            f"`adb emu avd snapshot save {snapshot}` if it happens again and again.",
        )


class NotAuthorized(DeviceError):
    """The phone has not been told to trust this computer."""

    def __init__(self, address: str) -> None:
        super().__init__(
            f"{address} does not trust this computer. Unlock it and press Allow in its box "
            '"Allow USB debugging?"; tick "Always allow" so that it stays so.'
        )


class Unplayable(DeviceError):
    """The device is well, and this task cannot be played on it."""

    blames_device = False


class EpisodeTooLong(DeviceError):
    """Every answer came in time, and together they took too long: a slow policy, or a device that crawls."""

    blames_device = False

    def __init__(self, address: str, limit_s: float) -> None:
        super().__init__(
            f"The episode on {address} took longer than {limit_s:.0f} s. "
            "Raise devices.episode_timeout_s if that is usual."
        )


class KeyboardMissing(Unplayable):
    """The text needs a keyboard that the phone does not have. Nothing was typed."""

    def __init__(self, address: str, text: str) -> None:
        super().__init__(
            f"{address} cannot type {text[:40]!r}: Android's own `input text` knows plain ASCII in one line. "
            "Install ADBKeyBoard (https://github.com/senzhk/ADBKeyBoard): `adb install ADBKeyboard.apk`; "
            "it is switched on for the time of typing only."
        )


class ActionRefused(DeviceError):
    """The device is not allowed, or has no way, to do what the agent wants. Nothing was done, and nothing broke."""


# --- judges -------------------------------------------------------------------------------------


class CannotJudge(DistrlError):
    """A judge lacks what it needs to decide. The episode is invalid, never a failure of the agent."""


class JudgeTrouble(CannotJudge):
    """One request to the judge's endpoint failed in a way that may pass: it is tried again."""

    def __init__(self, what: str, retry_after_s: float = 0.0) -> None:
        super().__init__(what)
        self.retry_after_s = retry_after_s
        """What the endpoint itself asks for."""


class JudgeRefused(CannotJudge):
    """The judge's endpoint will say no every time: a wrong key, model, address or request."""


class BadVerdict(CannotJudge):
    """The judge's model replied something that is not exactly the verdict asked for: it is asked again."""


# --- the learner --------------------------------------------------------------------------------


class CanaryMismatch(DistrlError):
    """The learner's log-probabilities differ from those a worker recorded for the same tokens."""


class TrainingDiverged(DistrlError):
    """Too many learner steps in a row gave a loss or gradient that is not a number."""


# --- what is stored and sent --------------------------------------------------------------------


class CorruptData(DistrlError):
    """Bytes from disk or network that fail their checksum or their schema."""


class CheckpointError(DistrlError):
    """A checkpoint cannot be read, or none is there to resume from."""


class StaleVersion(DistrlError):
    """Weights whose version is not above every version published before."""

    def __init__(self, version: int, highest: int) -> None:
        super().__init__(f"Weights of version {version} were refused: version {highest} was published before.")


class Unreachable(DistrlError):
    """A process of this run gave no answer."""

    def __init__(self, who: str, operation: str, waited_s: float, why: str = "") -> None:
        because = f" ({why})" if why else ""
        super().__init__(
            f"The {who} gave no answer to {operation} within {waited_s:.0f} s{because}. "
            "Raise runtime.wait_s if this machine is only slow."
        )


class ProcessDied(Unreachable):
    """The process was dead when it was asked, or died over the question. It may be starting again."""


class PolicyUnreachable(DistrlError):
    """No policy server answered in time. The episode is invalid, never a failure of the agent."""

    def __init__(self, servers: Iterable[str], waited_s: float) -> None:
        super().__init__(
            f"None of {', '.join(servers)} gave a decision within {waited_s:.0f} s. "
            "Raise runtime.policy_servers if they are only too few, or runtime.wait_s."
        )


class CannotJoin(DistrlError):
    """This machine cannot play for a training: it is not there, or it refuses."""


class ProcessLost(DistrlError):
    """A process of this run died more often than it may be started again."""

    def __init__(self, who: str, times: int, run: object) -> None:
        super().__init__(
            f"The {who} died {times} times. Everything that was acknowledged is safe in {run}; "
            f"go on with `distrl train --resume {run}`, or raise runtime.max_restarts."
        )


class StorageFull(DistrlError):
    """The disk has no room. Nothing acknowledged is lost; free space and resume."""


class PortTaken(DistrlError):
    """A port that we were told to listen on belongs to another program."""
