"""Files of tensors with a card: `.safetensors` files whose metadata have one entry, `azero`, a JSON object.

The card has a digest of its other fields and of the tensors. So any change of the contents is detected. A file is only
data: reading it runs none of it.
"""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from azero.errors import BadInput, Damaged
from azero.system.files import check_regular, write_whole
from azero.system.formats import check_format

Tensors = dict[str, np.ndarray]

LARGEST = 1 << 30  # bytes of a file; a net of 260 million parameters

_LARGEST_HEADER = 2 << 20  # bytes of names, shapes and card


def write_tensors(path: Path, tensors: Tensors, card: dict, largest: int = LARGEST) -> None:
    """Writes tensors and card with their digest, atomically; raises BadInput if the file would be larger than that."""
    arrays = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    if spaced := _with_space(arrays):
        raise BadInput(f"{str(path)!r} is not written: a tensor has the name {spaced!r}; names cannot have spaces")
    signed = {**card, "digest": digest_of(arrays, card)}
    data = save(arrays, {"azero": json.dumps(signed, sort_keys=True)})
    for part, own, most in _sizes(data[:8], len(data), largest):
        if own > most:
            raise BadInput(f"{str(path)!r} is not written: its {part} would have {own:,} bytes, more than {most:,}")
    write_whole(path, data)


def read_tensors(path: Path, what: str, largest: int = LARGEST) -> tuple[dict, Tensors]:
    """Returns card and tensors of a file. The digest is in the card, and is not checked.

    Args:
      what: names the file in errors, e.g. "checkpoint 'net.safetensors'".
      largest: bytes that the file may have.

    Raises:
      Damaged: the file is not a `.safetensors` file, or has no card.
      BadInput: the file cannot be read.
    """
    return _read(path, what, largest, is_whole=True)


def read_card_alone(path: Path) -> dict:
    """Returns the card of a file, with its digest, and reads no tensors; raises as `read_tensors`."""
    return _read(path, f"file {str(path)!r}", LARGEST, is_whole=False)[0]


def _read(path: Path, what: str, largest: int, is_whole: bool) -> tuple[dict, Tensors]:
    _check_beginning(path, what, largest)
    try:
        with safe_open(str(path), framework="numpy") as file:
            text = (file.metadata() or {}).get("azero")
            tensors = {name: file.get_tensor(name) for name in sorted(file.keys()) if is_whole}
        card = None if text is None else json.loads(text)
    except OSError as error:
        raise BadInput(f"{what} cannot be read: {error.strerror or error}") from None
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Damaged(f"{what} is damaged or not a .safetensors file: {error}") from None
    if card is None:
        raise Damaged(f"{what} is a safetensors file, but not one of azero's: it has no card")
    if not isinstance(card, dict):
        raise Damaged(f"{what} cannot be used: its card is not a JSON object")
    if _with_space(tensors):
        raise Damaged(f"{what} is not one of azero's: the name of a tensor has a space")
    return card, tensors


def _with_space(tensors: Tensors) -> str | None:
    """Returns the name of a tensor that has a space; None if there is none.

    Such a name could hold the name, shape and contents of another tensor, and the file would have the same digest.
    """
    return next((name for name in tensors if " " in name), None)


def _check_beginning(path: Path, what: str, largest: int) -> None:
    """Raises BadInput unless the file begins as a `.safetensors` file: the length of its header, then a JSON object.

    A file or a header that is too large is refused here, before it takes time and memory.
    """
    try:
        check_regular(path)
        with open(path, "rb") as file:
            start, size = file.read(9), os.fstat(file.fileno()).st_size
    except (OSError, ValueError) as error:
        kind = Damaged if path.exists() and not path.is_file() else BadInput
        raise kind(f"{what} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not start:
        raise Damaged(f"{what} is empty")
    if start[8:] != b"{" and start.startswith((b"\x80", b"PK")):
        raise Damaged(f"{what} is a pickle, which could run code and is never loaded; azero writes .safetensors")
    if start[8:] != b"{":
        raise Damaged(f"{what} is not a .safetensors file")
    for part, own, most in _sizes(start, size, largest):
        if own > most:
            raise Damaged(f"{what} is not one of azero's: its {part} has {own:,} bytes; at most {most:,} are possible")


def _sizes(start: bytes, size: int, largest: int) -> list[tuple[str, int, int]]:
    """Returns name, bytes and most bytes of a file and of its header, whose length is in the first eight bytes."""
    return [("file", size, largest), ("header", int.from_bytes(start[:8], "little"), _LARGEST_HEADER)]


def read_signed(
    path: Path, what: str, known: int, is_kind: Callable[[dict], bool], largest: int = LARGEST
) -> tuple[dict, Tensors]:
    """Returns card and tensors of a file of format `known`. The card has the format, and no digest.

    Args:
      is_kind: tells by the card whether the file is of the kind that is wanted.

    Raises:
      Damaged: as `read_tensors`; or the file does not match its digest, or is of another kind.
      BadInput: as `read_tensors`; or the file has another format.
    """
    card, tensors = read_tensors(path, what, largest)
    digest = card.pop("digest", None)
    if digest is not None:  # first, since it covers the format; early formats had none
        check_digest(what, digest, card, tensors)
    if not is_kind(card):
        raise Damaged(f"{what} is another file of azero's")
    check_format(what, card.get("format"), known)
    if digest is None:
        raise Damaged(f"{what} is damaged: it has no digest")
    return card, tensors


def check_digest(what: str, digest: object, card: dict, tensors: Tensors) -> None:
    """Raises Damaged if `digest` is not that of a card without digest and of tensors."""
    if digest != digest_of(tensors, card):
        raise Damaged(f"{what} is damaged: its contents do not match their digest")


def digest_of(tensors: Tensors, card: dict) -> str:
    """Returns a digest of tensors and card. It names dtypes as torch does."""
    digest = hashlib.sha256(json.dumps(card, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} torch.{tensor.dtype.name} {tensor.shape}".encode())
        digest.update(np.ascontiguousarray(tensor).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
