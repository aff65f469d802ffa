"""Checkpoints by name: a file, a run's folder, or an included checkpoint."""

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from azero.arena.agents.names import CLASSICAL, SEARCH_FILES, AgentName, exists, has_folder, parse_name
from azero.errors import BadInput, suggest_nearest
from azero.games import Game, registered_games
from azero.games.names import file_of
from azero.games.user.sources import Sources
from azero.games.user.trust import Untrusted, check_trusted, trust_name
from azero.runs.folder import BEST
from azero.system.files import PACKAGE, read_regular

if TYPE_CHECKING:
    from azero.nets.checkpoint import Checkpoint

_BOARD = re.compile(r"_(\d+)x(\d+)")

_LARGEST = 1 << 30  # bytes of a checkpoint

_PLACES = (PACKAGE / "checkpoints", PACKAGE.parent / "checkpoints")


def load_checkpoint(path: str | Path, game: Game | None = None) -> "Checkpoint":
    """Reads a checkpoint, for `game` if it is given.

    Args:
      path: a checkpoint's file, a run's folder (its best net), or the name of an included checkpoint.

    Raises BadInput if there is no such checkpoint, or it is damaged, or of another game or format.

    If the sources of a user's own game have changed since the checkpoint was made, a warning is printed on stderr.
    """
    from azero.nets.checkpoint import load_checkpoint as load  # torch takes a second

    return load(find_checkpoint(str(path), "checkpoint"), game)


def find_checkpoint(base: str, what: str = "agent") -> Path:
    """Returns the file of a checkpoint, given by its path, a run's folder or the name of an included checkpoint.

    Args:
      what: "agent", or "checkpoint" where no other agent could be named.
    """
    path = Path(base)
    if not base or not exists(path) or path.suffix == ".py":
        return _shipped_checkpoint(base, what)
    if path.is_dir():
        best = path / BEST
        if not best.is_file():
            raise BadInput(f"folder {base!r} has no {BEST}; is it a run's folder?")
        return best
    return path


def game_of(name: str) -> Game | None:
    """Returns the game of an agent's checkpoint; None for agents that can play any game."""
    parsed = parse_name(name)
    if parsed.kind != "net":
        return None
    from azero.nets.checkpoint_file import game_of_card, read_card

    path = find_checkpoint(parsed.word)
    return game_of_card(path, read_card(path))


def identity_of_agent(name: str) -> str:
    """Returns an agent's name with the digest of its checkpoint's file in place of the path; raises BadInput.

    So a net has the same identity wherever it lies, and another one if its file changes.
    """
    parsed = parse_name(name)
    if parsed.kind != "net":
        return name
    digest = hashlib.blake2b(read_regular(find_checkpoint(parsed.word), _LARGEST), digest_size=8).hexdigest()
    own = "".join(f" {each} {Sources(file, each).identity}" for each, file in files_of_search(search_of(parsed)))
    return f"net:{digest}{name.removeprefix(parsed.word)}{own}"


def search_of(parsed: AgentName) -> dict[str, str]:
    """Returns the names of a user's selection rule and root strategy that a net searches with, by option.

    Those in the agent's name count first. A user's rule in the checkpoint's card counts if it may run; see
    `rule_of_card`.
    """
    from azero.nets.checkpoint_file import read_card, rule_of_card

    named = {option: parsed.options[option] for option in SEARCH_FILES if option in parsed.options}
    if "selection" not in named:
        path = find_checkpoint(parsed.word)
        named["selection"] = rule_of_card(path, read_card(path))
    return {option: name for option, name in named.items() if file_of(name, SEARCH_FILES[option])}


def trust_search(parsed: AgentName, is_kept: bool = False) -> None:
    """Trusts the files of a search in an agent's name, because the user has named them; see `trust_file`."""
    for option in SEARCH_FILES if parsed.kind == "net" else ():
        if option in parsed.options:
            trust_name(parsed.options[option], SEARCH_FILES[option], is_kept)


def check_search_trusted(name: str) -> None:
    """Raises Untrusted if an agent's name, from a file, has files of a search that the user has not named."""
    named = {key: each for key, each in parse_name(name).options.items() if key in SEARCH_FILES}
    for kind, file in files_of_search(named):
        try:
            check_trusted(Sources(file, kind))
        except Untrusted as error:
            raise Untrusted(f"agent {name!r}: {error}; if you trust it, name it with azero check-search") from None


def files_of_search(search: dict[str, str]) -> list[tuple[str, str]]:
    """Returns what each of a search's files has, and its path."""
    found = [(kind, file_of(search[option], kind)) for option, kind in SEARCH_FILES.items() if option in search]
    return [(kind, file) for kind, file in found if file]


def shipped_checkpoints() -> dict[str, Path]:
    """Returns the files of the included checkpoints, by name."""
    return {file.stem: file for place in _PLACES for file in sorted(place.glob("*.safetensors"))}


def _shipped_checkpoint(base: str, what: str) -> Path:
    """Returns the included checkpoint of this name, e.g. `go_7x7`, or with the largest board of a game, e.g. `go`."""
    shipped = shipped_checkpoints()
    if base in shipped:
        return shipped[base]
    boards = {stem: _BOARD.fullmatch(stem.removeprefix(base)) for stem in shipped if stem.startswith(base)}
    sizes = {stem: int(found[1]) * int(found[2]) for stem, found in boards.items() if found}
    if sizes:
        return shipped[max(sizes, key=lambda stem: sizes[stem])]
    if re.search(r"\.py(:\w*)?$", base) or base in registered_games():
        raise BadInput(f"{base!r} is a game, not an agent: name both, e.g. uct@1000 --game {base}")
    if has_folder(base) or base.endswith(".safetensors"):
        raise BadInput(f"checkpoint {base!r} does not exist")
    others = [*CLASSICAL, "random", "gtp:COMMAND", "uci:COMMAND", "gomocup:COMMAND"] if what == "agent" else []
    known = [*shipped, *others]
    raise BadInput(f"unknown {what} {base!r}: not a file, a run's folder or a name; {suggest_nearest(base, known)}")
