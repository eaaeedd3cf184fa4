"""Where the recorded models and op cases are, when they are present beside the repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[3]
SHARED = REPO.parent / "shared"
MODELS = SHARED / "models"
OP_CASES = SHARED / "op_cases"
WHY_NOT = "the recorded data (shared/) is not beside the repository"


def model_index() -> list[dict[str, Any]]:
    """Rows of the models' index that we can load: everything but ONNX; empty when not present."""
    path = MODELS / "index.json"
    if not path.exists():
        return []
    rows: list[dict[str, Any]] = json.loads(path.read_text())["models"]
    return [r for r in rows if r["format"] != "onnx"]


def inference_models() -> list[dict[str, Any]]:
    """Models with recorded inference cases."""
    return [m for m in model_index() if any(r["kind"] != "train" for r in m["refs"])]


def tolerance(model: dict[str, Any]) -> float:
    """1e-4, or four times the deviation among TensorFlow's own kernels where that is wider."""
    widest = 1e-4
    for deviation in model.get("fp32_dev") or []:
        for value in deviation.values():
            widest = max(widest, 4 * float(value[-1]))
    return widest
