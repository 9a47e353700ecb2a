"""Boosters of LightGBM and XGBoost as members of a model file."""

from __future__ import annotations

from typing import Any

from costboost.errors import ModelFileError
from costboost.files import lightgbm_text, xgboost_model

__all__ = ["ENDINGS", "check", "dump", "engine_of", "load"]

ENDINGS = {"lightgbm": "txt", "xgboost": "ubj"}


def engine_of(value: Any) -> str | None:
    """The engine of a booster; None for everything else."""
    engine = type(value).__module__.split(".")[0]
    return engine if engine in ENDINGS and type(value).__name__ == "Booster" else None


def dump(engine: str, booster: Any) -> tuple[bytes, dict[str, Any]]:
    """A booster in its engine's own format, and what that format leaves out."""
    if engine == "lightgbm":
        text = booster.model_to_string(num_iteration=-1)
        return text.encode("utf-8"), {"best_iteration": int(booster.best_iteration)}
    return bytes(booster.save_raw("ubj")), {}


def check(engine: str, data: bytes, where: str) -> Any:
    """Read a booster without its engine; raises a `ModelFileError` for all that is wrong."""
    parse = lightgbm_text.parse if engine == "lightgbm" else xgboost_model.parse
    return parse(data, where)


def load(engine: str, data: bytes, extra: Any, where: str) -> Any:
    """A booster, if its member is sound: only then its engine sees it."""
    model = check(engine, data, where)
    if not isinstance(extra, dict):
        raise ModelFileError(f"{where} has no settings of its booster.")
    if engine == "xgboost":
        if extra:
            raise ModelFileError(f"{where} has settings that its booster does not know.")
        return _load_xgboost(data, where)
    best = extra.get("best_iteration")
    n_rounds = len(model.trees) // model.n_classes
    if set(extra) != {"best_iteration"} or type(best) is not int or not -1 <= best <= n_rounds:
        raise ModelFileError(f"{where} has {n_rounds} rounds, and its best one is {extra!r:.60}.")
    return _load_lightgbm(data, best, where)


def _load_lightgbm(data: bytes, best: int, where: str) -> Any:
    import lightgbm as lgb

    try:
        booster = lgb.Booster(model_str=data.decode("utf-8"))
    except (lgb.basic.LightGBMError, ValueError, TypeError) as error:
        raise ModelFileError(f"LightGBM cannot read {where}: {error}") from error
    booster.best_iteration = best
    return booster


def _load_xgboost(data: bytes, where: str) -> Any:
    try:
        import xgboost as xgb
    except ImportError as error:
        raise ModelFileError(
            f"{where} needs XGBoost. Install it with: pip install 'costboost[gbm]'"
        ) from error
    booster = xgb.Booster()
    try:
        booster.load_model(bytearray(data))
    except (xgb.core.XGBoostError, ValueError, TypeError) as error:
        raise ModelFileError(f"XGBoost cannot read {where}: {error}") from error
    return booster
