"""What the requirements bring along is pinned, and is what the tests run on."""

from tests.lock import asked, installed, locked


def test_the_lock_is_what_is_installed_here() -> None:
    pins, here = locked(), installed()
    assert len(here) > 60
    assert {name: version for name, version in here.items() if pins.get(name) != version} == {}


def test_the_lock_holds_nothing_else_than_the_requirements_pins() -> None:
    pins = locked()
    for requirement in asked():
        (pin,) = requirement.specifier
        assert pins[requirement.name.replace("_", "-").lower()] == pin.version
