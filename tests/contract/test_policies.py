"""One suite for every kind of model the policy class plays: tiny, random, never downloaded."""

import io

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import (
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    Idefics3ImageProcessor,
    Idefics3Processor,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
    Qwen2VLImageProcessor,
)

from distrl.config import PolicyConfig
from distrl.errors import CorruptData
from distrl.policies.pocket.build import build_model, build_processor
from distrl.policies.pocket.tokenizer import CHAT_TEMPLATE, build_tokenizer
from distrl.policies.vlm import VlmPolicy
from distrl.types import Prompt, Screen, VersionedWeights

torch.set_num_threads(1)

TEXT = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "vocab_size": 700,
}
WORDS = ["set", "an", "alarm", "for"]


def pocket():
    processor = build_processor(WORDS)
    return build_model(processor, seed=0), processor


def idefics3():
    tokenizer = build_tokenizer(WORDS)
    tiles = [f"<row_{r}_col_{c}>" for r in range(1, 5) for c in range(1, 5)]
    extra = ["<fake_token_around_image>", "<global-img>", "<end_of_utterance>", *tiles]
    tokenizer.add_special_tokens({"additional_special_tokens": extra})
    images = Idefics3ImageProcessor(size={"longest_edge": 128}, max_image_size={"longest_edge": 64})
    processor = Idefics3Processor(images, tokenizer, image_seq_len=4, chat_template=CHAT_TEMPLATE)
    vision = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = Idefics3Config(
        text_config={"model_type": "llama", **TEXT},
        vision_config={**vision, "image_size": 64, "patch_size": 16},
        scale_factor=2,
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        pad_token_id=0,
    )
    return Idefics3ForConditionalGeneration(config), processor


class QwenProcessor:
    """Qwen2-VL's image processing and expansion, without the video half that needs torchvision."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.image_processor = Qwen2VLImageProcessor(min_pixels=28 * 28, max_pixels=28 * 28 * 24)
        self.template = CHAT_TEMPLATE.replace("<image>", "<|vision_start|><|image_pad|><|vision_end|>")

    def apply_chat_template(self, chat, **options):
        return self.tokenizer.apply_chat_template(chat, chat_template=self.template, **options)

    def __call__(self, text, images, padding=False, padding_side="left", return_tensors=None):
        pixels = self.image_processor(images=[image for row in images for image in row], return_tensors="pt")
        counts = [int(grid.prod()) // 4 for grid in pixels["image_grid_thw"]]
        whole = [t.replace("<|image_pad|>", "<|image_pad|>" * n) for t, n in zip(text, counts, strict=True)]
        ids = self.tokenizer(whole, padding=padding, padding_side=padding_side, return_tensors=return_tensors)
        types = ids["input_ids"] == self.tokenizer.convert_tokens_to_ids("<|image_pad|>")
        return {**ids, **pixels, "mm_token_type_ids": types.long()}


def qwen2_vl():
    tokenizer = build_tokenizer(WORDS)
    marks = ["<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>"]
    tokenizer.add_special_tokens({"additional_special_tokens": marks})
    image, video, start, end = (tokenizer.convert_tokens_to_ids(mark) for mark in marks)
    config = Qwen2VLConfig(
        text_config={"rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]}, **TEXT},
        vision_config={"depth": 2, "embed_dim": 64, "hidden_size": 64, "num_heads": 4},
        image_token_id=image,
        video_token_id=video,
        vision_start_token_id=start,
        vision_end_token_id=end,
    )
    return Qwen2VLForConditionalGeneration(config), QwenProcessor(tokenizer)


MODELS = {"pocket": pocket, "idefics3": idefics3, "qwen2-vl": qwen2_vl}


@pytest.fixture(params=MODELS)
def policy(request):
    torch.manual_seed(0)
    model, processor = MODELS[request.param]()
    model.generation_config.eos_token_id = 2
    return VlmPolicy(model, processor, PolicyConfig(max_new_tokens=6), seed=1)


def screens(count, seed=0):
    rng = np.random.default_rng(seed)
    return [Screen(jpeg(rng.integers(0, 255, (384, 192, 3), dtype=np.uint8)), 192, 384) for _ in range(count)]


def jpeg(pixels):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def prompts(count=4):
    return [Prompt("Set an alarm for 7:30", s, ("tap 510 20",) * (i % 3)) for i, s in enumerate(screens(count))]


def test_scoring_gives_back_the_probabilities_that_were_sampled_with(policy):
    asked = prompts()
    decisions = policy.act(asked)
    scores = policy.score(asked, [d.token_ids for d in decisions])
    np.testing.assert_allclose(scores.logprob.tolist(), [d.logprob for d in decisions], atol=1e-3)
    np.testing.assert_allclose(scores.entropy.tolist(), [d.entropy for d in decisions], atol=1e-3)


def test_a_decision_is_the_same_alone_and_in_a_batch(policy):
    asked = prompts()
    tokens = [d.token_ids for d in policy.act(asked)]
    together = policy.score(asked, tokens).logprob.tolist()
    alone = [policy.score([p], [t]).logprob.item() for p, t in zip(asked, tokens, strict=True)]
    np.testing.assert_allclose(together, alone, atol=1e-3)


def test_the_screen_matters(policy):
    asked = prompts(2)
    tokens = [policy.act(asked)[0].token_ids] * 2
    same_words = [Prompt(asked[0].goal, p.screen) for p in asked]
    one, other = policy.score(same_words, tokens).logprob.tolist()
    assert one != other


def test_gradients_reach_the_language_model_and_not_the_vision_tower(policy):
    asked = prompts(2)
    policy.score(asked, [d.token_ids for d in policy.act(asked)]).logprob.sum().backward()
    assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in policy.policy_parameters())
    frozen = [p for p in policy.model.parameters() if not p.requires_grad]
    assert frozen
    assert all(p.grad is None for p in frozen)


def test_weights_travel_as_numpy_and_move_the_policy(policy):
    asked = prompts(2)
    tokens = [d.token_ids for d in policy.act(asked)]
    before = policy.score(asked, tokens).logprob.tolist()
    original = policy.weights()
    moved = {name: array * 1.1 for name, array in original.items()}
    policy.load(VersionedWeights(7, moved, ""))
    assert policy.version == 7
    assert policy.act(asked)[0].policy_version == 7
    assert policy.score(asked, tokens).logprob.tolist() != before
    policy.load(VersionedWeights(8, original, ""))
    np.testing.assert_allclose(policy.score(asked, tokens).logprob.tolist(), before, atol=1e-5)


def test_weights_of_another_model_are_refused(policy):
    before = policy.weights()
    with pytest.raises(CorruptData, match="version 3"):
        policy.load(VersionedWeights(3, {"model.else": np.zeros(3)}, ""))
    assert policy.version == 0
    assert all((before[name] == array).all() for name, array in policy.weights().items())


def test_greedy_decisions_repeat_and_sampled_ones_follow_the_seed(policy):
    asked = prompts()
    sampled = [d.token_ids for d in policy.act(asked)]
    assert sampled != [d.token_ids for d in policy.act(asked)]
    policy.temperature = 0.0
    assert [d.token_ids for d in policy.act(asked)] == [d.token_ids for d in policy.act(asked)]
