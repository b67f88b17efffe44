"""Settings of those who play: devices, tasks, policy, workers."""

from __future__ import annotations

from typing import Literal

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt

from distrl.config.settings import PositiveFloat, Settings

TASK_FILES = (".txt", ".yaml", ".yml")
"""Endings of files that hold tasks."""


def is_task_file(suite: str) -> bool:
    """Whether `tasks.suite` means a file and not one of the suites that ship."""
    return suite.endswith(TASK_FILES) or "/" in suite


class DevicesConfig(Settings):
    """The phones, and how long we wait for them."""

    address: str = "sim://phone"
    """URL of the device, e.g. `sim://phone?latency=emulator`, `adb://emulator-5554` or `adb://*` for phones behind adb,
    `avd://Pixel_7` for emulators that are started (docs/android.md)."""

    per_worker: PositiveInt = 8
    """Devices that one worker drives at the same time."""

    command_timeout_s: PositiveFloat = 60.0
    """A device that takes longer to answer one command is lost; its episode is invalid."""

    episode_timeout_s: PositiveFloat = 1800.0
    """An episode that lasts longer is invalid; its task is given back."""

    boot_timeout_s: PositiveFloat = 300.0
    """Longest wait for a device that is opened, boots or loads a snapshot; then the next rung of recovery is tried."""

    last_rung: Literal["retry", "reconnect", "restart helper", "force-stop app", "snapshot", "reboot", "wipe"] = "wipe"
    """How far recovery of a broken device may go before it is quarantined (docs/android.md). `force-stop app` never
    reboots one."""

    quarantine_s: PositiveFloat = 60.0
    """How long a device that no recovery helped is left alone before it is tried again; twice as long each time."""

    quarantine_longest_s: PositiveFloat = 3600.0
    """No quarantine is longer than this."""


class TasksConfig(Settings):
    """What the agent is asked to do."""

    suite: str = "general"
    """Suite of task templates: general, webshop, or a file with tasks of your own, `my-tasks.txt` or `.yaml`
    (docs/tasks.md)."""

    only: tuple[str, ...] = ()
    """Templates to play, by the beginning of their name (`settings/`, `clock/add_alarm`), in training and evaluation
    alike; empty plays the whole suite."""

    split: str = "train"
    """Split that training tasks come from. `all` is every task of a file."""

    curriculum: Literal["uniform", "edge"] = "uniform"
    """uniform: every template equally often; edge: more often where success is near one half."""

    group_size: PositiveInt = 1
    """Each task is handed out this many times in a row. grpo compares the trajectories of one task and needs 2 or more;
    8 is usual."""

    lease_s: PositiveFloat = 3600.0
    """A task leased for longer than this is given back and played by somebody else."""


class PolicyConfig(Settings):
    """The model that looks at the screen and writes an action."""

    model: str = "pocket"
    """`pocket` (ships with the package) or a folder with any Hugging Face image-text-to-text model."""

    temperature: PositiveFloat = 1.0
    """Sampling temperature during training; the recorded log-probabilities are those of this distribution."""

    max_new_tokens: PositiveInt = 24
    """An action that is longer is cut and becomes invalid."""

    history: NonNegativeInt = 3
    """How many previous actions the prompt names."""

    freeze_vision: bool = True
    """Train the language model only; screenshot features are then computed once and cached by hash. Without, the vision
    tower learns, too, at several times the cost of a learner step."""

    feature_cache_mb: PositiveInt = 1024
    """Memory for what is kept of screenshots, per process: features (55 KB a screen with `pocket`), or pixels where
    the vision tower learns (0.2 MB)."""

    dtype: Literal["float32", "bfloat16"] = "float32"
    """Precision of the model's weights in memory."""

    device: str = "auto"
    """Torch device: `cpu`, `cuda`, or `auto` for a GPU where there is one."""

    batch_size: PositiveInt = 32
    """Most screens in one inference batch."""

    batch_wait_ms: NonNegativeFloat = 0.0
    """How long an inference batch that is not full waits for more screens; 0 takes who is there. Some milliseconds pay
    off where many workers share a policy server."""


class WorkersConfig(Settings):
    """Who plays."""

    count: PositiveInt = 1
    """Worker processes; each has its own policy copy and its own devices."""

    inference: Literal["local", "remote"] = "local"
    """local: each worker computes with its own copy of the policy; remote: workers ask `runtime.policy_servers`, and
    need neither a GPU nor the model."""

    spool_mb: PositiveInt = 1024
    """A worker stops starting episodes when this much waits in its spool unacknowledged."""

    share_features: bool = True
    """Workers send the features of new screens along with a trajectory, so that the learner need not look at them
    again. Saves it most of its vision passes; costs more network than the screenshots themselves (55 KB per screen
    with `pocket`). Only with `policy.freeze_vision`."""
