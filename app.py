"""Opens the page: `python app.py`, or with a model of your own, `python app.py --model DIRECTORY_OR_HUB_ID`."""

import argparse
import os
import signal
import sys
from contextlib import ExitStack

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # before gradio is imported: nothing leaves this machine

from app import logs
from app.build import build
from app.command import arguments
from app.engine import Engine
from app.hosting import Hosting, launch
from app.lookups import LOOKUPS, allowed_at
from app.models import Wanted, loaded
from app.shutdown import DRAIN_SECONDS, go_down, leave, wait_for_signal
from app.tuning import tune
from app.zerogpu import declare


def main() -> int:
    """Load the models, open the page, and stay until it is closed. Gives the exit status."""
    args = arguments()
    tune()
    declare()
    wanted = Wanted(tuple(args.model or ()), args.device, args.dtype, args.fetch_models)
    with ExitStack() as until_closed:
        try:
            engine = until_closed.enter_context(loaded(wanted, args.engine))
        except ValueError as error:
            print(f"app.py: {' '.join(str(error).split())}", file=sys.stderr)
            return 1
        return serve(engine, args)


def serve(engine: Engine, args: argparse.Namespace) -> int:
    """Open the page, and stay until it is closed. Gives the exit status."""
    LOOKUPS.allowed = allowed_at(args.host) if args.hub is None else args.hub
    logs.set_up(not allowed_at(args.host) if args.log_requests is None else args.log_requests)
    demo, hosting = build(engine), Hosting(args.trusted_proxy, args.frame, args.auth, args.metrics, args.mcp)
    try:
        address = launch(demo, hosting, server_name=args.host, server_port=args.port)
    except OSError:
        where = f"{args.host}, port {args.port}" if args.port else args.host
        print(f"app.py: cannot listen on {where}; choose another with --port or --host.", file=sys.stderr)
        return 1
    print(f"Glass Llama is at {address}", flush=True)
    go_down(demo, DRAIN_SECONDS if wait_for_signal() is signal.SIGTERM else 0)
    return 0


if __name__ == "__main__":
    if status := main():
        sys.exit(status)
    leave()
