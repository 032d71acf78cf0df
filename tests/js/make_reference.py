"""Writes reference.json, which compute.test.js holds the page to: rotation by complex numbers, explicit mask.

Run `python tests/js/make_reference.py` after a change here; the result is committed.
"""

import json
from pathlib import Path

import numpy as np

N_HEADS, N_KV_HEADS, T, HEAD_DIM = 4, 2, 6, 8
SCALING = 1.25


def rotated(x, inv_freq, scaling):
    """x (heads, T, head_dim): pair (i, i + half) as one complex number, turned by e^(i·t·frequency)."""
    half = x.shape[-1] // 2
    pairs = x[..., :half] + 1j * x[..., half:]
    turned = pairs * np.exp(1j * np.arange(x.shape[1])[:, None] * inv_freq) * scaling
    return np.concatenate([turned.real, turned.imag], -1)


def attention(q_rot, k_rot):
    group_size = q_rot.shape[0] // k_rot.shape[0]
    scores = np.einsum("htd,hsd->hts", q_rot, np.repeat(k_rot, group_size, 0)) / np.sqrt(q_rot.shape[-1])
    masked = np.where(np.tri(q_rot.shape[1], dtype=bool), scores, -np.inf)
    powers = np.exp(masked)
    return np.where(np.isfinite(masked), masked, 0), powers / powers.sum(-1, keepdims=True)


def main():
    draw = np.random.default_rng(7)
    q = draw.normal(0, 1.5, (N_HEADS, T, HEAD_DIM)).astype(np.float32)
    k = draw.normal(0, 1.5, (N_KV_HEADS, T, HEAD_DIM)).astype(np.float32)
    inv_freq = (500000.0 ** -(np.arange(0, HEAD_DIM, 2) / HEAD_DIM)).astype(np.float32)
    q_rot, k_rot = (rotated(x.astype(np.float64), inv_freq.astype(np.float64), SCALING) for x in (q, k))
    scores, weights = attention(q_rot, k_rot)
    logits = draw.normal(0, 3, 50)
    order = np.argsort(-logits)
    fixture = {
        "model": {"n_heads": N_HEADS, "n_kv_heads": N_KV_HEADS, "head_dim": HEAD_DIM, "attention_scaling": SCALING},
        "inv_freq": inv_freq.tolist(),
        "shapes": {"q": q.shape, "k": k.shape},
        "q": q.ravel().tolist(),
        "k": k.ravel().tolist(),
        "q_rot": q_rot.ravel().tolist(),
        "k_rot": k_rot.ravel().tolist(),
        "scores": scores.tolist(),
        "weights": weights.tolist(),
        "logits": logits.tolist(),
        "order": order.tolist(),
        "log_z": float(np.log(np.exp(logits).sum())),
        "probabilities": (np.exp(logits) / np.exp(logits).sum()).tolist(),
    }
    Path(__file__).with_name("reference.json").write_text(json.dumps(fixture) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
