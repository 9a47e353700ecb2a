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
    client, seen = client_of(name, max_rows=200), set()

    def check(case):
        asked = case.as_transport_kwargs(base_url=client.base)
        headers = {k: v for k, v in (asked.get("headers") or {}).items()
                   if k.lower() not in ("host", "content-length")}  # fmt: skip
        body = {key: asked[key] for key in ("params", "json") if asked.get(key) is not None}
        if isinstance(asked.get("data"), (bytes, str)):
            body["content"] = asked["data"]
        answer = client.request(asked["method"], asked["url"], headers=headers, **body)
        assert answer.status_code < 500, answer.text
        assert "Traceback" not in answer.text
        seen.add(answer.status_code)

    schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    for operation in (result.ok() for result in schema.get_all_operations()):
        seen.clear()
        is_decide = operation.path == "/decide"
        settings = hypothesis.settings(
            max_examples=EXAMPLES if is_decide else 2, deadline=None, database=None,
            derandomize=True, phases=[Phase.generate], suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        try:
            settings(hypothesis.given(case=operation.as_strategy(generation_mode=mode))(check))()
        except (hypothesis.errors.Unsatisfiable, hypothesis.errors.NoSuchExample):
            assert not is_decide  # a GET without parameters has no bad form
        wanted = {200} if mode == GenerationMode.POSITIVE else {400, 415, 422}
        assert seen & wanted or not is_decide
