"""Tests of docs/keys.md and docs/server.md: the keys are those of the page, and the examples of requests work."""

import json
import re
import shlex

import pytest

from tests.interfaces.web.test_page import PAGE

KEYS = (PAGE.parents[3] / "docs" / "keys.md").read_text()
SERVER = (PAGE.parents[3] / "docs" / "server.md").read_text()
KEY = re.compile(r'^ *(?:"([^"]+)"|(\w+)): \[(?:IS_REVIEW \? "[^"]+" : )?"([^"]+)", (?!")', re.MULTILINE)
ROW = re.compile(r"^\| [^|]+ \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
SHOWN = {"arrowleft": "←", "arrowright": "→", "arrowup": "↑", "arrowdown": "↓", "delete": "Del"}
CURL = re.compile(r"^curl (?:.*\\\n)*.*$", re.MULTILINE)


def shown(key: str) -> str:
    """Returns a key as the page's dialog of keys writes it."""
    *shift, name = key.split("+") if len(key) > 1 else [key]
    return " ".join([*("Shift" for _ in shift), SHOWN.get(name, name.upper() if len(name) == 1 else name.title())])


def test_the_keys_are_those_of_the_page():
    source = "".join(path.read_text() for path in sorted((PAGE / "src").rglob("*.js")))
    own = {(shown(quoted or plain), what) for quoted, plain, what in KEY.findall(source)}
    table = KEYS.split("## Keys", 1)[1].split("\n## ", 1)[0]
    rows = [(re.findall("`([^`]+)`", keys), what) for keys, what in ROW.findall(table)]
    told = {(key, what) for keys, what in rows for key in keys}
    views = set(re.findall(r'title: "\w+",\s*key: "(\w)"', source))
    assert {key for key, what in told if what.startswith("go to")} == {"G", *(key.upper() for key in views)}
    assert {key for key, what in told if what == "play the column or branch"} == {"1", "9"}
    rest = {(key, what) for key, what in told if not what.startswith(("go to", "play the column"))}
    assert rest == own and len(own) > 30


@pytest.mark.thorough
@pytest.mark.parametrize("command", CURL.findall(SERVER))
def test_requests_of_the_docs_are_answered(client, command):
    words = shlex.split(command.replace("\\\n", " "))
    path = next(word for word in words if word.startswith("http")).removeprefix("http://127.0.0.1:8777")
    if "-d" not in words:
        assert client.get(path).json()
        return
    asked = json.loads(words[words.index("-d") + 1])
    asked |= {"seconds": 0.3} if "seconds" in asked else {}
    headers = dict([words[words.index("-H") + 1].split(": ")])
    response = client.post(path, content=json.dumps(asked), headers=headers)
    assert response.status_code == 200 and len(response.text) > 20, response.text
    assert ("-N" in words) == ("event: done" in response.text)
