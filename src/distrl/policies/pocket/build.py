"""Builds an untrained pocket model and its processor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from transformers import CLIPImageProcessor, LlavaProcessor

from distrl.policies.pocket.modeling import PocketConfig, PocketForConditionalGeneration
from distrl.policies.pocket.tokenizer import build_tokenizer

WIDTH, DEPTH, HEADS, MLP = 192, 5, 4, 512
STEM, MIXING = (32, 64), 3
TIED_LAYERS = 3
CELL = 32
"""Pixels: two patches."""


def build_processor(words: Iterable[str]) -> Any:
    """Stock Hugging Face parts: screens are resized to 192×384 and stand for 72 image tokens."""
    size = {"height": 384, "width": 192}
    half = [0.5, 0.5, 0.5]
    images = CLIPImageProcessor(size=size, do_center_crop=False, image_mean=half, image_std=half, do_convert_rgb=True)
    tokenizer = build_tokenizer(words)
    return LlavaProcessor(
        images, tokenizer, patch_size=CELL, vision_feature_select_strategy="full", chat_template=tokenizer.chat_template
    )


def build_model(processor: Any, *, seed: int) -> PocketForConditionalGeneration:
    tokenizer = processor.tokenizer
    text = {
        "vocab_size": len(tokenizer),
        "hidden_size": WIDTH,
        "intermediate_size": MLP,
        "num_hidden_layers": DEPTH,
        "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS,
        "max_position_embeddings": 512,
        "tie_word_embeddings": True,
    }
    ends = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id}
    torch.manual_seed(seed)
    config = PocketConfig(
        text_config={**text, **ends},
        image_token_id=tokenizer.image_token_id,
        stem_channels=STEM,
        vision_mixing=MIXING,
        cell_norm=True,
        **ends,
    )
    model = PocketForConditionalGeneration(config)
    _tie_queries_to_keys(model)
    return model


def _tie_queries_to_keys(model: PocketForConditionalGeneration) -> None:
    """Initialise the keys of the first layers equal to the queries, so that a token attends to similar tokens: a screen
    cell to the word of the goal that it shows.

    Learning this from random weights takes a million examples. Only the initial values are tied.
    """
    for layer in model.language_model.layers[:TIED_LAYERS]:
        query, key = layer.self_attn.q_proj.weight, layer.self_attn.k_proj.weight
        torch.nn.init.normal_(query, std=0.08)
        key.data.copy_(query.data)
