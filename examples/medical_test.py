"""A medical test that must find 97 % of the tumours.

python examples/medical_test.py
"""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from costboost import CSLogitBoostClassifier, TargetRateClassifier

RATES = (0.9, 0.95, 0.97, 0.99)


def main() -> None:
    """Search the ratio for several rates; draw what each costs in false alarms."""
    X, y = load_breast_cancer(return_X_y=True)
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
    detected, alarms = [], []
    for rate in RATES:
        model = TargetRateClassifier(
            CSLogitBoostClassifier(n_estimators=15, learning_rate=0.3),
            detection_rate=rate,
            positive=0,
            n_trials=8,
            random_state=0,
        ).fit(X, y)
        decided = model.predict(X_new)
        detected.append((decided[y_new == 0] == 0).mean())
        alarms.append((decided[y_new == 1] == 0).mean())
        print(
            f"wanted {rate:.0%}: a miss counts as {model.cost_ratio_:6.2f} false alarms; on new "
            f"patients "
            f"{detected[-1]:.1%} detected, {alarms[-1]:.1%} false alarms"
        )
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.plot(alarms, detected, "o-")
    for rate, x, height in zip(RATES, alarms, detected, strict=True):
        axes.annotate(
            f"{rate:.0%} wanted", (x, height), xytext=(6, -10), textcoords="offset points"
        )
    axes.set(xlabel="false alarms on new patients", ylabel="detected on new patients")
    axes.set_xlim(0, max(*alarms, 0.05) * 1.4)
    axes.set_ylim(min(0.75, *detected), 1.01)
    figure.savefig("medical_test.png", dpi=110)
    print(f"tumours among the new patients: {np.sum(y_new == 0)}")


if __name__ == "__main__":
    main()
