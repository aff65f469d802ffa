"""Tests of an experiment's folder: rows are kept, continued, and never overwritten by another experiment."""

import json

import pytest

import azero
from azero.errors import BadInput
from azero.lab.experiment import Results, Table
from azero.system.files import LOCK, held
from azero.system.worker_pool import do_in_order


def open_results(folder, name="squares", parameters=None):
    return Results(folder, name, parameters or {"seed": 0}, ["number"], ["square"])


def square(unit):
    return {"square": unit[0] ** 2}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


UNITS = [(number,) for number in range(8)]


def test_rows_come_in_the_order_of_their_units_whatever_the_workers(tmp_path):
    for workers in (1, 3):
        open_results(tmp_path / str(workers)).complete(square, UNITS, workers, "")
    assert contents(tmp_path / "1") == contents(tmp_path / "3")
    assert (tmp_path / "1" / "results.csv").read_text().startswith("number,square\n0,0\n1,1\n2,4\n")


@pytest.mark.parametrize("cut", range(0, 40, 3))
def test_a_run_killed_at_any_byte_goes_on_to_the_same_rows(tmp_path, cut):
    open_results(tmp_path / "whole").complete(square, UNITS, 1, "")
    whole = (tmp_path / "whole" / "results.csv").read_bytes()
    open_results(tmp_path / "killed")
    header = len(b"number,square\n")
    (tmp_path / "killed" / "results.csv").write_bytes(whole[: header + cut])
    done = []
    open_results(tmp_path / "killed").complete(lambda unit: done.append(unit) or square(unit), UNITS, 1, "")
    assert (tmp_path / "killed" / "results.csv").read_bytes() == whole
    assert done == UNITS[whole[: header + cut].count(b"\n") - 1 :], "finished rows should not be computed again"


def test_what_stops_the_work_keeps_the_rows_before_it(tmp_path):
    def square_until_five(unit):
        if unit[0] == 5:
            raise KeyboardInterrupt
        return square(unit)

    with pytest.raises(KeyboardInterrupt):
        open_results(tmp_path).complete(square_until_five, UNITS, 1, "")
    assert len(open_results(tmp_path).rows) == 5


def test_a_worker_that_fails_tells_why(tmp_path):
    with pytest.raises(TypeError):
        list(do_in_order(square, [("a",), ("b",)], 2))


@pytest.mark.parametrize(
    ("name", "parameters", "part"),
    [
        ("cubes", {"seed": 0}, "has the experiment squares, not cubes"),
        ("squares", {"seed": 1}, "with seed = 0, not 1"),
        ("squares", {"seed": 0, "times": (0.1,)}, "with times = null, not [0.1]"),
    ],
)
def test_a_folder_of_another_experiment_is_refused_and_left_alone(tmp_path, name, parameters, part):
    open_results(tmp_path).complete(square, UNITS, 1, "")
    before = contents(tmp_path)
    with pytest.raises(BadInput, match="name another folder") as error:
        open_results(tmp_path, name, parameters)
    assert part in str(error.value) and contents(tmp_path) == before


@pytest.mark.parametrize(
    ("file", "text", "part"),
    [
        ("notes.txt", "mine", "has other files than an experiment's"),
        ("experiment.json", "{", "is damaged"),
        ("experiment.json", "[]", "is damaged"),
        ("experiment.json", "[" * 99_999, "is damaged"),
        ("experiment.json", "\udcff", "is damaged"),
        ("experiment.json", '{"experiment": "squares", "parameters": 3}', "is damaged"),
    ],
)
def test_a_folder_of_something_else_is_refused_and_left_alone(tmp_path, file, text, part):
    data = text.encode("utf-8", "surrogateescape")
    (tmp_path / file).write_bytes(data)
    with pytest.raises(BadInput, match=part):
        open_results(tmp_path)
    assert contents(tmp_path) == {file: data}


def test_a_file_in_the_folder_s_place_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BadInput, match="is a file, not an experiment's folder"):
        open_results(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("number,cube\n1,1\n", "is damaged"),
        ("number,square\n1\n", "is damaged"),
        ("", "is damaged"),
        ("number,square\n1,abc\n", "is damaged"),
        (f"number,square\n1,{'1' * 200_000}\n", "is damaged"),
        ("number,square\n1,\0\n", "is damaged"),
        ("a line that is no row\nand another without an end", "is damaged"),
        ("number,square\n1,1\n2,4\n1,1\n", "has two rows with the same key"),
    ],
)
def test_damaged_rows_are_refused_and_left_alone(tmp_path, text, part):
    open_results(tmp_path)
    (tmp_path / "results.csv").write_text(text)
    with pytest.raises(BadInput, match=part):
        open_results(tmp_path)
    assert (tmp_path / "results.csv").read_text() == text


def test_a_link_in_the_place_of_the_rows_leaves_its_target_as_it_is(tmp_path):
    open_results(tmp_path / "out")
    rows = (tmp_path / "out" / "results.csv").read_bytes()
    (tmp_path / "mine.csv").write_bytes(rows + b"1,")
    (tmp_path / "out" / "results.csv").unlink()
    (tmp_path / "out" / "results.csv").symlink_to(tmp_path / "mine.csv")
    open_results(tmp_path / "out")
    assert (tmp_path / "mine.csv").read_bytes() == rows + b"1,"
    assert (tmp_path / "out" / "results.csv").read_bytes() == rows


def test_the_card_says_what_was_run(tmp_path):
    open_results(tmp_path, parameters={"seed": 7, "times": (0.1, 1.0)})
    card = json.loads((tmp_path / "experiment.json").read_text())
    parameters = {"seed": 7, "times": [0.1, 1.0]}
    assert card == {"experiment": "squares", "azero": azero.__version__, "parameters": parameters}


def test_another_version_goes_on_and_says_so(tmp_path, capsys):
    open_results(tmp_path).complete(square, UNITS[:3], 1, "")
    assert capsys.readouterr().err == ""
    card = tmp_path / "experiment.json"
    card.write_text(card.read_text().replace(f'"{azero.__version__}"', '"0.0.9"'))
    assert len(open_results(tmp_path).rows) == 3
    errors = capsys.readouterr().err
    assert "was begun by azero 0.0.9 and continues with" in errors and errors.count("\n") == 1


def test_a_folder_in_use_is_refused(tmp_path):
    results = open_results(tmp_path)
    with held(tmp_path, "busy"):
        for use in (lambda: open_results(tmp_path), lambda: results.complete(square, UNITS, 1, "")):
            with pytest.raises(BadInput, match="is in use by another run"):
                use()
    results.complete(square, UNITS, 1, "")


def test_what_a_killed_run_leaves_of_its_hold_is_no_obstacle(tmp_path):
    (tmp_path / LOCK).touch()
    assert open_results(tmp_path).rows == {}


def test_a_folder_is_held_while_rows_are_made(tmp_path):
    def square_and_open(unit):
        with pytest.raises(BadInput, match="is in use by another run"):
            open_results(tmp_path)
        return square(unit)

    open_results(tmp_path).complete(square_and_open, UNITS[:1], 1, "")


def test_rows_of_a_run_that_came_between_are_not_done_again(tmp_path):
    first, second = open_results(tmp_path), open_results(tmp_path)
    first.complete(square, UNITS, 1, "")
    before = contents(tmp_path)
    second.complete(square, UNITS, 1, "")
    assert contents(tmp_path) == before and second.row(UNITS[3]) == {"square": 9.0}


def test_what_is_measured_by_the_clock_is_measured_once(tmp_path):
    speeds = iter([[1.5, 2.0], [3.0, 4.0]])
    assert open_results(tmp_path).measured_once("speeds", 2, lambda: next(speeds)) == [1.5, 2.0]
    assert open_results(tmp_path).measured_once("speeds", 2, lambda: next(speeds)) == [1.5, 2.0]


@pytest.mark.parametrize("wrong", [[1.0], [1.0, "a"], [1.0, -2.0], 5, {"a": 1}])
def test_a_measurement_that_is_none_is_refused(tmp_path, wrong):
    results = open_results(tmp_path)
    card = json.loads((tmp_path / "experiment.json").read_text())
    (tmp_path / "experiment.json").write_text(json.dumps(card | {"speeds": wrong}))
    with pytest.raises(BadInput, match="is damaged: speeds"):
        results.measured_once("speeds", 2, lambda: [1.0, 2.0])


def test_a_table_is_markdown(tmp_path):
    text = open_results(tmp_path).write_table(Table(["a", "long"], [["1", "2"], ["333", "4"]], ["a note"]))
    assert text == "| a   | long |\n|-----|------|\n| 1   | 2    |\n| 333 | 4    |\n\na note"
    assert (tmp_path / "table.md").read_text() == text + "\n"
