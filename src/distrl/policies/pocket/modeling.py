"""The pocket model: a vision-language model of about 4M parameters that fits a laptop and reads a phone's screen.

ViT over 16-px patches → 2×2 merge → one feature per 32-px cell → a small Llama decoder over [text, cells, action].
Convolutions before the patches, and depthwise ones before every block, learn to read small type sooner: they are
translation equivariant, within a patch and across the screen.
Importing this module registers the model with Hugging Face's Auto classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import (
    AutoConfig,
    AutoModelForImageTextToText,
    GenerationMixin,
    LlamaConfig,
    LlamaModel,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.modeling_outputs import BaseModelOutputWithPooling, CausalLMOutputWithPast


class PocketConfig(PreTrainedConfig):  # type: ignore[misc]
    model_type = "distrl-pocket"
    sub_configs = {"text_config": LlamaConfig}

    def __init__(
        self,
        text_config: dict[str, Any] | LlamaConfig | None = None,
        image_height: int = 384,
        image_width: int = 192,
        patch_size: int = 16,
        stem_channels: Sequence[int] = (),
        vision_width: int = 192,
        vision_depth: int = 4,
        vision_mixing: int = 0,
        vision_heads: int = 4,
        cell_norm: bool = False,
        image_token_id: int = 0,
        tie_word_embeddings: bool = True,
        **rest: Any,
    ) -> None:
        text = text_config.to_dict() if isinstance(text_config, LlamaConfig) else dict(text_config or {})
        self.text_config = LlamaConfig(**text)
        self.image_height = image_height
        self.image_width = image_width
        self.patch_size = patch_size
        self.stem_channels = list(stem_channels)
        """Channels of the convolutions before the patches, each with stride 2; none in the first weights."""
        self.vision_width = vision_width
        self.vision_depth = vision_depth
        self.vision_mixing = vision_mixing
        """Kernel size of the depthwise convolution over patches before every block; 0 (none) in the first weights."""
        self.vision_heads = vision_heads
        self.cell_norm = cell_norm
        """Scale image features to the norm of token embeddings; in the first weights their norm was 27 times larger."""
        self.image_token_id = image_token_id
        super().__init__(tie_word_embeddings=tie_word_embeddings, **rest)

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of patches."""
        return self.image_height // self.patch_size, self.image_width // self.patch_size


class VisionBlock(nn.Module):
    """Patches [B, rows · columns, width] → the same shape: depthwise convolution, attention, MLP."""

    def __init__(self, config: PocketConfig) -> None:
        super().__init__()
        width, size = config.vision_width, config.vision_mixing
        self.grid = config.grid
        self.heads = config.vision_heads
        self.mixing = nn.Conv2d(width, width, size, padding=size // 2, groups=width) if size else None
        self.attention_norm = nn.RMSNorm(width)
        self.mlp_norm = nn.RMSNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        if self.mixing is not None:
            grid = x.transpose(1, 2).reshape(batch, width, *self.grid)
            x = x + self.mixing(grid).flatten(2).transpose(1, 2)
        qkv = self.qkv(self.attention_norm(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        out: Tensor = x + self.down(functional.gelu(self.up(self.mlp_norm(x))))
        return out


class Vision(nn.Module):
    """Screens [B, 3, H, W] → features [B, cells, text width], one per 2×2 patches, row by row."""

    def __init__(self, config: PocketConfig) -> None:
        super().__init__()
        width = config.vision_width
        self.rows, self.columns = config.grid
        self.stem = _stem(config)
        self.where = nn.Parameter(torch.zeros(1, self.rows * self.columns, width))
        self.blocks = nn.ModuleList(VisionBlock(config) for _ in range(config.vision_depth))
        self.merge = nn.Linear(4 * width, config.text_config.hidden_size)
        self.norm = nn.RMSNorm(config.text_config.hidden_size) if config.cell_norm else nn.Identity()
        self.cell = nn.Parameter(torch.zeros(1, self.rows * self.columns // 4, config.text_config.hidden_size))

    def forward(self, pixels: Tensor) -> Tensor:
        x = self.stem(pixels).flatten(2).transpose(1, 2) + self.where
        for block in self.blocks:
            x = block(x)
        batch, _, width = x.shape
        quads = x.view(batch, self.rows // 2, 2, self.columns // 2, 2, width).permute(0, 1, 3, 2, 4, 5)
        merged: Tensor = self.merge(quads.reshape(batch, -1, 4 * width))
        return merged


def _stem(config: PocketConfig) -> nn.Module:
    """Screens [B, 3, H, W] → patches [B, width, rows, columns]."""
    layers: list[nn.Module] = []
    for before, after in pairwise((3, *config.stem_channels)):
        layers += [nn.Conv2d(before, after, 3, stride=2, padding=1), nn.GELU()]
    rest = config.patch_size // 2 ** len(config.stem_channels)
    patches = nn.Conv2d((3, *config.stem_channels)[-1], config.vision_width, rest, stride=rest)
    return nn.Sequential(*layers, patches) if layers else patches


class PocketForConditionalGeneration(PreTrainedModel, GenerationMixin):  # type: ignore[misc]
    config_class = PocketConfig
    base_model_prefix = "model"
    main_input_name = "input_ids"
    _tied_weights_keys = {"lm_head.weight": "language_model.embed_tokens.weight"}
    _supports_sdpa = True
    _supports_cache_class = True

    def __init__(self, config: PocketConfig) -> None:
        super().__init__(config)
        self.vision_tower = Vision(config)
        self.language_model = LlamaModel(config.text_config)
        self.lm_head = nn.Linear(config.text_config.hidden_size, config.text_config.vocab_size, bias=False)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        super()._init_weights(module)
        if isinstance(module, Vision):
            nn.init.normal_(module.where, std=0.02)
            nn.init.normal_(module.cell, std=0.02)
            if isinstance(module.norm, nn.RMSNorm):
                nn.init.constant_(module.norm.weight, module.norm.normalized_shape[0] ** -0.5)
            for layer in module.modules():
                if isinstance(
                    layer, nn.Linear | nn.Conv2d
                ):  # torch's default initialisation is larger, and learns to read sooner
                    nn.init.kaiming_uniform_(layer.weight, a=5**0.5)

    def get_input_embeddings(self) -> nn.Module:
        embeddings: nn.Module = self.language_model.embed_tokens
        return embeddings

    def set_input_embeddings(self, value: nn.Module) -> None:
        self.language_model.embed_tokens = value

    def get_output_embeddings(self) -> nn.Module:
        return self.lm_head

    def get_image_features(self, pixel_values: Tensor, **_: Any) -> BaseModelOutputWithPooling:
        """Features as the decoder takes them; `last_hidden_state` is without norm and position embedding."""
        tower = self.vision_tower
        read = tower(pixel_values)
        return BaseModelOutputWithPooling(last_hidden_state=read, pooler_output=tower.norm(read) + tower.cell)

    def forward(
        self,
        input_ids: Tensor | None = None,
        pixel_values: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        past_key_values: Any = None,
        inputs_embeds: Tensor | None = None,
        use_cache: bool | None = None,
        logits_to_keep: int = 0,
        **rest: Any,
    ) -> CausalLMOutputWithPast:
        if inputs_embeds is None:
            inputs_embeds = self.language_model.embed_tokens(input_ids)
            if pixel_values is not None and input_ids is not None:
                features = self.get_image_features(pixel_values).pooler_output.to(inputs_embeds.dtype)
                here = (input_ids == self.config.image_token_id).unsqueeze(-1)
                inputs_embeds = inputs_embeds.masked_scatter(here, features)
        output = self.language_model(
            inputs_embeds=inputs_embeds,
            attention_mask=attention_mask,
            position_ids=position_ids,
            past_key_values=past_key_values,
            use_cache=use_cache,
            **{key: value for key, value in rest.items() if key == "cache_position"},
        )
        hidden = output.last_hidden_state
        logits = self.lm_head(hidden[:, -logits_to_keep:] if logits_to_keep else hidden)
        return CausalLMOutputWithPast(logits=logits, past_key_values=output.past_key_values)

    def prepare_inputs_for_generation(
        self,
        input_ids: Tensor,
        inputs_embeds: Tensor | None = None,
        pixel_values: Tensor | None = None,
        is_first_iteration: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        inputs: dict[str, Any] = super().prepare_inputs_for_generation(
            input_ids, inputs_embeds=inputs_embeds, is_first_iteration=is_first_iteration, **kwargs
        )
        if is_first_iteration or not kwargs.get("use_cache", True):
            inputs["pixel_values"] = pixel_values
        return inputs


AutoConfig.register(PocketConfig.model_type, PocketConfig, exist_ok=True)
AutoModelForImageTextToText.register(PocketConfig, PocketForConditionalGeneration, exist_ok=True)
