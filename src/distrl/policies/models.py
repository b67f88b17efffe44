"""Model folders: resolving a model name, and loading a folder without running any code in it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distrl.errors import ModelNotFound

if TYPE_CHECKING:
    import torch

POCKET = Path(__file__).parent / "pocket" / "weights"


def model_folder(model: str | Path) -> Path:
    """The folder of a model name. Raises `ModelNotFound`. Imports nothing heavy."""
    folder = POCKET if str(model) == "pocket" else Path(model)
    if not (folder / "config.json").is_file():
        raise ModelNotFound(
            f"{folder} is no Hugging Face model folder: it has no config.json. "
            "Set policy.model to `pocket` or to a folder with config.json, weights and processor files."
        )
    return folder


def weights_digest(model: str | Path) -> str:
    """SHA-256 of the weights that a model name resolves to now. Raises `ModelNotFound`."""
    digest = hashlib.sha256()
    for weights in sorted(model_folder(model).glob("*.safetensors")):
        digest.update(weights.read_bytes())
    return digest.hexdigest()


def open_model(folder: Path, dtype: str = "float32") -> tuple[Any, Any]:
    """The model and its processor, as Hugging Face loads them, from this folder alone.

    Raises `ModelNotFound` for weights that are no safetensors, for a model that brings its own code, for damaged files.
    """
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForImageTextToText, AutoProcessor
    from transformers.utils.logging import disable_progress_bar

    import distrl.policies.pocket.modeling  # noqa: F401  (makes `pocket` known to Hugging Face)

    disable_progress_bar()
    torch.backends.cuda.matmul.allow_tf32 = (
        True  # several times faster; the canary checks that importance ratios stay close to 1
    )
    own = {"local_files_only": True, "trust_remote_code": False}
    try:
        processor = AutoProcessor.from_pretrained(folder, **own)
        model = AutoModelForImageTextToText.from_pretrained(
            folder, dtype=getattr(torch, dtype), use_safetensors=True, **own
        )
    except (OSError, ValueError, SafetensorError) as error:
        raise ModelNotFound(
            f"{folder} holds no image-text-to-text model that can be loaded: {error} Weights must be safetensors, and "
            "a model that needs code of its own is not loaded."
        ) from error
    return model, processor


def torch_device(name: str) -> torch.device:
    import torch

    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(name)
