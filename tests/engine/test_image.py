"""The examples, against what the literature says about them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from m2bridge import Macaulay2, SingleLayerAttention
from m2bridge.computations.image import image
from m2bridge.convert.map_file import read_map
from m2bridge.errors import MethodUnavailableError

EXAMPLES = Path(__file__).parent.parent.parent / "examples"

# name: dimension (affine), degree, generators by degree, generic fibre, base locus.
# Harris, Algebraic Geometry: A First Course, 1.10, 2.12, 18.15 (Segre), 18.13 (Veronese), 19.10 (determinantal);
# Gr(2,5) has degree 5, the Catalan number; Kileel, Trager, Bruna (2019) for polynomial networks.
KNOWN = {
    "twisted_cubic": (2, 3, {"2": 3}, 0, 0),
    "segre": (4, 3, {"2": 3}, 1, 3),
    "veronese_surface": (3, 4, {"2": 6}, 0, 0),
    "grassmannian": (7, 5, {"2": 5}, 3, 6),
    "whitney_umbrella": (2, 3, {"3": 1}, 0, 0),
    "secant_veronese": (5, 3, {"3": 1}, 1, 3),
    "polynomial_layer": (8, 3, {"3": 1}, 2, 6),
    "lightning_attention": (5, 4, {"1": 14, "4": 1}, 1, 4),
}


def test_every_example_is_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.toml")} == set(KNOWN)


@pytest.mark.parametrize("name", KNOWN)
def test_examples(engine: Macaulay2, name: str) -> None:
    dimension, degree, generators, fibre, base = KNOWN[name]
    polynomial_map, title = read_map((EXAMPLES / f"{name}.toml").read_text(encoding="utf-8"))
    found = image(polynomial_map, engine, title=title)
    record = json.loads(json.dumps(found.to_json()))
    assert (record["dimension"], record["degree"], record["generator_degrees"]) == (dimension, degree, generators)
    assert (record["generic_fibre_dimension"], record["base_locus_dimension"]) == (fibre, base)
    assert (record["complete"], record["dimension_status"], record["unfinished"]) == ("proved", "proved", None)
    assert title in found.to_text()


def test_the_attention_example_is_the_model(engine: Macaulay2) -> None:
    polynomial_map, _ = read_map((EXAMPLES / "lightning_attention.toml").read_text(encoding="utf-8"))
    model = SingleLayerAttention(2, 1).parametrization("full")
    assert dict(zip(polynomial_map.coordinates, polynomial_map.images, strict=True)) == dict(
        zip(model.coordinates, model.images, strict=True)
    )


def test_maps_with_relations_and_without_base_locus(engine: Macaulay2) -> None:
    circle, _ = read_map(
        '[map]\nparameters=["s","t"]\nrelations=["s^2+t^2-1"]\n[coordinates]\nx="s^2"\ny="s*t"\nz="t^2"'
    )
    found = image(circle, engine)
    assert (found.source_dimension, found.base_locus_dimension, found.generic_fibre_dimension) == (1, -1, 0)
    assert "base locus      empty" in found.to_text()
    with pytest.raises(MethodUnavailableError, match="free parameters"):
        image(circle, engine, strategy="multigraded")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = "from m2bridge.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, "implicitize", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=dict(os.environ),
    )


def test_command(program: Path, tmp_path: Path) -> None:
    done = run(str(EXAMPLES / "segre.toml"), "--json", "--m2", str(program))
    assert (done.returncode, json.loads(done.stdout)["degree"]) == (0, 3)
    partial = run(str(EXAMPLES / "segre.toml"), "--max-degree", "2", "--json", "--m2", str(program))
    assert json.loads(partial.stdout)["complete"] == "up to degree 2"
    bad = tmp_path / "bad.toml"
    bad.write_text('[map]\nparameters = ["s"]\n[coordinates]\nx = "s +* 2"\n')
    refused = run(str(bad))
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1
    assert "bad.toml: [coordinates] x: column 4: expected a number" in refused.stderr
    assert run(str(tmp_path / "none.toml")).returncode == 2
