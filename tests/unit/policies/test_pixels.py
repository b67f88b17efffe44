from types import SimpleNamespace

import pytest
import torch
from transformers import CLIPImageProcessor

from distrl.policies.inputs import PromptEncoder
from distrl.policies.pixels import BYTES, PIXELS, normaliser


def encoder_of(image_processor):
    return PromptEncoder(SimpleNamespace(tokenizer=None, image_processor=image_processor), 0, instruct=False)


def clip(**settings):
    return CLIPImageProcessor(size={"height": 48, "width": 32}, do_center_crop=False, **settings)


@pytest.mark.parametrize("settings", [{}, {"do_normalize": False}, {"image_std": [0.1, 0.2, 0.3]}])
def test_bytes_become_what_the_processor_makes(settings):
    encoder = encoder_of(clip(**settings))
    normalise = normaliser(encoder)
    screens = [encoder.blank(colour) for colour in ("orange", "teal")]

    given = encoder.pixels(screens, **BYTES)[PIXELS]

    assert given.dtype == torch.uint8
    torch.testing.assert_close(normalise(given), encoder.pixels(screens)[PIXELS].float(), atol=1e-5, rtol=0)


class Squares(CLIPImageProcessor):
    """Does something of its own after normalising."""

    def __call__(self, images, **settings):
        made = super().__call__(images, **settings)
        return {PIXELS: made[PIXELS].float() ** 2} if settings.get("do_normalize", True) else made


class WithMask(CLIPImageProcessor):
    def __call__(self, images, **settings):
        return {**super().__call__(images, **settings), "pixel_mask": torch.ones(len(images))}


@pytest.mark.parametrize("kind", [Squares, WithMask])
def test_a_processor_that_does_more_than_normalise_is_used_as_it_is(kind):
    assert normaliser(encoder_of(kind(size={"height": 48, "width": 32}, do_center_crop=False))) is None


def test_so_is_one_of_another_kind():
    assert normaliser(encoder_of(lambda images, return_tensors: {PIXELS: torch.zeros(len(images), 3, 4, 4)})) is None
