"""Requests made from the OpenAPI document, good and bad, never break the service."""

from __future__ import annotations

import os

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase
from schemathesis import GenerationMode

from serve.models import client_of

pytestmark = pytest.mark.slow

# Few requests that are drawn have as many costs as records. More: COSTBOOST_EXAMPLES=2000.
EXAMPLES = int(os.environ.get("COSTBOOST_EXAMPLES", 150))
MODES = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
# The service of costs as expressions takes the same requests, but for the costs.
SERVICES = ["review", pytest.param("expression", marks=pytest.mark.trust)]


@pytest.mark.filterwarnings("default")  # of schemathesis and what it uses
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: str(mode.value))
@pytest.mark.parametrize("name", SERVICES)
def test_no_request_breaks_the_service(name, mode):
    seen = set()

    def check(case):
        answer = case.call()
        assert answer.status_code < 500, answer.text
        assert "Traceback" not in answer.text
        seen.add(answer.status_code)

    app = client_of(name, max_rows=200).app
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
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
