"""python -m app.one_file TEXT FILE: runs a text and saves the run as one HTML file that opens without a server."""

import argparse
import sys
from pathlib import Path

import model

from ..engine import LocalEngine
from ..service import Service
from ..zoo import zoo


def main(given: list[str] | None = None) -> int:
    """Run, save, and say how large the file is. Gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m app.one_file", description=__doc__)
    parser.add_argument("text", metavar="TEXT", help="the prompt")
    parser.add_argument("file", metavar="FILE", type=Path, help="where to write the HTML")
    parser.add_argument("--model", help="a checkpoint directory, a GGUF file or a Hub id (default: the bundled model)")
    args = parser.parse_args(given)
    try:
        loaded = [model.load(args.model)] if args.model else [model.load(), *zoo()]
        html = Service(LocalEngine(loaded)).saved_run(args.text)
    except ValueError as error:
        print(f"python -m app.one_file: {error}", file=sys.stderr)
        return 1
    args.file.write_text(html, encoding="utf-8")
    print(f"{args.file}: {args.file.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
