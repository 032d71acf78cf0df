"""What one more token of a sequence adds to the cache: at first in every layer, later where no window is full yet."""

from typing import NamedTuple

from ..published.spec import ModelSpec
from . import kv_token_terms
from .options import KvOptions
from .stages import draft_setup, find_spec
from .terms import KvTerm, Place, window_slots


class Phase(NamedTuple):
    """Tokens of a sequence that each add the same products: up to token `until`, or all later ones where it is None.

    `fills` is the place ("sliding" or "chunked") whose window or chunk that token fills.
    """

    until: int | None
    terms: tuple[KvTerm, ...]
    fills: Place | None = None

    @property
    def bytes(self) -> int:
        """Bytes that one token adds, over all ranks and stages."""
        return sum(term.bytes for term in self.terms)


def kv_growth(spec: ModelSpec | str, dtype: str = "bf16", options: KvOptions | None = None) -> tuple[Phase, ...]:
    """What each token adds before and after each window is full: one phase where no layer drops tokens, else more.

    A phase ends at the token that fills a window (see KvOptions.window); a full window takes in one token and drops
    one. The first phase holds the products of `kv_bytes_per_token`. Where every layer drops tokens, the last one holds
    none. Pages and reservations do not count. Raises as `kv_cache_bytes`.
    """
    spec, options = find_spec(spec), options or KvOptions()
    terms = kv_token_terms(spec, dtype, options)
    if not terms:  # state-space layers alone: no token takes anything
        return (Phase(None, ()),)
    full_at = [_full_at(term, spec, options) for term in terms]
    phases = []
    for until in [*sorted({end for end in full_at if end is not None}), None]:
        kept = tuple(
            term
            for term, end in zip(terms, full_at, strict=True)
            if end is None or (until is not None and until <= end)
        )
        fills: Place | None = next(
            (term.place for term, end in zip(terms, full_at, strict=True) if until and end == until), None
        )
        phases.append(Phase(until, kept, fills))
    return tuple(phases)


def _full_at(term: KvTerm, spec: ModelSpec, options: KvOptions) -> int | None:
    """The token that fills the window of a product's layers; None where they keep every token."""
    if term.draft:
        spec, options = draft_setup(options)
    window = window_slots(spec, term.place, options)
    return window.tokens if window else None
