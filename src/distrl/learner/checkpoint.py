"""Checkpoints: folders written atomically, and loaded only after every checksum was compared.

    checkpoints/<step>/  model/                  Hugging Face folder, the critic beside it: what evaluation loads
                         weights.safetensors     every trainable parameter by name: what training resumes from
                         average.safetensors     their moving average (EMA) by parameter index, where it is on
                         optimiser.safetensors   AdamW's moments by parameter index
                         replay.json             ids and priorities; the trajectories are in the run store
                         state.json              version, counters, random states, whatever the caller adds
                         manifest.json           SHA-256 of every other file

Written to a hidden folder, every file synced, renamed last. Nothing in it can run code.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors.numpy import load_file as load_arrays
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import load_file as load_tensors
from safetensors.torch import save_file as save_tensors

from distrl.errors import CheckpointError, CorruptData, StorageFull
from distrl.learner.learner import Learner
from distrl.types import Tree, VersionedWeights

PARTIAL_PREFIX = ".writing-"
NAME = re.compile(r"(\d+)(?:\.(\d+))?")
AVERAGE = "average.safetensors"
MOMENTS = ("step", "exp_avg", "exp_avg_sq")


# --- writing ------------------------------------------------------------------------------------


def save(folder: Path, learner: Learner, replay_state: Tree, extra: Tree) -> Path:
    """Write `folder/<version>` and return it; of the older ones, `learner.keep_checkpoints` − 1 stay.

    Raises `StorageFull`, and leaves the older checkpoints alone, when the disk has no room.
    """
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f"{PARTIAL_PREFIX}{uuid.uuid4().hex}"
    try:
        with _room_needed(folder):
            _write(partial, learner, replay_state, extra)
            done = _free_name(folder, learner.version)
            os.rename(partial, done)
            _sync(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    _prune(folder, keep=learner.config.learner.keep_checkpoints)
    return done


def _write(partial: Path, learner: Learner, replay_state: Tree, extra: Tree) -> None:
    (partial / "model").mkdir(parents=True)
    with learner.outgoing():
        learner.policy.save(partial / "model")
    if learner.ema.means:
        save_tensors({str(n): mean.contiguous() for n, mean in enumerate(learner.ema.means)}, partial / AVERAGE)
    save_arrays(learner.policy.weights(), partial / "weights.safetensors")
    save_tensors(_moments(learner.optimiser), partial / "optimiser.safetensors")
    (partial / "replay.json").write_text(json.dumps(replay_state))
    (partial / "state.json").write_text(json.dumps(_state(learner, extra)))
    files = _files(partial)
    for file in files:
        _sync(partial / file)
    manifest = {"format": 1, "sha256": {file: _sha256(partial / file) for file in files}}
    (partial / "manifest.json").write_text(json.dumps(manifest, indent=1))
    _sync(partial / "manifest.json")
    for inner in {(partial / file).parent for file in files} | {partial}:
        _sync(inner)


def _state(learner: Learner, extra: Tree) -> Tree:
    return {
        "version": learner.version,
        "steps": learner.steps,
        "averaged": learner.ema.count,
        "rng": learner.rng.bit_generator.state,
        "torch_rng": torch.get_rng_state().numpy().tobytes().hex(),
        "extra": extra,
    }


def _moments(optimiser: torch.optim.AdamW) -> dict[str, torch.Tensor]:
    states = optimiser.state_dict()["state"]
    return {f"{index}.{name}": states[index][name].contiguous() for index in states for name in MOMENTS}


def _free_name(folder: Path, step: int) -> Path:
    """`<step>`, or `<step>.1` … when there is one already: an existing checkpoint is never overwritten."""
    attempts = [attempt for found, attempt, _ in _listing(folder) if found == step]
    return folder / (f"{step}.{max(attempts) + 1}" if attempts else str(step))


def _prune(folder: Path, keep: int) -> None:
    for _, _, path in _listing(folder)[keep:]:
        shutil.rmtree(path, ignore_errors=True)
    for leftover in folder.glob(f"{PARTIAL_PREFIX}*"):  # partial checkpoints of a process that died while writing
        shutil.rmtree(leftover, ignore_errors=True)


# --- reading ------------------------------------------------------------------------------------


def latest(folder: Path, warn: Callable[[str], None] = lambda warning: None) -> Path | None:
    """The newest undamaged checkpoint, None before the first one; `warn` is told why newer ones were skipped.

    Raises `CheckpointError` when every checkpoint is damaged: starting over silently would discard a trained policy.
    """
    listing = _listing(folder)
    for _, _, path in listing:
        try:
            verify(path)
        except CheckpointError as error:
            warn(str(error))
        else:
            return path
    if listing:
        raise CheckpointError(
            f"No checkpoint in {folder} can be used: all of them are damaged. The run's trajectories are untouched. "
            f"Restore one from a backup, or move {folder} away to restart from the initial weights."
        )
    return None


def verify(path: Path) -> None:
    """Raises `CheckpointError`, naming the bad file and the next older checkpoint, unless every checksum matches."""
    try:
        expected = json.loads((path / "manifest.json").read_text())["sha256"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unusable(path, "manifest.json", "is missing or cannot be read") from error
    for file in sorted({*expected, *_files(path)} - {"manifest.json"}):
        if not (path / file).is_file():
            raise _unusable(path, file, "is missing")
        if expected.get(file) != _sha256(path / file):
            raise _unusable(path, file, "is not what was written")


def load(path: Path, learner: Learner) -> Tree:
    """Restore the learner, and return the caller's `extra`. Raises `CheckpointError`."""
    verify(path)
    state = json.loads((path / "state.json").read_text())
    try:
        learner.policy.load(VersionedWeights.seal(state["version"], load_arrays(path / "weights.safetensors")))
    except CorruptData as error:
        raise CheckpointError(
            f"{path} holds another model than policy.model: {error} Resume with the config of the run it came from."
        ) from error
    learner.optimiser = _optimiser(path, learner)
    learner.ema.restore(_means(path), int(state.get("averaged", 0)))
    learner.version, learner.steps, learner.bad_steps = int(state["version"]), int(state["steps"]), 0
    learner.rng.bit_generator.state = state["rng"]
    torch.set_rng_state(torch.frombuffer(bytearray.fromhex(state["torch_rng"]), dtype=torch.uint8))
    extra: Tree = state["extra"]
    return extra


def replay_state(path: Path) -> Tree:
    """The replay index of the checkpoint: what `ReplayBuffer.restore` takes."""
    state: Tree = json.loads((path / "replay.json").read_text())
    return state


def _means(path: Path) -> list[torch.Tensor]:
    if not (path / AVERAGE).is_file():
        return []
    kept = load_tensors(path / AVERAGE)
    return [kept[str(n)] for n in range(len(kept))]


def _optimiser(path: Path, learner: Learner) -> torch.optim.AdamW:
    optimiser = learner.new_optimiser()
    state = optimiser.state_dict()
    moments: dict[int, dict[str, Any]] = {}
    for key, tensor in load_tensors(path / "optimiser.safetensors").items():
        index, name = key.split(".")
        moments.setdefault(int(index), {})[name] = tensor
    optimiser.load_state_dict({**state, "state": moments})
    return optimiser


# --- files --------------------------------------------------------------------------------------


def _listing(folder: Path) -> list[tuple[int, int, Path]]:
    """(step, attempt, path), newest first."""
    if not folder.is_dir():
        return []
    named = [(NAME.fullmatch(path.name), path) for path in folder.iterdir()]
    return sorted(((int(m[1]), int(m[2] or 0), path) for m, path in named if m), reverse=True)


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _unusable(path: Path, file: str, what: str) -> CheckpointError:
    names = [found.name for _, _, found in _listing(path.parent)]
    older = names[names.index(path.name) + 1 :] if path.name in names else names
    advice = f"The next older checkpoint is {path.parent / older[0]}." if older else "There is no older checkpoint."
    return CheckpointError(f"The checkpoint {path} cannot be used: {file} {what}. {advice}")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _room_needed(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, safetensors.SafetensorError) as error:
        full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or "os error 28" in str(error)
        if not full and "code: 28" not in str(error):
            raise
        raise StorageFull(
            f"No disk space left to write a checkpoint into {folder}. The older ones are untouched: free space there, "
            "and the run continues, or can be resumed with `distrl train --resume`."
        ) from error
