"""Nim as a slow, plain prototype, with which `nim.py` is compared."""

from azero.authoring import Prototype


class SlowNim(Prototype):
    """Players take one to three from the heap, written 0 to 2. The player who takes the last one wins."""

    def __init__(self, heap):
        self.left = heap
        self.mover = 0

    def to_move(self):
        return self.mover

    def legal_moves(self):
        return ["0", "1", "2"][: self.left]

    def play(self, move):
        self.left -= int(move) + 1
        self.mover = 1 - self.mover

    def result(self):
        if self.left:
            return None
        return 1 if self.mover == 1 else -1
