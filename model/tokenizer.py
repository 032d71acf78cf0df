"""Text to token ids and back, through Hugging Face's `tokenizers`. Knows nothing about the network."""

import codecs
import re
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer as BackEnd
from tokenizers.pre_tokenizers import ByteLevel

from .errors import GlassLlamaError
from .tokenizer_file import MOST_TOKENS, lacking_bytes, read_back_end, rust_calls, steps

FAILS = "prompt: the tokenizer fails on this text"
HALF = "\ufffd"  # what decoding gives for bytes that are no whole character


def _show_bytes(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are no whole character, as ⟨E7⟩⟨8C⟩."""
    assert isinstance(error, UnicodeDecodeError)
    return "".join(f"⟨{byte:02X}⟩" for byte in error.object[error.start : error.end]), error.end


codecs.register_error("show_bytes", _show_bytes)


def _byte_of_symbol() -> dict[str, int]:
    """The printable stand-in of each byte in byte-level vocabularies (GPT-2's table): symbol -> byte.

    Printable Latin-1 bytes stand for themselves; the others take the symbols from U+0100 on, in order.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in printable}
    for i, byte in enumerate(b for b in range(256) if b not in printable):
        table[chr(0x100 + i)] = byte
    assert table.keys() == set(ByteLevel.alphabet())
    return table


class Tokenizer:
    """A checkpoint's tokenizer: `encode` adds what the checkpoint's own tokenizer.json says (a BOS, or nothing).

    `chat_template` is the Jinja template of a conversation, where the checkpoint's file has one (GGUF).
    """

    def __init__(self, back_end: BackEnd, chat_template: str | None = None):
        self.back_end = back_end
        self.chat_template = chat_template
        decoders = steps("decoder", back_end.decoder)
        self._byte_level = _byte_of_symbol() if any(step.kind == "ByteLevel" for step in decoders) else None
        self._lacking = lacking_bytes(back_end, self._byte_level)
        self._special = back_end.get_added_tokens_decoder()
        self._pieces: dict[int, str] = {}  # as they were shown: every message names some hundred tokens

    @classmethod
    def from_file(cls, path: Path, vocab_size: int = MOST_TOKENS) -> "Tokenizer":
        """Read a `tokenizer.json` whose ids are below `vocab_size`. Raises GlassLlamaError as `read_back_end` does."""
        return cls(read_back_end(path, vocab_size))

    def __len__(self) -> int:
        return self.back_end.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """Token ids of a text.

        Raises GlassLlamaError for a lone surrogate, which is no character at all, for a character that no token stands
        for, and where the tokenizer fails on the text.
        """
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise GlassLlamaError(
                "surrogate",
                f"prompt: character {error.start + 1} is half of a surrogate pair, not a character; remove it.",
                position=error.start + 1,
            ) from error
        with rust_calls(FAILS):
            self._check_known(text)
            return self.back_end.encode(text).ids

    def _check_known(self, text: str) -> None:
        if not self._lacking:
            return
        read = self.back_end.normalizer.normalize_str(text) if self.back_end.normalizer else text
        for character in read:
            if lacking := self._lacking.intersection(character.encode()):
                said = f"prompt: the model has no token for byte {min(lacking):02X} of {character!r}; leave it out."
                raise GlassLlamaError("unknown_character", said, character=character)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Of each token of a text, which characters it is of: the first, and the one after the last."""
        with rust_calls(FAILS):
            return self.back_end.encode(text).offsets

    def decode(self, ids: Sequence[int]) -> str:
        """The text of token ids; special tokens leave none."""
        with rust_calls("The tokenizer fails on what was written"):
            return self.back_end.decode(list(ids))

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The text of each token by itself, for display; bytes that are no whole character are shown as ⟨E7⟩."""
        for i in set(ids) - self._pieces.keys():
            self._pieces[i] = self._piece(i)
        return [self._pieces[i] for i in ids]

    def stream(self, prompt: Sequence[int]) -> "TextStream":
        """A decoder that is fed the tokens after `prompt` one by one and gives their text as soon as it is whole."""
        return TextStream(self, prompt)

    def bytes_of(self, token_id: int) -> bytes | None:
        """The UTF-8 bytes that a token stands for; None for special tokens and for ids that are no token."""
        symbols = self.back_end.id_to_token(token_id)
        if symbols is None or token_id in self._special:
            return None
        if self._byte_level is not None:
            if all(symbol in self._byte_level for symbol in symbols):
                return bytes(self._byte_level[symbol] for symbol in symbols)
            return symbols.encode()  # as its decoder has it
        if byte := re.fullmatch("<0x([0-9A-Fa-f]{2})>", symbols):
            return bytes.fromhex(byte[1])
        return symbols.replace("▁", " ").encode()

    def _piece(self, token_id: int) -> str:
        stands_for = self.bytes_of(token_id)
        if stands_for is not None:
            return stands_for.decode("utf-8", errors="show_bytes")
        symbols = self.back_end.id_to_token(token_id)
        return f"⟨{token_id}⟩" if symbols is None else symbols  # checkpoints pad their vocabulary


class TextStream:
    """Text of a growing sequence: a token that ends in the middle of a character gives "" until the rest has come."""

    def __init__(self, tokenizer: Tokenizer, prompt: Sequence[int]):
        self._decode = tokenizer.decode
        self._ids = list(prompt)  # tokens whose text is known, since spaces depend on what is before, then the new ones
        self._before = self._decode(self._ids).rstrip(HALF)
        ends = range(len(self._ids), max(len(self._ids) - 4, -1), -1)  # a character has at most four tokens
        self._known = next((end for end in ends if not self._decode(self._ids[:end]).endswith(HALF)), ends[0])

    def feed(self, token_id: int, last: bool = False) -> str:
        """The text that a token completes. The last token brings all that is left, half a character as U+FFFD."""
        self._ids.append(token_id)
        whole = self._decode(self._ids)
        text = whole.removeprefix(self._before)
        if not text or (whole.endswith(HALF) and not last):
            return ""
        self._ids = self._ids[self._known :]
        self._known, self._before = len(self._ids), self._decode(self._ids)
        return text
