"""Tests of what the server refuses."""

import json

import pytest

from azero.interfaces.web.context import Context
from azero.interfaces.web.settings import ServeSettings
from tests.interfaces.web.conftest import API, client_of

ASKED = {"game": "tic_tac_toe", "moves": ""}


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "127.0.0.1.evil.example:80", "", "evil.example:127.0.0.1", "10.0.0.1", "0.0.0.0"),
        *("127.0.0.1:80@evil.example", "localhost:http", "[::1]:80@evil.example", "localhost:80:80"),
    ],
)
def test_other_hosts_are_refused(client, host):
    response = client.get(f"{API}/games", headers={"host": host})
    assert response.status_code == 421 and response.json()["error"]["code"] == "wrong_host"


@pytest.mark.parametrize("host", ["127.0.0.1:8777", "localhost", "LOCALHOST:1", "[::1]:8777", "[::1]"])
def test_this_machine_has_several_names(client, host):
    assert client.get(f"{API}/agents", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:1", "http://127.0.0.1:99"])
def test_pages_of_other_servers_are_refused(client, origin):
    for method, path in (("POST", f"{API}/positions"), ("GET", f"{API}/games")):
        response = client.request(method, path, json=ASKED, headers={"origin": origin})
        assert response.status_code == 403 and response.json()["error"]["code"] == "wrong_origin"
        assert "access-control-allow-origin" not in response.headers


def test_the_own_page_may_ask(client):
    assert client.post(f"{API}/positions", json=ASKED, headers={"origin": "http://127.0.0.1"}).status_code == 200
    headers = {"sec-fetch-site": "cross-site"}
    assert client.post(f"{API}/positions", json=ASKED, headers=headers).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_pages_may_link_here_and_not_ask(client, site):
    modes = {"navigate": 200, "no-cors": 403, "cors": 403}
    for mode, status in modes.items():
        headers = {"sec-fetch-site": site, "sec-fetch-mode": mode}
        assert client.get(f"{API}/games", headers=headers).status_code == status


def test_hosts_and_origins_may_be_allowed():
    origin = "http://localhost:5173"
    with client_of(ServeSettings(allow_hosts=("azero.example",), allow_origins=("http://LOCALHOST:5173/",))) as client:
        headers = {"host": "azero.example", "origin": origin}
        response = client.post(f"{API}/positions", json=ASKED, headers=headers)
        assert response.status_code == 200 and response.headers["access-control-allow-origin"] == origin
        refused = client.get(f"{API}/games", headers={"host": "evil.example", "origin": origin})
        assert refused.status_code == 421 and refused.headers["access-control-allow-origin"] == origin
        asked = client.options(f"{API}/positions", headers=headers)
        assert asked.status_code == 204 and "POST" in asked.headers["access-control-allow-methods"]


def test_every_answer_has_the_headers_of_security(client):
    for path in ("/", f"{API}/games", f"{API}/nothing", "/openapi.json", "/nothing.js"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"


def test_a_large_body_is_refused():
    with client_of(ServeSettings(most_body_bytes=1000)) as client:
        text = json.dumps({"game": "go", "moves": "x" * 2000})
        headers = {"content-type": "application/json"}
        assert client.post(f"{API}/positions", content=text, headers=headers).status_code == 413
        parts = (text[k : k + 100].encode() for k in range(0, len(text), 100))
        assert client.post(f"{API}/positions", content=parts, headers=headers).status_code == 413


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 422),
        (b"{", 422),
        (b"[]", 422),
        (b'{"game": 3}', 422),
        (b'{"game": "go", "more": 1}', 422),
        (b'{"game": "go", "moves": "\\ud800"}', 422),
        (b'{"game": "\\ud800"}', 422),
        (b'{"game": "go\\u0000"}', 404),
        (b'{"game": "go", "moves": ' + b"[" * 100_000, 400),
        (b'{"game": "go", "moves": ' + b"1" * 10_000 + b"}", 400),
        (b"\xff\xfe", 422),
    ],
    ids=range(11),
)
def test_bad_bodies_are_answered_in_one_line(client, content, status):
    response = client.post(f"{API}/positions", content=content, headers={"content-type": "application/json"})
    error = response.json()["error"]
    assert response.status_code == status
    assert "\n" not in error["message"] and "Traceback" not in response.text


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_body_that_is_not_said_to_be_json_is_refused_by_name(client, kind):
    response = client.post(
        f"{API}/positions", content=json.dumps(ASKED), headers={"content-type": kind} if kind else {}
    )
    assert response.status_code == 415 and "Content-Type: application/json" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"{API}/nothing", 404),
        ("GET", f"{API}/positions", 405),
        ("DELETE", f"{API}/games", 405),
        ("GET", f"{API}/games/chess", 404),
        ("GET", f"{API}/agents?game=chess", 404),
        ("GET", "/../pyproject.toml", 404),
        ("GET", "/%2e%2e/server.py", 404),
        ("GET", "/..%2fserver.py", 404),
        ("GET", "/src/%2e%2e/%2e%2e/server.py", 404),
        ("GET", "//etc/passwd", 404),
        ("GET", "/\\..\\server.py", 404),
        ("GET", "/%00", 404),
        ("POST", "/index.html", 405),
        ("GET", f"{API}/games/", 404),
    ],
)
def test_errors_have_one_form(client, method, path, status):
    response = client.request(method, path)
    assert response.status_code == status
    assert set(response.json()) == {"error"} and {"code", "message"} <= set(response.json()["error"])


@pytest.mark.parametrize(
    ("moves", "begins"),
    [("4" * 20_001, "moves.text: "), (["4", "4" * 41], "move 2: "), (["4"] * 4001, "moves.list: ")],
    ids=["text", "move", "list"],
)
def test_moves_that_are_too_long_are_named(client, moves, begins):
    error = client.ask("positions", 422, game="connect_four", moves=moves)["error"]
    assert error["message"].startswith(begins) and "at most" in error["message"]
    assert error.get("at") == (1 if begins == "move 2: " else None)


def test_a_part_of_a_file_is_the_whole_file(client):
    whole = client.get("/src/main.js")
    for part in ("bytes=0-3", "bytes=9999999-", "nonsense"):
        response = client.get("/src/main.js", headers={"range": part})
        assert response.status_code == 200 and response.content == whole.content
    assert whole.headers["accept-ranges"] == "none"


def test_what_nobody_expected_is_an_error_as_all_others(client, monkeypatch, caplog):
    def fail(*_):
        raise ZeroDivisionError("of this test")

    monkeypatch.setattr(Context, "position", fail)
    response = client.post(f"{API}/positions", json={"game": "hex"})
    assert response.status_code == 500 and response.headers["content-security-policy"]
    assert response.json() == {"error": {"code": "internal", "message": "unexpected error: ZeroDivisionError"}}
    assert [str(each.exc_info[1]) for each in caplog.records if each.exc_info] == ["of this test"], "the traceback"


def test_the_openapi_page_describes_every_route(client):
    page = client.get("/openapi.json").json()
    routes = {f"{API}/{each}" for each in ("games", "positions", "agents", "suggestions", "analyses", "reviews")}
    assert routes <= set(page["paths"])
    assert "text/event-stream" in page["paths"][f"{API}/analyses"]["post"]["responses"]["200"]["content"]
