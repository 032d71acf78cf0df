"""Finds the heads that do a job, by measurement on held-out documents, and checks the induction heads by ablation."""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from tqdm import tqdm

from model.analysis.head_scores import (
    DEFINITIONS,
    Attention,
    Scores,
    attention_of,
    copying,
    first_token,
    mean_entries,
    mean_scores,
    prefix_matching,
    previous_token,
)
from model.checkpoint import LanguageModel
from model.corpus import Document, documents
from model.corpus.checker.vocabulary import senses
from model.corpus.lexicon import Language
from model.evaluate.ablation import Accuracy, Head, compare
from model.evaluate.cases import SKILLS, collect, language_of

BEST = 3  # heads listed of each kind
SEQUENCES, SEQUENCE_TOKENS, REPEATS = 10, 25, 4  # Olsson et al. 2022
COUNTED = 300  # documents whose tokens are counted, to leave out a tenth as too common and a tenth as too rare
PROMPT_TOKENS = 40  # the longest text that is offered to show a head
_ENTITIES = {"name", "animal", "thing", "food", "place", "furniture"}
_PLACES = {"place", "furniture"}


class Entity(NamedTuple):
    """A mention of a person, animal, thing or place: the tokens from `start` up to `end`."""

    key: str
    kinds: frozenset[str]
    start: int
    end: int


class Text(NamedTuple):
    """A held-out document as tokens, with its entities and the tokens at which its answers begin.

    A repeated random sequence (`repeats`) has neither.
    """

    text: str
    ids: list[int]
    entities: list[Entity]
    answers: list[int]
    repeats: bool


def report_heads(lm: LanguageModel, seed: int, cases: int, out: Path) -> int:
    """Measure, print, and write `out`; 1 when the induction heads matter no more than random ones."""
    found = find(lm, seed, cases)
    out.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    for kind, scores in found["kinds"].items():
        best = ", ".join(f"layer {h['layer']} head {h['head']}: {h['score']:.3f}" for h in scores["best"])
        print(f"{kind:<16} {best}")
    ablation = found["ablation"]
    for what in ("whole", "without", "random_mean"):
        print(f"induction, {what.replace('_', ' '):<12} {ablation[what]['share']:.1%} right, "
              f"{ablation[what]['nats']:.3f} nats a token")  # fmt: skip
    print(f"ablating {len(ablation['heads'])} induction heads costs more than as many others:",
          "met" if ablation["met"] else "NOT met")  # fmt: skip
    return int(not ablation["met"])


def find(lm: LanguageModel, seed: int, cases: int) -> dict[str, Any]:
    """Every kind's definition, scores (L × n_heads), best heads and best prompt; and the ablation check."""
    texts = list(held_out_texts(lm, seed, cases))
    with tqdm(total=len(texts) + SEQUENCES, desc="heads", unit="text", dynamic_ncols=True) as bar:
        by_text: dict[str, list[Scores | None]] = {kind: [] for kind in DEFINITIONS}
        for text in texts:
            for kind, scores in text_scores(attention_of(lm, text.ids), text).items():
                by_text[kind].append(scores)
            bar.update()
        total = {kind: mean_scores(scores) for kind, scores in by_text.items() if any(s is not None for s in scores)}
        total |= random_scores(lm, seed, bar.update)
    kinds = {
        kind: {
            "definition": definition,
            "scores": [[round(score, 4) for score in row] for row in total[kind].tolist()],
            "best": [{"layer": i, "head": h, "score": round(float(total[kind][i, h]), 4)} for i, h in top(total[kind])],
            **best_prompts(kind, texts, by_text[kind], top(total[kind], 1)[0]),
        }
        for kind, definition in DEFINITIONS.items()
        if kind in total
    }
    return {
        "cases": len(texts),
        "seed": seed,
        "kinds": kinds,
        "ablation": ablation(lm, total["induction"], seed, cases),
    }


def text_scores(attention: Attention, text: Text) -> dict[str, Scores | None]:
    """The scores that one document gives; None where it has nothing to measure."""
    found: dict[str, Scores | None] = {
        "previous_token": previous_token(attention),
        "first_token": first_token(attention),
        "induction": prefix_matching(attention, text.ids),
        "same_entity": mean_entries(attention, same_entity_entries(text)),
    }
    right, wrong = place_entries(text)
    mass, other = mean_entries(attention, right), mean_entries(attention, wrong)
    found["answer_to_place"] = None if mass is None or other is None else mass - other
    return found


def same_entity_entries(text: Text) -> list[tuple[int, int]]:
    """(last token of a mention, token of an earlier mention) of the same entity."""
    return [
        (later.end - 1, key)
        for n, later in enumerate(text.entities)
        for earlier in text.entities[:n]
        if earlier.key == later.key
        for key in range(earlier.start, earlier.end)
    ]


def place_entries(text: Text) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """From the token before each place that answers: to earlier mentions of that place, and of other places.

    Answers without both are left out.
    """
    right: list[tuple[int, int]] = []
    wrong: list[tuple[int, int]] = []
    places = [entity for entity in text.entities if entity.kinds & _PLACES]
    for answer in (place for place in places if place.start in text.answers):
        earlier = [place for place in places if place.end < answer.start]
        own = [place for place in earlier if place.key == answer.key]
        if own and len(own) < len(earlier):
            for place in earlier:
                entries = right if place.key == answer.key else wrong
                entries += [(answer.start - 1, key) for key in range(place.start, place.end)]
    return right, wrong


def random_scores(lm: LanguageModel, seed: int, progress: Callable[[], object]) -> dict[str, Scores]:
    """Prefix matching and copying on random tokens, neither very common nor very rare in held-out documents."""
    texts = (document.text for document in islice(documents(seed, "heldout"), COUNTED))
    counts = Counter(token for text in texts for token in lm.tokenizer.encode(text)).most_common()
    usual = [token for token, _ in counts[len(counts) // 10 : -(len(counts) // 10)]]
    rng = random.Random(seed)
    matching, copied = [], []
    for _ in range(SEQUENCES):
        sequence = rng.sample(usual, SEQUENCE_TOKENS)
        repeated = [*lm.config.eos_ids[:1], *sequence * REPEATS]
        matching.append(prefix_matching(attention_of(lm, repeated), repeated))
        copied.append(copying(lm, sequence))
        progress()
    return {"induction": mean_scores(matching), "copying": mean_scores(copied)}


def top(scores: Scores, n: int = BEST) -> list[Head]:
    """The (layer, head) of the highest scores."""
    return [divmod(i, scores.shape[1]) for i in scores.flatten().topk(min(n, scores.numel())).indices.tolist()]


def best_prompts(kind: str, texts: Sequence[Text], scores: Sequence[Scores | None], head: Head) -> dict[str, Any]:
    """`prompt`, the short text on which this head scores highest, a repeated sequence for induction alone, and
    `prompts`, the same among the texts of each language.

    None and nothing for a kind that is not measured on texts.
    """
    short = [
        (float(score[head]), text.text)
        for text, score in zip(texts, scores or [None] * len(texts), strict=True)
        if score is not None and len(text.ids) <= PROMPT_TOKENS and text.repeats == (kind == "induction")
    ]
    by_language: dict[str, tuple[float, str]] = {}
    for score, text in sorted(short):
        by_language[language_of(text)] = (score, text)
    return {
        "prompt": max(short)[1] if short else None,
        "prompts": {language: text for language, (_, text) in sorted(by_language.items())},
    }


def ablation(lm: LanguageModel, induction: Scores, seed: int, cases: int) -> dict[str, Any]:
    """Induction without the heads of the highest prefix-matching scores, and without random ones.

    One head in sixteen is switched off.
    """
    heads = top(induction, max(1, induction.numel() // 16))
    skill = [skill for skill in SKILLS if skill.name == "induction"]
    held_out = [case for found in collect(cases, seed, skill).values() for case in found]
    result = compare(lm, held_out, heads, seed)
    draws = [_rounded(draw) for draw in result.random]
    random_mean = {name: round(mean(draw[name] for draw in draws), 4) for name in ("share", "nats")}
    return {
        "heads": [{"layer": layer, "head": head} for layer, head in heads],
        "cases": len(held_out),
        "whole": _rounded(result.whole),
        "without": _rounded(result.without),
        "random": draws,
        "random_mean": random_mean,
        "met": result.without.share < random_mean["share"],
    }


def _rounded(accuracy: Accuracy) -> dict[str, float]:
    return {name: round(value, 4) for name, value in asdict(accuracy).items()}


def held_out_texts(lm: LanguageModel, seed: int, wanted: int) -> Iterator[Text]:
    """Held-out facts, pronoun texts, short stories and repeated sequences, `wanted` in all."""
    kinds = ("facts", "story", "pronouns", "induction")
    chosen = (d for d in documents(seed, "heldout") if d.kind.startswith(kinds))
    read = (read_text(lm, document) for document in chosen)
    return islice((text for text in read if 3 <= len(text.ids) <= min(256, lm.config.context_limit)), wanted)


def read_text(lm: LanguageModel, document: Document) -> Text:
    """A document's tokens, its entities (of one word) and where its answers begin, in tokens."""
    encoded = lm.tokenizer.back_end.encode(document.text)
    if document.kind == "induction":
        return Text(document.text, encoded.ids, [], [], True)
    token_at = {at: i for i, (start, end) in enumerate(encoded.offsets) for at in range(start, end)}
    language: Language = "en" if document.kind.endswith("en") else "zh"
    known = senses(language)
    entities, at = [], 0
    for word in document.words:
        begin, at = at + len(word) - len(word.lstrip()), at + len(word)
        found = known.get(word.strip(), ())
        kinds = frozenset(sense.kind for sense in found)
        if kinds & _ENTITIES and "function" not in kinds:
            key = min(sense.key for sense in found if sense.kind in _ENTITIES)
            entities.append(Entity(key, kinds, token_at[begin], token_at[at - 1] + 1))
    answers = [token_at[start + len(document.text[start:end]) - len(document.text[start:end].lstrip())]
               for start, end in document.answers]  # fmt: skip
    return Text(document.text, encoded.ids, entities, answers, False)
