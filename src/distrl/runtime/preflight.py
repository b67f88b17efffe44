"""What can be known to be wrong before anything starts: names that do not exist, models that are not there."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from distrl.config import Config, RuntimeConfig
from distrl.devices.open import open_device
from distrl.errors import CheckpointError, ConfigError, CorruptData, PortTaken, StorageFull
from distrl.policies.models import model_folder, torch_device
from distrl.ports import LOOPBACK, is_free
from distrl.tasks.base import load_suite
from distrl.tasks.files.suite import FileSuite
from distrl.types import Screen

LOCAL = "local"
JUDGE_LOOK_S = 10.0
CHECKSUMS = "SHA256SUMS"
"""In a model folder: one line per file, as `sha256sum` writes and checks them."""


def check(config: Config) -> None:
    """Raises the error that a run of this config would run into; starts nothing and writes nothing."""
    suite = load_suite(config.tasks.suite, config.tasks.only)
    for split in (config.tasks.split, config.evaluation.split):
        suite.tasks(split, 1, config.run.seed)
    if isinstance(suite, FileSuite) and config.judge.kind == "rules":
        check_rules(suite, config.devices.address)
    asyncio.run(open_device(config.devices.address, seed=config.run.seed, name="preflight").close())
    if config.devices.address.startswith("avd://"):
        _check_emulators(config)
    model_folder(config.policy.model)
    if config.judge.kind != "rules":
        from distrl.judges.vlm.judge import VlmJudge

        VlmJudge.open(config.judge)
    if config.tasks.group_size < (least := config.algorithm.least_group_size):
        raise ConfigError(
            f"algorithm.name={config.algorithm.name} compares trajectories of one task, and tasks.group_size is "
            f"{config.tasks.group_size}: it would never learn anything. Set tasks.group_size to {least} or more; 8 is "
            "usual."
        )


def check_rules(suite: FileSuite, address: str) -> None:
    """Whether rules alone can judge every task of a file, on this device. Raises `ConfigError`."""
    unruled = [name for name, template in suite.files.items() if template.rules is None]
    if unruled:
        raise ConfigError(
            f"{len(unruled)} of {len(suite.files)} tasks in {suite.source} have no rule, {unruled[0]!r} for one, and "
            "judge.kind is rules. Have a model judge them: judge.kind=vlm, or chain for rules first, with judge.model "
            "and judge.url (docs/judges.md). Or give each task its rules (docs/tasks.md)."
        )
    reading = [name for name, template in suite.files.items() if "shows" in (template.rules or {})]
    if reading and urlsplit(address).scheme in ("adb", "avd") and "tree=1" not in urlsplit(address).query.split("&"):
        raise ConfigError(
            f"{reading[0]!r} of {suite.source} is judged by the texts on the screen, which {address} does not give. "
            "Add tree=1 to devices.address, or set judge.kind=chain."
        )


def check_virtual_time(config: Config) -> None:
    """A clock that jumps over every wait leaves a phone outside this process no time to answer."""
    if config.devices.address.startswith(("adb://", "avd://")):
        raise ConfigError(
            f"{config.devices.address} cannot be used with --serial, whose clock waits for nobody. "
            "Leave --serial out, or use sim://phone."
        )


def check_machine(config: Config) -> None:
    """What a run needs of this machine. Raises `StorageFull` or `PortTaken`; starts nothing and writes nothing."""
    folder = config.run_folder.absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free_mb, needed_mb = shutil.disk_usage(existing).free / 2**20, config.run.minimum_free_mb
    if free_mb < needed_mb:
        raise StorageFull(
            f"{existing} has {free_mb:.0f} MB free, and run.minimum_free_mb asks for {needed_mb}. Nothing was started "
            "or changed. Free some space, or point run.folder at another disk."
        )
    port, listen = config.runtime.port, config.runtime.listen or LOOPBACK
    if not is_free(0, listen):
        raise ConfigError(f"runtime.listen={listen} is no address of this machine; `hostname -I` lists those it has.")
    if port is not None and config.runtime.address == LOCAL and not is_free(port, listen):
        raise PortTaken(
            f"Port {port} on {listen} belongs to another program. Nothing was started or changed. "
            "Set runtime.port to another one, or to null for any that is free."
        )


def _check_emulators(config: Config) -> None:
    """Whether this machine, where it plays itself, has the SDK, the AVD and the snapshot, and may start enough of them.
    Raises `NoEmulator` and `ConfigError`."""
    from distrl.devices.avd.options import AvdOptions
    from distrl.devices.avd.sdk import find_avd, find_sdk

    options = AvdOptions.parse(config.devices.address)
    each, workers = config.devices.per_worker, config.workers.count
    if options.count is not None and each * workers > options.count:
        raise ConfigError(
            f"devices.per_worker={each} times workers.count={workers} asks for {each * workers} phones, and "
            f"{config.devices.address} starts {options.count}. Raise count, or set "
            f"devices.per_worker={max(1, options.count // workers)}."
        )
    if config.runtime.address == LOCAL:
        find_sdk()
        find_avd(options.name, options.snapshot)


def newest_model(run: Path, warn: Callable[[str], None]) -> Path:
    """The model folder of a run's newest checkpoint that is whole. Raises `CheckpointError` when there is none."""
    from distrl.learner import checkpoint

    newest = checkpoint.latest(run / "checkpoints", warn)
    if newest is None:
        raise CheckpointError(f"{run} has no policy to play with yet: its first checkpoint is still to come.")
    return newest / "model"


def processor(device: str) -> str:
    """What a model on this torch device computes with here: `cpu`, `cuda` … Raises `RuntimeError` if unknown."""
    return torch_device(device).type


def reach_judge(config: Config) -> str:
    """Says whether the judge's endpoint answers and takes the key. Raises `ConfigError` or `CannotJudge`."""
    from distrl.judges.vlm.api_key import ApiKey
    from distrl.judges.vlm.endpoint import HttpEndpoint
    from distrl.judges.vlm.judge import VlmJudge

    settings = VlmJudge.open(config.judge).config

    async def look() -> str:
        endpoint = HttpEndpoint(settings.url, ApiKey.from_environment(settings), JUDGE_LOOK_S)
        try:
            return await endpoint.look()
        finally:
            await endpoint.close()

    return f"{settings.url} {asyncio.run(look())}"


def render_phone() -> Screen:
    """What a simulated phone shows at the start of a training task."""
    task = load_suite("general").tasks("train", 1, seed=0)[0]
    return asyncio.run(open_device("sim://phone", seed=0, name="preflight").reset(task))


def start_ray() -> str:
    """Start a Ray as a run would, ask it what it has, and end it."""
    from distrl.runtime.ray import prepare

    prepare(RuntimeConfig())
    import ray

    from distrl.runtime.ray.cluster import Cluster

    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(RuntimeConfig(), Path(folder), "preflight")
        try:
            return f"starts and ends, {ray.cluster_resources()['CPU']:g} CPUs"
        finally:
            cluster.close()


def verify_pocket() -> str:
    """Says what the shipped model is. Raises `ModelNotFound`, or `CorruptData` for a file that was changed."""
    folder = model_folder("pocket")
    verify(folder)
    return f"{sum(path.stat().st_size for path in folder.iterdir()) / 2**20:.1f} MB, every file as it was made"


def verify(folder: Path) -> None:
    """Compare a model folder with its checksums."""
    try:
        lines = (folder / CHECKSUMS).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise CorruptData(f"{folder} has no {CHECKSUMS}, so that its files cannot be trusted.") from error
    for line in lines:
        expected, _, name = line.partition("  ")
        path = folder / name
        if not path.is_file() or _sha256(path) != expected:
            raise CorruptData(f"{path} is missing or is not the file that was made.")


def seal(folder: Path) -> None:
    """Write the checksums of a model folder. Its card is prose and may change."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != CHECKSUMS)
    files = [path for path in files if path.suffix != ".md"]
    text = "".join(f"{_sha256(path)}  {path.name}\n" for path in files)
    (folder / CHECKSUMS).write_text(text, encoding="utf-8")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
