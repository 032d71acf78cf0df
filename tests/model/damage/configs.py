"""What may be wrong with config.json, and what is said of it. DIR stands for the checkpoint's directory."""

from tests.model.damage.ways import (
    Damage,
    config,
    content,
    edited,
    folder_instead,
    link_instead,
    pipe_instead,
    sparse,
    without,
)

YARN = {"rope_type": "yarn", "factor": 4.0}
ROPE = {"rope_type": "linear"}
CONFIGS: dict[str, tuple[Damage, str]] = {
    **{
        f"no {name}": (without(name), rf"^config\.json: {name} is ")
        for name in (
            "num_hidden_layers",
            "hidden_size",
            "num_attention_heads",
            "intermediate_size",
            "vocab_size",
            "model_type",
        )
    },
    **{
        f"{name} {value!r}": (config(**{name: value}), rf"^config\.json: {name} is ")
        for name in (
            "num_hidden_layers",
            "hidden_size",
            "vocab_size",
            "head_dim",
            "max_position_embeddings",
        )
        for value in (0, -1, 2.5, "8", [8], {}, True, 2**53 + 1, 10**300)
    },
    **{
        f"{name} {value!r}": (config(**{name: value}), rf"^config\.json: {name} is ")
        for name in (
            "rms_norm_eps",
            "rope_theta",
        )
        for value in (0, -1, "1", [], float("nan"), float("inf"), 1e308)
    },
    **{
        f"{kind} factor {value!r}": (
            config(rope_scaling=ROPE | {"rope_type": kind, "factor": value}),
            r"^config\.json: rope_scaling\.factor is ",
        )
        for kind in ("linear", "dynamic", "yarn")
        for value in (1e308, 10**400, 0, -2, "2", float("nan"), 1e-300)
    },
    **{
        f"yarn {name} {value!r}": (
            config(rope_scaling=YARN | {name: value}),
            rf"^config\.json: rope_scaling\.{name} is ",
        )
        for name in ("beta_fast", "beta_slow", "attention_factor")
        for value in (1e308, 1e-320, "x")
    },
    "a length before scaling of 10^400": (
        config(rope_scaling=YARN | {"original_max_position_embeddings": 10**400}),
        "original_max_position_embeddings is ",
    ),
    "a scaling that is a text": (config(rope_scaling="linear"), "rope_scaling is 'linear'; expected an object"),
    "a scaling of a MB": (config(rope_scaling={"rope_type": "x" * 10**6}), r"rope_scaling\.rope_type is 'xxx"),
    "a field of a MB": (config(rope_scaling=ROPE | {"factor": 2.0, "y" * 10**6: 1}), r"rope_scaling\.yyy"),
    "a million end tokens": (config(eos_token_id=list(range(10**5))), "eos_token_id is "),
    "a model_type of a MB": (config(model_type="x" * 10**6), "model_type is 'xxx"),
    "a list for model_type": (config(model_type=[["llama"]]), "model_type is "),
    "another activation": (config(hidden_act="x" * 10**6), "hidden_act is 'xxx"),
    "quantised": (config(quantization_config={"a": "b" * 10**6}), "quantization_config is "),
    "vocab_size 10^12": (config(vocab_size=10**12), r"embed_tokens\.weight has shape \[320, 48\], expected"),
    "n_layers 10^9": (config(num_hidden_layers=10**9), "num_hidden_layers is 1000000000, but the files hold 3 layers"),
    "width 10^12": (config(hidden_size=6 * 10**12), "has shape"),
    "heads that do not divide": (config(num_attention_heads=5), r"n_heads \(5\) is not a multiple of n_kv_heads \(2\)"),
    "an odd head_dim": (config(head_dim=7), "head_dim is 7; expected even"),
    "no file": (lambda directory: (directory / "config.json").unlink(), r"^DIR/config\.json is missing"),
    "an empty file": (content("config.json", b""), r"^DIR/config\.json cannot be read as JSON"),
    "no JSON": (content("config.json", "{" * 5), r"^DIR/config\.json cannot be read as JSON"),
    "a list": (content("config.json", "[1]"), r"^DIR/config\.json holds no JSON object"),
    "no UTF-8": (content("config.json", b'{"a": "\xff\xfe"}'), r"^DIR/config\.json cannot be read as JSON"),
    "deep": (content("config.json", "[" * 10**5), r"^DIR/config\.json cannot be read as JSON"),
    "deep and whole": (
        content("config.json", '{"a":' * 10**5 + "1" + "}" * 10**5),
        r"^DIR/config\.json cannot be read as",
    ),
    "an integer of 10,000 digits": (
        content("config.json", '{"a": ' + "9" * 10**4 + "}"),
        r"^DIR/config\.json cannot be",
    ),
    "a field twice": (
        edited("config.json", '"vocab_size"', '"vocab_size": 7, "vocab_size"'),
        r"^DIR/config\.json cannot be read as JSON \(vocab_size is 7 and 320\)",
    ),
    "a folder": (folder_instead("config.json"), r"^DIR/config\.json is missing"),
    "a pipe": (pipe_instead("config.json"), r"^DIR/config\.json is missing"),
    "a link to nothing": (link_instead("config.json", "/no/where"), r"^DIR/config\.json is missing"),
    "a link to itself": (link_instead("config.json", "config.json"), r"^DIR/config\.json is missing"),
    "a link to another file": (link_instead("config.json", "/etc/passwd"), r"^DIR/config\.json cannot be read as JSON"),
    "a link to a device": (link_instead("config.json", "/dev/zero"), r"^DIR/config\.json is missing"),
    "10 GB": (sparse("config.json", 10**10), r"^DIR/config\.json has 10,000,000,000 bytes; expected at most 4,194,304"),
}
