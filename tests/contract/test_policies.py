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
from distrl.errors import ConfigError, CorruptData
from distrl.policies.cache import ScreenCache
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


def test_weights_that_are_made_ready_change_nothing_until_they_are_put_in_place(policy):
    asked = prompts(2)
    tokens = [d.token_ids for d in policy.act(asked)]
    before = policy.score(asked, tokens).logprob.tolist()
    parameters = policy.policy_parameters()
    put_in_place = policy.stage(
        VersionedWeights(7, {name: 1.1 * array for name, array in policy.weights().items()}, "")
    )
    assert policy.version == 0
    assert policy.score(asked, tokens).logprob.tolist() == before
    put_in_place()
    assert policy.version == 7
    assert policy.score(asked, tokens).logprob.tolist() != before
    assert all(
        old is new for old, new in zip(parameters, policy.policy_parameters(), strict=True)
    )  # optimisers hold them


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


# --- features that travel -----------------------------------------------------------------------


def twins(kind):
    """A worker's policy, and a learner's that has seen nothing yet; the third counts the learner's looks at images."""
    made = []
    for _ in range(2):
        torch.manual_seed(0)
        model, processor = MODELS[kind]()
        model.generation_config.eos_token_id = 2
        made.append(VlmPolicy(model, processor, PolicyConfig(max_new_tokens=6), seed=1))
    looks = []
    look = made[1].model.get_image_features
    made[1].model.get_image_features = lambda *given, **named: looks.append(1) or look(*given, **named)
    return *made, looks


def references(asked):
    return [Prompt(p.goal, p.screen.reference(), p.history) for p in asked]


@pytest.mark.parametrize("kind", ["pocket", "idefics3"])
def test_adopted_features_spare_the_vision_tower_and_give_the_same_scores(kind):
    worker, learner, looks = twins(kind)
    asked = prompts()
    tokens = [d.token_ids for d in worker.act(asked)]
    named = references(asked)
    features = worker.known_features([p.screen.digest for p in asked])
    learner.adopt([p.screen for p in named], features)
    assert learner.missing([p.screen for p in named]) == []
    adopted = learner.score(named, tokens).logprob
    assert looks == []
    torch.testing.assert_close(adopted, worker.score(asked, tokens).logprob, rtol=0, atol=0)


@pytest.mark.parametrize("kind", ["pocket", "idefics3"])
def test_a_screen_whose_features_were_lost_or_forgotten_is_seen_by_its_image(kind):
    worker, learner, looks = twins(kind)
    asked = prompts()
    tokens = [d.token_ids for d in worker.act(asked)]
    digests = [p.screen.digest for p in asked]
    learner.adopt([p.screen.reference() for p in asked], worker.known_features(digests[1:]))
    assert learner.missing([p.screen for p in references(asked)]) == digests[:1]
    learner.forget(digests[1:2])
    assert learner.missing([p.screen for p in references(asked)]) == digests[:2]
    learner.remember([p.screen for p in asked])
    assert looks == [1]
    scores = learner.score(references(asked), tokens).logprob
    torch.testing.assert_close(scores, worker.score(asked, tokens).logprob, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", ["pocket", "idefics3"])
def test_features_that_cannot_be_the_screen_s_are_refused_and_none_is_taken(kind):
    worker, learner, _ = twins(kind)
    asked = prompts(2)
    worker.act(asked)
    screens_ = [p.screen.reference() for p in asked]
    good = worker.known_features([s.digest for s in screens_])
    last = good[screens_[1].digest]
    nothing = np.full_like(last, np.nan)
    for bad in (last[1:], last[:, 1:], last[None], np.repeat(last, 2, 0), nothing, last.astype(int)):
        with pytest.raises(CorruptData, match=screens_[1].digest[:12]):
            learner.adopt(screens_, {**good, screens_[1].digest: bad})
    assert len(learner.cache) == 0


def test_known_features_are_copies_and_a_bfloat16_policy_loses_nothing_on_the_way():
    policy, _, _ = twins("pocket")
    (screen,) = screens(1)
    policy.remember([screen])
    computed = policy.cache.get(screen.digest).to(torch.bfloat16)
    policy.forget([screen.digest])
    policy.model.to(torch.bfloat16)  # nothing is computed from here on: not every processor can
    policy.cache.put(screen.digest, computed)
    (array,) = policy.known_features([screen.digest, "unknown"]).values()
    assert array.dtype == np.float32
    policy.forget([screen.digest])
    policy.adopt([screen], {screen.digest: array})
    array[:] = 0
    after = policy.cache.get(screen.digest)
    assert after.dtype == torch.bfloat16
    assert torch.equal(after, computed)


def test_a_policy_that_caches_nothing_shares_and_adopts_nothing():
    worker, learner, _ = twins("qwen2-vl")
    asked = prompts(2)
    worker.act(asked)
    assert worker.known_features([p.screen.digest for p in asked]) == {}
    screen = asked[0].screen.reference()
    learner.adopt([screen], {screen.digest: np.zeros((3, 3), np.float32)})
    assert learner.missing([screen]) == [screen.digest]


# --- a vision tower that learns -----------------------------------------------------------------


@pytest.fixture(params=MODELS)
def learning(request):
    """Two equal policies whose vision tower learns."""
    made = []
    for _ in range(2):
        torch.manual_seed(0)
        model, processor = MODELS[request.param]()
        model.generation_config.eos_token_id = 2
        made.append(VlmPolicy(model, processor, PolicyConfig(max_new_tokens=6, freeze_vision=False), seed=1))
    return made


def test_a_vision_tower_that_learns_gets_a_gradient_and_its_features_never_travel(learning):
    policy, _ = learning
    asked = prompts()
    tokens = [d.token_ids for d in policy.act(asked)]
    policy.score(asked, tokens).logprob.sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in vision_parameters(policy))
    assert policy.known_features([p.screen.digest for p in asked]) == {}


def test_kept_pixels_give_the_scores_and_gradients_of_the_whole_input(learning):
    kept, whole = learning
    if kept.cache_kind == "nothing":
        pytest.skip("takes the whole input every time")
    asked = prompts()
    asked.append(Prompt("another goal on the same screen", asked[0].screen))
    tokens = [d.token_ids for d in kept.act(asked)]
    whole.cache_kind = "nothing"
    scores = [policy.score(shown, tokens).logprob for policy, shown in ((kept, references(asked)), (whole, asked))]
    torch.testing.assert_close(*scores)
    for score in scores:
        score.sum().backward()
    for ours, theirs in zip(vision_parameters(kept), vision_parameters(whole), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-3, atol=1e-5)


def vision_parameters(policy):
    """What image features depend on."""
    image = policy._image_features(policy._pixels([policy.encoder.blank()])).sum()
    named = [p for p in policy.model.parameters() if p.requires_grad]
    found = torch.autograd.grad(image, named, allow_unused=True)
    return [p for p, gradient in zip(named, found, strict=True) if gradient is not None]


# --- how much is kept ---------------------------------------------------------------------------


def test_a_cache_too_small_for_one_batch_says_which_setting_to_raise(policy):
    if policy.cache_kind == "nothing":
        pytest.skip("takes the whole input every time")
    policy.cache = ScreenCache(capacity_mb=0)
    with pytest.raises(ConfigError, match="Raise policy.feature_cache_mb"):
        policy.act(prompts(2))


def test_what_a_batch_knows_already_is_not_pushed_out_by_what_it_brings(policy):
    if policy.cache_kind == "nothing":
        pytest.skip("takes the whole input every time")
    first, second, third = prompts(3)
    policy.act([first])
    room = policy.cache.get(first.screen.digest).numel() * 4 * 2
    policy.cache = ScreenCache(capacity_mb=1)
    policy.cache._capacity_bytes = room  # for two screens
    policy.act([first])
    policy.act([second])
    policy.act([third, first])  # the cache is full, and the first was used longest ago
    assert policy.missing([second.screen.reference()])

    policy.act([second])
    reference = first.screen.reference()
    assert not policy.missing([reference])  # a learner asks before it brings the images it lacks
    policy.remember([third.screen])
    policy.score([Prompt(first.goal, reference)], [[5, 2]])
