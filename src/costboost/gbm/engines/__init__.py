"""The libraries that grow the trees, behind one interface: `base`, `lightgbm`, `xgboost`."""
