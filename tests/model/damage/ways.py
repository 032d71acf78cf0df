"""Ways to damage a checkpoint's files, each a function of its directory."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
Damage = Callable[[Path], Any]


def config(**fields: Any) -> Damage:
    def damage(directory: Path) -> None:
        path = directory / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | fields))

    return damage


def without(field: str) -> Damage:
    def damage(directory: Path) -> None:
        path = directory / "config.json"
        path.write_text(json.dumps({k: v for k, v in json.loads(path.read_text()).items() if k != field}))

    return damage


def content(name: str, data: bytes | str) -> Damage:
    return lambda directory: (directory / name).write_bytes(data.encode() if isinstance(data, str) else data)


def edited(name: str, old: str, new: str) -> Damage:
    def damage(directory: Path) -> None:
        before = (directory / name).read_text()
        assert old in before
        (directory / name).write_text(before.replace(old, new, 1))

    return damage


def folder_instead(name: str) -> Damage:
    def damage(directory: Path) -> None:
        (directory / name).unlink()
        (directory / name).mkdir()

    return damage


def link_instead(name: str, target: str) -> Damage:
    def damage(directory: Path) -> None:
        (directory / name).unlink()
        (directory / name).symlink_to(target)

    return damage


def pipe_instead(name: str) -> Damage:
    def damage(directory: Path) -> None:
        (directory / name).unlink()
        os.mkfifo(directory / name)

    return damage


def sparse(name: str, size: int) -> Damage:
    """A file of zeros that takes no room on the disk."""
    return lambda directory: os.truncate(directory / name, size)
