"""What classifiers pay on rows they have not seen: CostBoostClassifier against its rivals.

``python -m benchmarks.held_out_cost`` runs all problems and writes the report,
``python -m benchmarks.held_out_cost report`` writes the report anew from the rows of the last run.
"""
