"""The lines of a tree in the text of a LightGBM model."""

from __future__ import annotations

__all__ = ["TREE_FIELDS"]

# In LightGBM's order; a tree without categories or linear leaves lacks some.
TREE_FIELDS = (
    "num_leaves",
    "num_cat",
    "split_feature",
    "split_gain",
    "threshold",
    "decision_type",
    "left_child",
    "right_child",
    "leaf_value",
    "leaf_weight",
    "leaf_count",
    "internal_value",
    "internal_weight",
    "internal_count",
    "cat_boundaries",
    "cat_threshold",
    "is_linear",
    "leaf_const",
    "num_features",
    "leaf_features",
    "leaf_coeff",
    "shrinkage",
)
