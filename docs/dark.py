"""Writes a dark twin of each plot of the docs: `python docs/dark.py`. Colours keep their hue."""

from pathlib import Path

import numpy as np
from PIL import Image

DOCS = Path(__file__).resolve().parent
PAPER = 22  # the darkest grey


def darkened(picture: np.ndarray) -> np.ndarray:
    """Returns a picture [H, W, 3] uint8 with the lightness of each pixel turned over."""
    colours = picture.astype(np.float64)
    turned = colours + 255 - colours.max(axis=2, keepdims=True) - colours.min(axis=2, keepdims=True)
    return (PAPER + turned * (255 - PAPER) / 255).astype(np.uint8)


if __name__ == "__main__":
    for path in [*DOCS.glob("lab/*.png"), *DOCS.glob("pictures/*.png")]:
        if not path.stem.endswith(("_dark", "_light")):
            picture = Image.fromarray(darkened(np.asarray(Image.open(path).convert("RGB"))))
            picture.quantize(128, dither=Image.Dither.NONE).save(path.with_stem(f"{path.stem}_dark"), optimize=True)
