"""Opens the page: `python app.py`, or with a model of your own, `python app.py --model DIRECTORY_OR_HUB_ID`."""

import argparse
import os
import sys

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # before gradio is imported: nothing leaves this machine

import model
from app.build import build, launch_options
from app.engine import LocalEngine
from app.lookups import LOOKUPS, allowed_at
from app.memory import few_arenas
from app.zoo import zoo

DEFAULT_PORT = 7860


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """The command line, read."""
    parser = argparse.ArgumentParser(description="Glass Llama: a page that shows what happens inside a live LLaMA.")
    parser.add_argument(
        "--model",
        action="append",
        metavar="DIR_OR_ID",
        help="a checkpoint directory (config.json, tokenizer.json, *.safetensors) or a Hugging Face Hub id; give it "
        "several times to offer a choice on the page (default: the bundled model and the small ones of other families)",
    )
    parser.add_argument("--device", default="auto", help="cpu, cuda, cuda:1, mps, or auto: the best there is (default)")
    parser.add_argument(
        "--dtype", default="auto", help="float32, float16, bfloat16, or auto: what suits the device (default)"
    )
    parser.add_argument(
        "--host",
        default=os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1"),
        help="address to listen on; 0.0.0.0 lets other machines in (default: %(default)s)",
    )
    parser.add_argument(
        "--port", type=int, help=f"port to listen on (default: {DEFAULT_PORT}, or the next one that is free)"
    )
    parser.add_argument(
        "--hub",
        action=argparse.BooleanOptionalAction,
        help="let visitors look up a model's config.json on the Hugging Face Hub (default: only where --host lets no "
        "other machine in, and not on a Space)",
    )
    return parser.parse_args(given)


def main() -> int:
    """Load the models, open the page, and stay until it is closed. Gives the exit status."""
    args = arguments()
    few_arenas()
    try:
        how = {"device": args.device, "dtype": args.dtype}
        asked = [model.load(where, **how) for where in args.model or []]
        engine = LocalEngine(asked or [model.load(**how), *zoo(**how)])
    except ValueError as error:
        print(f"app.py: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    LOOKUPS.allowed = allowed_at(args.host) if args.hub is None else args.hub
    demo = build(engine)
    try:
        _, address, _ = demo.launch(
            server_name=args.host, server_port=args.port, prevent_thread_lock=True, **launch_options()
        )
    except OSError:
        where = f"{args.host}, port {args.port}" if args.port else args.host
        print(f"app.py: cannot listen on {where}; choose another with --port or --host.", file=sys.stderr)
        return 1
    print(f"Glass Llama is at {address}", flush=True)
    demo.block_thread()
    return 0


if __name__ == "__main__":
    sys.exit(main())
