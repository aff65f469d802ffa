"""Hands that play in the page, by clicks or by keys, and eyes that read its board."""

import random
import time

STATE = """() => {
  const all = (query, root = document) => [...root.querySelectorAll(query)];
  const cells = all('[role=gridcell]');
  const nameOf = (button) => (button.getAttribute('aria-label') ?? button.innerText).trim();
  const offered = all('.panel button:enabled').filter(({ offsetParent }) => offsetParent);
  return {
    cells: cells.map((cell) => cell.getAttribute('aria-label')),
    chosen: cells.map((cell, k) => (cell.getAttribute('aria-selected') === 'true' ? k : -1)).filter((k) => k >= 0),
    moves: all('[role=log] button').map((button) => button.innerText),
    buttons: offered.map(nameOf).filter((text) => ['Pass', 'Swap'].includes(text)),
    list: all('[aria-label="Legal moves"] button:enabled').map((button) => button.innerText),
    isOver: offered.some((button) => nameOf(button) === 'Review this game'),
  };
}"""
WAIT_S = 60
KEYS = {"Pass": "Shift+P", "Swap": "Shift+S"}


class Hands:
    """Plays at random, always the same with the same seed."""

    def __init__(self, page, seed=0, *, by="clicks", passes_after=30):
        self.page, self.by, self.passes_after = page, by, passes_after
        self.random = random.Random(seed)
        self.grid = page.get_by_role("grid")

    def see(self) -> dict:
        """Returns what the page shows: names of cells, moves, and what may be done."""
        return self.page.evaluate(STATE)

    def may_click(self, state=None) -> list[int]:
        """Returns the numbers of the cells that may be clicked, in the grid's order."""
        return [k for k, name in enumerate((state or self.see())["cells"]) if name.endswith("can move")]

    def wait_for_turn(self, before=None) -> dict:
        """Waits until a move may be made or the game is over, and the page shows something else than `before`."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            state = self.see()
            is_open = self.may_click(state) or state["buttons"] or state["list"] or state["isOver"]
            if is_open and state != before:
                return state
            time.sleep(0.02)
        raise AssertionError(f"nothing to do within {WAIT_S} s: {state}")

    def new_game(self, side="First", simulations="10", agent="uct@1000") -> dict:
        """Begins a game against an agent with few simulations."""
        self.page.get_by_role("button", name="New game").click()
        dialog = self.page.get_by_role("dialog")
        dialog.get_by_label("Opponent").select_option(value=agent)
        strength = dialog.get_by_label("Simulations a move")
        if strength.count():
            strength.select_option(simulations)
        else:
            dialog.get_by_role("radio", name="Level 1", exact=False).first.click()
        dialog.get_by_role("radio", name=side).click()
        dialog.get_by_role("button", name="Start").click()
        dialog.wait_for(state="detached")
        return self.wait_for_turn()

    def step(self, state) -> dict:
        """Makes one step of a move: a cell, a button, or a move of the list."""
        cells = self.may_click(state)
        if state["buttons"] and (not cells or len(state["moves"]) >= self.passes_after):
            self.press(state["buttons"][0])
        elif cells:
            self.pick(self.random.choice(cells))
        else:
            self.take_from_list(self.random.choice(state["list"]))
        return self.wait_for_turn(state)

    def play_to_the_end(self, most=400) -> dict:
        """Plays until the game is over; returns the last state."""
        state = self.wait_for_turn()
        for _ in range(most):
            if state["isOver"]:
                return state
            state = self.step(state)
        raise AssertionError(f"no end within {most} steps")

    def play_moves(self, number) -> dict:
        """Plays until at least so many moves stand in the list and a turn of this side begins."""
        state = self.wait_for_turn()
        while (len(state["moves"]) < number or state["chosen"]) and not state["isOver"]:
            state = self.step(state)
        return state

    def press(self, name) -> None:
        if self.by == "keys":
            self.page.keyboard.press(KEYS[name])
        else:
            buttons = self.page.get_by_role("region", name="Game").get_by_role("button", name=name, exact=True)
            buttons.last.click()  # who has to pass has another button on a card

    def take_from_list(self, text) -> None:
        button = self.page.get_by_role("group", name="Legal moves").get_by_role("button", name=text, exact=True)
        if self.by == "keys":
            self.tab_to(button)
            self.page.keyboard.press("Enter")
        else:
            button.click()

    def pick(self, cell: int) -> None:
        """Picks the cell with this number, in the grid's order."""
        if self.by == "keys":
            self.walk_to(cell)
            self.page.keyboard.press("Enter")
        else:
            self.grid.get_by_role("gridcell").nth(cell).click()

    def walk_to(self, cell: int) -> None:
        """Moves the cursor by arrow keys: first up or down, then left or right."""
        rows = self.page.evaluate("""() => [...document.querySelectorAll('[role=grid] [role=row]')].map(
            (row) => row.querySelectorAll('[role=gridcell]').length)""")
        wanted = place(rows, cell)
        row, _ = self.cursor(rows)
        for _ in range(abs(wanted[0] - row)):
            self.page.keyboard.press("ArrowDown" if wanted[0] > row else "ArrowUp")
        row, column = self.cursor(rows)
        for _ in range(abs(wanted[1] - column)):
            self.page.keyboard.press("ArrowRight" if wanted[1] > column else "ArrowLeft")
        assert self.cursor(rows) == wanted

    def cursor(self, rows) -> tuple[int, int]:
        """Returns row and column of the cell with the focus; goes to the board by Tab if it is elsewhere."""
        where = "() => [...document.querySelectorAll('[role=gridcell]')].indexOf(document.activeElement)"
        if self.page.evaluate(where) < 0:
            self.tab_to(self.grid.locator("[role=gridcell][tabindex='0']"))
        return place(rows, self.page.evaluate(where))

    def tab_to(self, target, most=60) -> None:
        """Presses Tab until `target` has the focus."""
        for _ in range(most):
            if target.evaluate("(element) => element === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not lead to {target}")


def place(rows: list[int], cell: int) -> tuple[int, int]:
    """Returns row and column of a cell; `rows` holds the number of cells of each row."""
    for row, count in enumerate(rows):
        if cell < count:
            return row, cell
        cell -= count
    raise AssertionError("no such cell")
