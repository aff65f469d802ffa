"""A server within the test's process, and its clients."""

import json
import warnings

import pytest

from azero.interfaces.web.app import make_app
from azero.interfaces.web.offered.catalogue import Catalogue
from azero.interfaces.web.settings import ServeSettings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette asks for a later httpx
    from starlette.testclient import TestClient

API = "/api/v1"
HOME = "http://127.0.0.1"


class Client(TestClient):
    """A client that speaks JSON."""

    def ask(self, route: str, status: int = 200, **fields):
        """Returns the answer to a POST, which has this status."""
        response = self.post(f"{API}/{route}", json=fields)
        assert response.status_code == status, response.text
        return response.json()

    def look(self, route: str, status: int = 200):
        """Returns the answer to a GET, which has this status."""
        response = self.get(f"{API}/{route}")
        assert response.status_code == status, response.text
        return response.json()

    def events(self, route: str, **fields) -> list[tuple[str, dict]]:
        """Returns all events of a stream."""
        response = self.post(f"{API}/{route}", json=fields)
        assert response.status_code == 200, response.text
        assert response.headers["content-type"].startswith("text/event-stream")
        return events_of(response.text)


def events_of(text: str) -> list[tuple[str, dict]]:
    """Returns the events of a stream's text."""
    found = []
    for block in filter(None, text.split("\n\n")):
        event, data = block.split("\n")
        found.append((event.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def client_of(settings: ServeSettings = ServeSettings(), catalogue: Catalogue | None = None) -> Client:  # noqa: B008
    """Returns a client of a server of its own. The caller closes its searches."""
    return Client(make_app(catalogue or Catalogue(), settings), base_url=HOME)


@pytest.fixture(scope="package")
def client():
    with client_of() as client:
        yield client
        client.app.state.context.searches.close()
