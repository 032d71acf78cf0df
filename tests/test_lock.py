"""What the requirements bring along is pinned, and is what the tests run on; of ranges both ends are."""

import re
import tomllib

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.lock import asked, installed, locked
from tests.page import ROOT


def test_the_lock_is_what_is_installed_here() -> None:
    pins, here = locked(), installed()
    assert len(here) > 60
    assert {name: version for name, version in here.items() if pins.get(name) != version} == {}


def test_the_lock_has_a_version_of_all_that_is_asked_for_and_within_its_range() -> None:
    pins = locked()
    for requirement in asked():
        assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), requirement


def pinned(name: str) -> dict[str, Version]:
    """What a file of requirements pins."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return {
        canonicalize_name(package): Version(version)
        for package, _, version in (line.partition("==") for line in lines)
        if version
    }


def test_of_each_range_the_oldest_version_is_tested_too() -> None:
    """requirements-zerogpu.txt has it, but of torch the newest that a Space on ZeroGPU offers."""
    here = pinned("requirements-zerogpu.txt")
    ranges = {canonicalize_name(one.name): one.specifier for one in asked("requirements.txt")}
    assert set(here) == {*ranges, "spaces"}
    assert ranges["torch"].contains(here["torch"])
    for name, specifier in ranges.items():
        (oldest,) = (Version(one.version) for one in specifier if one.operator == ">=")
        assert name == "torch" or here[name] == oldest, name


def test_what_the_front_matter_asks_of_a_space_is_within_the_ranges() -> None:
    matter = (ROOT / "README.md").read_text(encoding="utf-8").split("---")[1]
    asked_of_space = {
        name: value.strip(' "') for name, _, value in (line.partition(":") for line in matter.splitlines())
    }
    ranges = {one.name: one.specifier for one in asked("requirements.txt")}
    assert ranges["gradio"].contains(asked_of_space["sdk_version"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert SpecifierSet(project["requires-python"]).contains(asked_of_space["python_version"])
    tested = re.search(r"with Python (\S+):", (ROOT / "requirements-zerogpu.txt").read_text(encoding="utf-8"))
    assert tested
    assert Version(asked_of_space["python_version"]).release[:2] == Version(tested[1]).release
