"""A policy over any Hugging Face image-text-to-text model: pocket, SmolVLM, Qwen2-VL, LLaVA …

Invariants
- `act` records, per token, the log-probability under the distribution it sampled from; `score` recomputes exactly that.
- The vision tower is frozen by default, so image features are cached by digest and a replayed step costs only the
  language model. If the tower is trained, pixels are cached. Models whose positions depend on the image run uncached.
- The critic gets the decoder's hidden states of the prompt, none of the action.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import GenerationConfig

from distrl.config import PolicyConfig
from distrl.errors import ConfigError, CorruptData, ModelNotFound
from distrl.policies.actions import parse
from distrl.policies.base import Scores
from distrl.policies.cache import ScreenCache
from distrl.policies.critic import Critic
from distrl.policies.inputs import PromptEncoder, pad_left, pad_right
from distrl.policies.models import model_folder, open_model, torch_device
from distrl.policies.pixels import BYTES, PIXELS, normaliser
from distrl.policies.pocket.modeling import PocketForConditionalGeneration
from distrl.policies.sampling import RecordingSampler, distribution, entropy_of
from distrl.types import Decision, Features, Floats, Prompt, Screen, VersionedWeights


class VlmPolicy:
    """A `TrainablePolicy` over a Hugging Face model."""

    def __init__(self, model: Any, processor: Any, config: PolicyConfig, *, seed: int = 0, device: str = "cpu") -> None:
        self.model = model.to(torch_device(device)).eval()
        self.device = next(model.parameters()).device
        self.temperature: float = config.temperature
        self.version = 0
        self._max_new_tokens = config.max_new_tokens
        self._image_token_id = _image_token_id(model.config)
        self._generator = torch.Generator().manual_seed(seed)
        instruct = not isinstance(model, PocketForConditionalGeneration)
        self.encoder = PromptEncoder(processor, self._image_token_id, instruct=instruct)
        self._normalise = normaliser(self.encoder)
        self.cache = ScreenCache(config.feature_cache_mb)
        self.cache_kind = self._cacheable(frozen=config.freeze_vision)
        torch.manual_seed(seed)
        self.critic = Critic(model.get_output_embeddings().in_features).to(self.device)
        if config.freeze_vision:
            self._freeze_vision()

    @classmethod
    def load_model(
        cls, config: PolicyConfig, *, seed: int = 0, device: str | None = None, model: Path | None = None
    ) -> VlmPolicy:
        """From `config.model`, or from a checkpoint's folder; with its critic if there is one."""
        folder = model_folder(model or config.model)
        network, processor = open_model(folder, config.dtype)
        policy = cls(network, processor, config, seed=seed, device=device or config.device)
        if (folder / "critic.safetensors").is_file():
            policy.critic.load_state_dict(load_file(folder / "critic.safetensors"))
        return policy

    # --- playing --------------------------------------------------------------------------------

    @torch.no_grad()
    def act(self, prompts: Sequence[Prompt]) -> list[Decision]:
        sampler = RecordingSampler(self.temperature, self._generator, excluded_token=self._image_token_id)
        inputs = self._inputs(prompts)
        with self._decoded() as states:
            self.model.generate(**inputs, generation_config=self._generation(), logits_processor=[sampler])
        values = torch.sigmoid(self.critic(states[0], inputs["attention_mask"])[0]).tolist()
        tokens = torch.stack(sampler.tokens, 1).tolist()
        logprobs = torch.stack(sampler.logprobs, 1).tolist()
        entropies = torch.stack(sampler.entropies, 1).tolist()
        return [self._decision(*row) for row in zip(tokens, logprobs, entropies, values, strict=True)]

    def load(self, weights: VersionedWeights) -> None:
        self.stage(weights)()

    def stage(self, weights: VersionedWeights) -> Callable[[], None]:
        """Holds the trainable parameters a second time in memory until the old ones are replaced."""
        parameters = self._trainable()
        if set(parameters) != set(weights.arrays):
            raise CorruptData(f"Weights of version {weights.version} name other parameters than this policy has.")
        for name, parameter in parameters.items():
            if weights.arrays[name].shape != tuple(parameter.shape):
                raise CorruptData(f"Weights of version {weights.version} have another shape for {name}.")
        # Copies: the arrays are shared with other processes, and torch would write into them.
        ready = {name: torch.from_numpy(weights.arrays[name].copy()).to(p) for name, p in parameters.items()}

        def swap_in() -> None:
            for name, parameter in parameters.items():
                parameter.data = ready[name]
            self.version = weights.version

        return swap_in

    def known_features(self, digests: Sequence[str]) -> Features:
        if self.cache_kind != "features":
            return {}
        found = {digest: self.cache.peek(digest) for digest in digests}
        return {digest: f.float().cpu().numpy().copy() for digest, f in found.items() if f is not None}

    # --- learning -------------------------------------------------------------------------------

    def missing(self, screens: Sequence[Screen]) -> list[str]:
        wanted = dict.fromkeys(s.digest for s in screens if not s.image)
        self.cache.touch(wanted)
        return [digest for digest in wanted if digest not in self.cache]

    def remember(self, screens: Sequence[Screen]) -> None:
        self.cache.touch(s.digest for s in screens)
        new = {s.digest: s for s in screens if s.image and s.digest not in self.cache}
        if not new or self.cache_kind == "nothing":
            return
        pixels = self._pixels(list(new.values()))
        if self.cache_kind == "pixels":
            parts = torch.split(pixels[PIXELS], 1)
        else:
            with torch.no_grad():
                parts = self._by_screen(list(new.values()), self._image_features(pixels))
        for digest, part in zip(new, parts, strict=True):
            self.cache.put(digest, part.clone())

    def adopt(self, screens: Sequence[Screen], features: Features) -> None:
        if self.cache_kind != "features":
            return
        fitting = {s.digest: self._checked_features(s, features[s.digest]) for s in screens if s.digest in features}
        for digest, tensor in fitting.items():
            self.cache.put(digest, tensor)

    def forget(self, digests: Sequence[str]) -> None:
        self.cache.forget(digests)

    def score(self, prompts: Sequence[Prompt], token_ids: Sequence[Sequence[int]]) -> Scores:
        inputs = self._inputs(prompts)
        actions, mask = (t.to(self.device) for t in pad_right(token_ids, self._pad_id))
        length = actions.shape[1]
        with self._decoded() as states:
            logits = self.model(**self._extended(inputs, actions, mask), logits_to_keep=length, use_cache=False).logits
        prompt = inputs["attention_mask"]
        logprobs = distribution(logits[:, -length:], self.temperature, excluded_token=self._image_token_id)
        taken = logprobs.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        value, trajectory_value = self.critic(states[0][:, : prompt.shape[1]], prompt)
        return Scores(
            logprob=(taken * mask).sum(1),
            entropy=(entropy_of(logprobs) * mask).sum(1) / mask.sum(1),
            value_logit=value,
            trajectory_value_logit=trajectory_value,
        )

    def policy_parameters(self) -> list[nn.Parameter]:
        return [p for p in self.model.parameters() if p.requires_grad]

    def critic_parameters(self) -> list[nn.Parameter]:
        return list(self.critic.parameters())

    def weights(self) -> dict[str, npt.NDArray[Any]]:
        return {name: p.detach().float().cpu().numpy() for name, p in self._trainable().items()}

    def save(self, folder: Path) -> None:
        self.model.save_pretrained(folder)
        self.encoder.processor.save_pretrained(folder)
        save_file({k: v.contiguous() for k, v in self.critic.state_dict().items()}, folder / "critic.safetensors")

    # --- inside ---------------------------------------------------------------------------------

    @contextmanager
    def _decoded(self) -> Iterator[list[Tensor]]:
        """Collects the decoder's last hidden states while the block runs, [N, T, width] each."""
        states: list[Tensor] = []
        hook = self.model.get_decoder().register_forward_hook(lambda _, __, output: states.append(output[0]))
        try:
            yield states
        finally:
            hook.remove()

    @property
    def _pad_id(self) -> int:
        tokenizer = self.encoder.tokenizer
        return int(tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id)

    @property
    def _end_ids(self) -> list[int]:
        ends = self.model.generation_config.eos_token_id or self.encoder.tokenizer.eos_token_id
        return [int(end) for end in ends] if isinstance(ends, list) else [int(ends)]

    def _generation(self) -> GenerationConfig:
        return GenerationConfig(
            max_new_tokens=self._max_new_tokens,
            do_sample=False,
            use_cache=True,
            pad_token_id=self._pad_id,
            eos_token_id=self._end_ids,
        )

    def _inputs(self, prompts: Sequence[Prompt]) -> dict[str, Tensor]:
        """Model inputs for these prompts, padded on the left."""
        if self.cache_kind == "nothing":
            return {key: value.to(self.device) for key, value in self.encoder.full(prompts).items()}
        self.remember([p.screen for p in prompts])
        ids, mask = pad_left([self.encoder.token_ids(p) for p in prompts], self._pad_id)
        ids = ids.to(self.device)
        embeds = self.model.get_input_embeddings()(ids)
        features = self._features({p.screen.digest: p.screen for p in prompts})
        joined = torch.cat([features[p.screen.digest] for p in prompts]).to(embeds.dtype)
        here = (ids == self._image_token_id).unsqueeze(-1)
        return {"inputs_embeds": embeds.masked_scatter(here, joined), "attention_mask": mask.to(self.device)}

    def _features(self, screens: Mapping[str, Screen]) -> dict[str, Tensor]:
        """Features by digest, from the cache. If the vision tower is trained, they are computed with gradient."""
        try:
            kept = {digest: self.cache.get(digest) for digest in screens}
        except KeyError as error:
            raise ConfigError(
                f"The features or pixels of {len(screens)} screens do not fit into the cache. Raise "
                "policy.feature_cache_mb, or lower policy.batch_size and learner.micro_batch."
            ) from error
        if self.cache_kind == "features":
            return kept
        computed = self._image_features({PIXELS: torch.cat(list(kept.values()))})
        return dict(zip(screens, self._by_screen(list(screens.values()), computed), strict=True))

    def _extended(self, inputs: dict[str, Tensor], actions: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """The prompt followed by all but the last token of the action."""
        extended = dict(inputs)
        attention = torch.cat([inputs["attention_mask"], mask[:, :-1]], 1)
        extended["attention_mask"] = attention
        if "inputs_embeds" in inputs:
            tail = self.model.get_input_embeddings()(actions[:, :-1])
            extended["inputs_embeds"] = torch.cat([inputs["inputs_embeds"], tail], 1)
            extended["position_ids"] = (attention.cumsum(1) - 1).clamp_min(0)
        else:
            extended["input_ids"] = torch.cat([inputs["input_ids"], actions[:, :-1]], 1)
            if "mm_token_type_ids" in inputs:
                extended["mm_token_type_ids"] = torch.cat([inputs["mm_token_type_ids"], 0 * actions[:, :-1]], 1)
        return extended

    def _pixels(self, screens: Sequence[Screen]) -> dict[str, Tensor]:
        """The processor's output for the images, on the model's device; as bytes if `self._normalise` can take them."""
        made = self.encoder.pixels(screens, **(BYTES if self._normalise else {}))
        return {key: value.to(self.device) for key, value in made.items()}

    def _image_features(self, pixels: dict[str, Tensor]) -> Tensor:
        """All image features in the order of the image tokens, [tokens, width]."""
        if self._normalise:
            pixels = {PIXELS: self._normalise(pixels[PIXELS])}
        precise = {k: v.to(self.model.dtype) if v.is_floating_point() else v for k, v in pixels.items()}
        output = self.model.get_image_features(**precise)
        found = getattr(output, "pooler_output", output)
        parts = [found] if isinstance(found, Tensor) else list(found)
        return torch.cat([part.reshape(-1, part.shape[-1]) for part in parts])

    def _by_screen(self, screens: Sequence[Screen], features: Tensor) -> tuple[Tensor, ...]:
        return torch.split(features, [self.encoder.image_tokens(screen) for screen in screens])

    def _cacheable(self, *, frozen: bool) -> Literal["features", "pixels", "nothing"]:
        """What can be cached of a screen."""
        # Multimodal rotary positions are computed from the image grid: those models take the whole input every time.
        if hasattr(getattr(self.model, "model", self.model), "get_rope_index"):
            return "nothing"
        if frozen:
            return "features"
        # Processors that return masks or sizes beside the pixels cannot be batched from single screens.
        return "pixels" if set(self._pixels([self.encoder.blank()])) == {PIXELS} else "nothing"

    def _checked_features(self, screen: Screen, features: Floats) -> Tensor:
        """A copy for the cache. Raises `CorruptData` for a wrong shape or type, or values that are not finite."""
        shape = (self.encoder.image_tokens(screen), self.model.get_input_embeddings().weight.shape[1])
        if features.shape != shape or features.dtype.kind != "f" or not np.isfinite(features).all():
            raise CorruptData(f"Screen {screen.digest[:12]} has features {shape}, all finite; not {features.shape}.")
        return torch.tensor(features, dtype=self.model.dtype, device=self.device)

    def _freeze_vision(self) -> None:
        """Freeze every parameter that image features depend on: those that get a gradient from them."""
        torch.autograd.backward([self._image_features(self._pixels([self.encoder.blank()])).sum()])
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.requires_grad_(False)
                parameter.grad = None

    def _trainable(self) -> dict[str, nn.Parameter]:
        named = {f"model.{n}": p for n, p in self.model.named_parameters() if p.requires_grad}
        return named | {f"critic.{n}": p for n, p in self.critic.named_parameters()}

    def _decision(self, tokens: list[int], logprobs: list[float], entropies: list[float], value: float) -> Decision:
        length = next((i + 1 for i, token in enumerate(tokens) if token in self._end_ids), len(tokens))
        written = tokens[:length]
        text: str = self.encoder.tokenizer.decode([t for t in written if t not in self._end_ids])
        return Decision(
            action=parse(text),
            text=text,
            token_ids=tuple(written),
            logprobs=tuple(logprobs[:length]),
            entropy=sum(entropies[:length]) / length,
            policy_version=self.version,
            value=value,
        )


def _image_token_id(config: Any) -> int:
    for name in ("image_token_id", "image_token_index"):
        if getattr(config, name, None) is not None:
            return int(getattr(config, name))
    raise ModelNotFound(f"{type(config).__name__} names no image token; is it an image-text-to-text model?")
