"""Requests made from the OpenAPI document, good and bad, never break the service."""

from __future__ import annotations

import os

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase
from schemathesis import GenerationMode

from serve.models import client_of

# More of them: COSTBOOST_EXAMPLES=2000 pytest tests/serve/test_openapi.py; 100 in `make trust`.
EXAMPLES = int(os.environ.get("COSTBOOST_EXAMPLES", 100 if "COSTBOOST_TRUST" in os.environ else 30))
MODES = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]


@pytest.mark.filterwarnings("default")  # of schemathesis and what it uses
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: str(mode.value))
@pytest.mark.parametrize("name", ["review", "expression"])
def test_no_request_breaks_the_service(name, mode):
    client = client_of(name, max_rows=200)
    schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    for result in schema.get_all_operations():
        operation = result.ok()
        try:
            cases = operation.as_strategy(generation_mode=mode)
            found = _run(cases, client, EXAMPLES if operation.path == "/decide" else 2)
        except (hypothesis.errors.Unsatisfiable, hypothesis.errors.NoSuchExample):
            assert operation.path != "/decide"  # a GET without parameters has no bad form
            continue
        if operation.path == "/decide":
            assert found & ({200} if mode == GenerationMode.POSITIVE else {400, 415, 422})


def _run(cases, client, count):
    seen = set()

    @hypothesis.settings(
        max_examples=count, deadline=None, database=None, derandomize=True,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @hypothesis.given(case=cases)
    def check(case):
        answer = client.request(**_for_httpx(case.as_transport_kwargs(base_url=client.base)))
        assert answer.status_code < 500, answer.text
        assert "Traceback" not in answer.text
        seen.add(answer.status_code)

    check()
    return seen


def _for_httpx(parts):
    """What schemathesis would hand to requests, for httpx."""
    found = {key: parts[key] for key in ("method", "url", "params") if parts.get(key)}
    found["path"] = found.pop("url")
    if parts.get("json") is not None:
        found["json"] = parts["json"]
    if isinstance(parts.get("data"), (bytes, str)):
        found["content"] = parts["data"]
    headers = dict(parts.get("headers") or {})
    kept = {k: v for k, v in headers.items() if k.lower() not in ("host", "content-length")}
    return {**found, "headers": kept}
