"""Whether a row of words follows a context-free grammar that is written as plain text. Knows no language."""

from collections.abc import Collection, Sequence

Row = tuple[frozenset[str], ...]


class Grammar:
    """Rules of the form `Name: one two? three* | four`, one a line; a line may go on, indented, on the next.

    A symbol with a rule stands for what the rule gives; any other is matched by a word that has it among its
    categories. `?` makes a symbol optional, `*` lets it come any number of times. No rule may begin with itself.
    """

    def __init__(self, text: str) -> None:
        self.rules: dict[str, list[list[str]]] = {}
        for line in text.strip().replace("\n ", " ").splitlines():
            name, _, right = line.partition(": ")
            self.rules[name] = [alternative.split() for alternative in right.split(" | ")]
        symbols = {part.rstrip("?*") for right in self.rules.values() for parts in right for part in parts}
        self.terminals = symbols - self.rules.keys()
        self._known: dict[tuple[str, Row], bool] = {}

    def accepts(self, words: Sequence[Collection[str]], start: str) -> bool:
        """Whether the symbol `start` can stand for all the words, each given as its categories.

        Sentences that differ in names and things alone are one row of categories, and that row is read once.
        """
        key = (start, tuple(frozenset(self.terminals.intersection(word)) for word in words))
        if key not in self._known:
            self._known[key] = len(words) in _Reading(self.rules, key[1]).ends(start, 0)
        return self._known[key]


class _Reading:
    """Where each symbol can end in one row of words."""

    def __init__(self, rules: dict[str, list[list[str]]], words: Row) -> None:
        self.rules, self.words = rules, words
        self.found: dict[tuple[str, int], frozenset[int]] = {}

    def ends(self, symbol: str, begin: int) -> frozenset[int]:
        """Where `symbol` can end that begins at word `begin`."""
        if symbol not in self.rules:
            return frozenset({begin + 1} if begin < len(self.words) and symbol in self.words[begin] else ())
        if (symbol, begin) not in self.found:
            ends = (end for parts in self.rules[symbol] for end in self._sequence(parts, begin))
            self.found[symbol, begin] = frozenset(ends)
        return self.found[symbol, begin]

    def _sequence(self, parts: Sequence[str], begin: int) -> set[int]:
        at = {begin}
        for part in parts:
            bare = part.rstrip("?*")
            reached = {end for i in at for end in self.ends(bare, i)}
            if part.endswith("*"):
                while not reached <= at:
                    at = at | reached
                    reached = {end for i in reached for end in self.ends(bare, i)}
            else:
                at = at | reached if part.endswith("?") else reached
        return at
