"""Which of several hosts is asked: the one that has the run; of a visitor without one always the same.

A place is what a call is sent by: the key of a run, which begins with the name of the host that ran it and a dot, or
what stands for a visitor. All who send know the same hosts and so choose the same, without asking each other.
"""

from collections.abc import Iterable
from hashlib import blake2b


def by_preference(place: str, hosts: Iterable[str]) -> list[str]:
    """The hosts, the best first: who ran the run, then by rendezvous hashing (Thaler and Ravishankar, 1998).

    So where a host goes only what it had moves, and goes to one and the same other each time.
    """
    ranked = sorted(hosts, key=lambda host: blake2b(f"{place}\n{host}".encode()).digest())
    home, dot, _ = place.partition(".")
    return sorted(ranked, key=lambda host: not dot or host != home)
