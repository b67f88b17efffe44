"""The pocket model as it is built anew."""

import json

import pytest
import torch

from distrl.policies.models import model_folder, open_model
from distrl.policies.pocket.build import MIXING, STEM, build_model, build_processor
from distrl.policies.pocket.modeling import PocketConfig, PocketForConditionalGeneration

SCREEN = torch.rand(1, 3, 384, 192, generator=torch.Generator().manual_seed(0)) * 2 - 1


@pytest.fixture(scope="module")
def processor():
    return build_processor(["kitchen", "garden"])


def test_a_new_model_sees_and_one_seed_makes_one_model(processor):
    one, same, other = (build_model(processor, seed=seed).vision_tower(SCREEN) for seed in (0, 0, 1))
    assert one.shape == (1, 72, 192)
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_convolutions_hand_on_what_they_see(processor):
    """Beside it stands where a patch is, with a deviation of 0.02: that must not be all that a block sees."""
    tower = build_model(processor, seed=0).vision_tower
    assert tower.stem(SCREEN).std() > tower.where.std()


def test_image_features_are_scaled_to_the_norm_of_token_embeddings(processor):
    model = build_model(processor, seed=0)
    cells = model.get_image_features(SCREEN).pooler_output.norm(dim=-1).mean()
    words = model.get_input_embeddings().weight.norm(dim=-1).mean()
    assert 0.2 < cells / words < 5


def test_a_cell_of_an_untrained_model_attends_to_the_word_shown_in_it(processor):
    """Before any training, at any position of the word in the goal: three words, then six cells."""
    model = build_model(processor, seed=0)
    torch.manual_seed(0)
    words = torch.nn.functional.normalize(torch.randn(3, 192), dim=-1)
    asked, cells = [], torch.cat([words, words.flip(0)]) + 0.02 * torch.randn(6, 192)
    embeds = torch.cat([words, cells]).unsqueeze(0)
    layer = model.language_model.layers[0]
    layer.self_attn.config._attn_implementation = "eager"
    layer.self_attn.register_forward_hook(lambda _, __, output: asked.append(output[1]))
    model.language_model(inputs_embeds=embeds)
    weights = asked[0][0].mean(0)[3:, :3]  # cells × words, over all heads
    assert weights.argmax(-1).tolist() == [0, 1, 2, 2, 1, 0]


def test_a_model_is_the_same_after_saving(processor, tmp_path):
    model = build_model(processor, seed=0)
    model.save_pretrained(tmp_path)
    processor.save_pretrained(tmp_path)
    opened = open_model(tmp_path)[0]
    assert (opened.config.stem_channels, opened.config.vision_mixing) == (list(STEM), MIXING)
    for sight, again in zip(
        model.get_image_features(SCREEN).values(), opened.get_image_features(SCREEN).values(), strict=True
    ):
        assert torch.equal(sight, again)


def test_weights_that_are_older_than_the_convolutions_open_as_they_were(processor, tmp_path):
    new = build_model(processor, seed=0).config
    without = {"stem_channels": [], "vision_mixing": 0, "cell_norm": False}
    old = PocketForConditionalGeneration(PocketConfig(**{**new.to_dict(), **without}))
    old.save_pretrained(tmp_path)
    processor.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({k: v for k, v in config.items() if k not in without}))
    opened = open_model(tmp_path)[0]
    assert {key: getattr(opened.config, key) for key in without} == without
    assert torch.equal(opened.get_image_features(SCREEN).pooler_output, old.get_image_features(SCREEN).pooler_output)


def test_the_weights_that_ship_are_of_the_shape_that_is_built():
    shipped, built = open_model(model_folder("pocket"))[0].config, build_model(build_processor([]), seed=0).config
    for key in ("stem_channels", "vision_mixing", "cell_norm", "vision_depth"):
        assert getattr(shipped, key) == getattr(built, key)
