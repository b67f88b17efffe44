"""The pocket model's tokenizer: known words as one token, coordinates as one token each, bytes for everything else.

Any text round-trips. Word tokens exclude the space before them, so that a word in the goal, on the screen and in a
typed text is the same token.
"""

from __future__ import annotations

import string
from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

PAD, BOS, EOS, IMAGE, ACT = "<pad>", "<bos>", "<eos>", "<image>", "<act>"
SPECIALS = (PAD, BOS, EOS, IMAGE, ACT)
VERBS = ("tap", "long_press", "swipe", "type", "press", "wait", "done", "answer", "impossible")
AFTER_VERBS = (' "', " back", " home", " enter")
COORDINATES = tuple(f" {n}" for n in range(0, 1001, 10))

# Coordinates, keys and the opening quote after a verb include the space before them: an action is then 2–6 tokens.
_PIECES = (
    r"(?<=tap|press|swipe|[0-9]) [0-9]+(?![0-9:])"
    r"|(?<=press) (?:back|home|enter)|(?<=type|answer) \""
    r"|long_press|[A-Za-z]+|[0-9]+|\s|[^\sA-Za-z0-9]"
)

CHAT_TEMPLATE = (
    "{% for message in messages %}{% for part in message['content'] %}"
    "{% if part['type'] == 'text' %}{{ part['text'] | lower }}{% else %}<image>{% endif %}"
    "{% endfor %}{% endfor %}{% if add_generation_prompt %}<act>{% endif %}"
)
"""Prompts are converted to lower case; what the model types is lower case too."""


def build_tokenizer(words: Iterable[str]) -> PreTrainedTokenizerFast:
    """A tokenizer that knows these words (lower case) as whole tokens."""
    known = [w for w in dict.fromkeys([*VERBS, "goal", *words]) if len(w) > 1]
    characters = [*string.printable]
    octets = [f"<0x{n:02X}>" for n in range(256)]
    # Scores only order segmentations: one whole piece always beats several, a character beats bytes.
    vocabulary = [(token, 0.0) for token in SPECIALS]
    vocabulary += [(token, -1.0) for token in [*COORDINATES, *AFTER_VERBS, *known]]
    vocabulary += [(token, -20.0) for token in characters]
    vocabulary += [(token, -100.0) for token in octets]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=0, byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(_PIECES), "isolated")
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        bos_token=BOS,
        eos_token=EOS,
        extra_special_tokens={"image_token": IMAGE, "act_token": ACT},
        chat_template=CHAT_TEMPLATE,
        padding_side="left",
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )
