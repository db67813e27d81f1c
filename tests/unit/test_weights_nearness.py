"""Sentences on heads near a lower rank, and the order of heads by distances."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest
from click.testing import CliRunner

from m2bridge.cli import commands
from m2bridge.errors import InvalidCaseError
from m2bridge.families.attention.weights import Weights, weights

D, RANK, SMALL = 6, 3, 2.0**-26


def _near_rank_two(layers: int = 3) -> dict[str, Any]:
    """Layers of one head with a = 3 < d; A of the second one has σ = 1, 1, and a small number."""
    arrays = {}
    for layer in range(layers):
        last = SMALL if layer == 1 else 0.25 / (layer + 1)
        K = numpy.eye(RANK, D)
        Q = numpy.diag([1.0, 1.0, last]) @ numpy.eye(RANK, D)
        for letter, matrix in {"K": K, "Q": Q, "V": numpy.eye(D)}.items():
            arrays[f"{letter}{layer}"] = matrix.astype("float32")
    return arrays


@pytest.fixture
def found() -> Weights:
    return weights(_near_rank_two())


def test_a_head_within_rounding_of_a_lower_rank_keeps_its_exact_verdict(found: Weights) -> None:
    head = found.to_json()["heads"][1]
    assert (head["rank_A"], head["singular"]) == (3, False)
    # ‖A‖ = √2 up to the small number, which is all that is cut off.
    (near,) = head["near"]
    assert near["stratum"] == "rk A ≤ 2"
    assert near["distance"] == pytest.approx(SMALL / 2**0.5, rel=1e-4)
    expected = (
        "head 1 of layer 2 is within rounding (float32) of rk A ≤ 2: its nearest singular function"
        " is at distance 1.1e-08"
    )
    assert head["near_words"] == expected
    assert expected in " ".join(str(found).split())


def test_other_heads_have_no_such_sentence(found: Weights) -> None:
    others = [head for head in found.to_json()["heads"] if head["layer"] != 2]
    assert [(head["near"], head["near_words"]) for head in others] == [([], None)] * 2


def test_a_given_tolerance_is_no_rounding() -> None:
    head = weights(_near_rank_two(), tolerance=0.2).to_json()["heads"][2]
    assert head["near_words"].startswith("head 1 of layer 3 is within tolerance 0.2 of rk A ≤ 2")


def test_softmax_has_the_distance_to_the_stratum() -> None:
    head = weights(_near_rank_two(), normalization="softmax").to_json()["heads"][1]
    assert head["near_words"].endswith("of rk A ≤ 2: rk A ≤ 2 is at distance 1.1e-08")


def test_the_summary_has_the_nearest_head_of_each_locus(found: Weights) -> None:
    distances = {
        (h["layer"], h["head"]): h["numerical"]["distance_to_singular_locus"]
        for h in found.to_json()["heads"]
    }
    (locus,) = found.to_json()["nearest"]
    assert locus["heads"] == 3
    assert (locus["layer"], locus["head"]) == min(distances, key=lambda key: distances[key])
    assert "rk A ≤ 2: 3 heads, nearest head 1 of layer 2" in " ".join(str(found).split())


def _layers(*options: str) -> list[int]:
    words = ["weights", "w.npz", "--json", *options]
    answer = CliRunner().invoke(commands.cli, words, standalone_mode=False)
    assert answer.return_value == 0, answer.output
    return [head["layer"] for head in json.loads(answer.stdout)["heads"]]


def test_heads_are_sorted_by_distance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    numpy.savez("w.npz", **_near_rank_two())
    assert _layers() == [1, 2, 3]
    assert _layers("--sort", "distance") == [2, 3, 1]
    assert _layers("--worst", "2") == [2, 3]


def test_wrong_orders_are_named() -> None:
    with pytest.raises(InvalidCaseError, match="must be at least 1, not 0"):
        weights(_near_rank_two(), worst=0)
    with pytest.raises(InvalidCaseError, match="must be layer or distance"):
        weights(_near_rank_two(), sort="size")


def test_the_picture_has_a_map_of_distances_by_layers_and_heads(found: Weights) -> None:
    (image,) = [image for axes in found.figure().axes for image in axes.images]
    shown = image.get_array().filled(0).ravel()
    distances = [head.numerical.distance_to_singular_locus for head in found.heads]
    assert shown.tolist() == pytest.approx(distances)


def test_the_picture_has_the_heads_of_the_tables_and_a_map_of_all() -> None:
    """Of three heads two are drawn, the nearest first, and have frames in the map."""
    drawn = weights(_near_rank_two(), worst=2).figure()
    _, second, table, mapped, _ = drawn.axes
    assert [text.get_text() for text in second.get_xticklabels()] == ["2.1", "3.1"]
    assert table.get_title() == "the 2 heads nearest to the singular locus"
    assert (mapped.get_xlabel(), mapped.get_ylabel()) == ("head", "layer")
    (image,) = mapped.images
    assert image.get_array().count() == 3
    corners = [(min(line.get_xdata()), min(line.get_ydata())) for line in mapped.lines]
    assert corners == [(-0.5, 0.5), (-0.5, 1.5)]


def test_the_picture_of_all_heads_is_in_the_order_that_is_asked_for() -> None:
    drawn = weights(_near_rank_two(), sort="distance").figure()
    _, second, *_ = drawn.axes
    assert [text.get_text() for text in second.get_xticklabels()] == ["2.1", "3.1", "1.1"]
    assert not [line for axes in drawn.axes for line in axes.lines if axes.images]


def test_labels_of_the_map_and_its_scale_do_not_touch() -> None:
    figure = weights(_near_rank_two(), worst=2).figure()
    *_, mapped, bar = figure.axes
    renderer = figure.canvas.get_renderer()
    figure.draw(renderer)
    assert mapped.xaxis.label.get_window_extent(renderer).y0 > bar.get_window_extent(renderer).y1


def test_a_figure_takes_the_options_of_the_heads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    numpy.savez("w.npz", **_near_rank_two())
    words = ["figure", "weights", "w.npz", "--csv", "--worst", "2"]
    answer = CliRunner().invoke(commands.cli, words, standalone_mode=False)
    assert answer.return_value == 0, answer.output
    assert [line[0] for line in answer.stdout.splitlines()[1:]] == ["2", "3"]
