"""A scoring service, asked for decisions."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.request import Request, urlopen

import pandas as pd

from costboost import CostBoostClassifier
from costboost.datasets import make_fraud

data = make_fraud(3000, random_state=0)
X = pd.DataFrame(data.X, columns=data.feature_names)
prices = pd.DataFrame([[0, 4, 30], [150, 4, 0]], [0, 1], ["accept", "review", "block"])
model = CostBoostClassifier(prices, n_estimators=60, effort="fast", n_jobs=1, random_state=0)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "fraud.costboost")
    model.fit(X, data.y).save(path)
    command = [sys.executable, "-m", "costboost", "serve", str(path), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as service:
        lines = iter(service.stderr.readline, "")
        address = next(filter(None, (re.search(r"http://\S+", line) for line in lines))).group()
        risky = model.predict_proba(X)[:, 1].argsort()[-3:]
        question = {
            "records": X.iloc[risky].to_dict("records"),
            "capacity": {"review": 1},
        }
        request = Request(
            f"{address}/decide",
            json.dumps(question).encode(),
            {"Content-Type": "application/json"},
        )
        with urlopen(request, timeout=30) as reply:
            answer = json.load(reply)
        service.terminate()
        service.communicate()

for row in answer["rows"]:
    costs = ", ".join(f"{name} {cost:.2f}" for name, cost in row["expected_costs"].items())
    print(f"{row['decision']}: expected costs {costs}")
