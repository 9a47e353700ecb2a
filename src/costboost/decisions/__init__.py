"""From probabilities and costs to decisions."""

from costboost.decisions.order_statistics import order_rank, order_threshold, rows_needed

__all__ = ["order_rank", "order_threshold", "rows_needed"]
