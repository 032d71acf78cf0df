"""Pins what the requirements bring along: `python -m tests.lock` writes requirements.lock from what is installed here.

The lock is given to pip as constraints: requirements.txt says which versions the project can run with, and this which
one of each is installed, of all that those need in turn, too.
"""

from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.page import ROOT

FILES = ("requirements.txt", "requirements-mcp.txt", "requirements-notebook.txt", "requirements-dev.txt")
LOCK = ROOT / "requirements.lock"
HEAD = "# All that requirements-dev.txt brings along, as it was tested; `make lock` writes it.\n"
TOOLS = {"pip"}  # of the environment, and none of ours


def asked(*files: str) -> list[Requirement]:
    """What these of the project's own files ask for; all of FILES where none is named."""
    texts = ((ROOT / name).read_text(encoding="utf-8") for name in files or FILES)
    lines = (line.partition("#")[0].strip() for text in texts for line in text.splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


def installed() -> dict[str, str]:
    """All that is asked for and what that needs in turn, by name, with its version."""
    found: dict[str, str] = {}
    waiting = [(requirement, frozenset(requirement.extras)) for requirement in asked()]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement, extras = waiting.pop()
        name = canonicalize_name(requirement.name)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue  # of another system
        found[name] = package.version.partition("+")[0]
        for text in package.requires or []:
            needed = Requirement(text)
            marker = needed.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                waiting.append((needed, frozenset(needed.extras)))
    return {name: version for name, version in sorted(found.items()) if name not in TOOLS}


def locked() -> dict[str, str]:
    """What the lock says."""
    lines = LOCK.read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


if __name__ == "__main__":
    LOCK.write_text(HEAD + "".join(f"{name}=={version}\n" for name, version in installed().items()), encoding="utf-8")
