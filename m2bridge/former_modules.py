"""Modules that moved after release 1.0: the names by which packages of others may import them.

They stay importable by these names in all releases 1.x (docs/stability.md).
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

_MOVED = {
    "algebra.symmetry_groups": "trained_weights.networks.groups",
    "certificates.schema": "certificates.form",
    "cli.bridge": "cli.macaulay2",
    "cli.certifying": "cli.certificates",
    "cli.families": "cli.cases",
    "cli.shared": "cli.common",
    "cli.showing": "cli.show",
    "convert.calls": "convert.encode",
    "convert.documents": "convert.bounded_io",
    "convert.files": "convert.toml_files",
    "convert.foreign": "convert.other_libraries",
    "convert.given": "convert.bindings",
    "convert.macaulay2": "convert.m2_syntax",
    "convert.notation": "convert.printing",
    "convert.polynomials": "convert.parsing",
    "convert.records": "convert.decode_values",
    "convert.terms": "convert.decode_numbers",
    "convert.weight_files": "trained_weights.checkpoints.files",
    "convert.wire": "convert.decode",
    "crosscheck.certify": "certification.make",
    "crosscheck.verified": "certification.verify",
    "families.attention.all_sizes.facts": "families.attention.all_sizes.base_ideals",
    "families.attention.all_sizes.sizes": "families.attention.all_sizes.integer_sets",
    "families.attention.by_degree": "families.attention.ideal.values_by_degree",
    "families.attention.completeness": "families.attention.ideal.sections",
    "families.attention.covariants": "families.attention.ideal.covariants",
    "families.attention.exact_weights": "trained_weights.heads.ranks",
    "families.attention.fibres": "families.attention.orbits.fibres",
    "families.attention.head_weights": "trained_weights.heads.findings",
    "families.attention.highest_weights": "families.attention.ideal.highest_weights",
    "families.attention.integrals": "families.attention.polar.chern_integrals",
    "families.attention.layer_tensors": "trained_weights.checkpoints.tensors",
    "families.attention.layers_in_a_row": "trained_weights.networks.network_with_norms",
    "families.attention.near_weights": "trained_weights.heads.distances",
    "families.attention.observation": "families.attention.observations.observe",
    "families.attention.observed": "families.attention.observations.at_orbits",
    "families.attention.observed_by_degree": "families.attention.observations.by_degree",
    "families.attention.parametrization": "families.attention.orbits.parametrization",
    "families.attention.representations": "families.attention.ideal.representations",
    "families.attention.shape": "families.attention.sizes",
    "families.attention.weight_names": "trained_weights.checkpoints.names",
    "families.attention.weights": "trained_weights.result",
    "families.attention.weights_picture": "trained_weights.picture",
    "families.deep_attention.affine": "trained_weights.networks.differential",
    "families.definition": "families.base",
    "maps.cross_check": "crosscheck.cross_check",
    "maps.lattice": "maps.toric",
    "maps.map_model": "maps.polynomial_map_model",
    "maps.rank": "maps.jacobian_rank",
    "maps.verdict": "crosscheck.verdict",
}
"""The present name of each module by its name in release 1.0, both without ``m2bridge``."""
FORMER_MODULES = {f"m2bridge.{former}": f"m2bridge.{present}" for former, present in _MOVED.items()}


DIVIDED_MODULES = {
    "m2bridge.cli.computing": (
        "m2bridge.cli.ideals",
        "m2bridge.cli.compute",
        "m2bridge.cli.decide",
    ),
    "m2bridge.batch.many": ("m2bridge.batch.items", "m2bridge.batch.run_many"),
    "m2bridge.families.attention.membership": (
        "m2bridge.families.attention.orbits.charts",
        "m2bridge.families.attention.orbits.membership",
    ),
    "m2bridge.families.attention.tangents": (
        "m2bridge.families.attention.orbits.tangents",
        "m2bridge.families.attention.orbits.singular_orbits",
    ),
    "m2bridge.maps.polar": (
        "m2bridge.maps.degrees.counting_primes",
        "m2bridge.maps.degrees.polar_result",
        "m2bridge.maps.degrees.slices",
        "m2bridge.maps.degrees.polar_degrees",
    ),
    "m2bridge.families.attention.layer_symmetries": (
        "m2bridge.trained_weights.networks.symmetries",
        "m2bridge.trained_weights.networks.softmax",
    ),
    "m2bridge.families.attention.layer_weights": (
        "m2bridge.trained_weights.networks.layers",
        "m2bridge.trained_weights.networks.remarks",
    ),
    "m2bridge.families.deep_attention.at_weights": (
        "m2bridge.trained_weights.networks.network",
        "m2bridge.trained_weights.networks.separate_heads",
    ),
    "m2bridge.families.attention.numerical_weights": (
        "m2bridge.trained_weights.heads.spectrum",
        "m2bridge.trained_weights.heads.numerical",
    ),
    "m2bridge.families.attention.tokens": (
        "m2bridge.trained_weights.heads.token_space",
        "m2bridge.trained_weights.heads.reduced_head",
    ),
    "m2bridge.maps.statement": ("m2bridge.statements.statement", "m2bridge.maps.locus"),
}
"""The modules into which a module was divided."""


def specification(name: str) -> ModuleSpec | None:
    """Return the specification of a module that moved; ``None`` for every other name."""
    if name in FORMER_MODULES or name in DIVIDED_MODULES:
        return ModuleSpec(name, FormerModule())  # type: ignore[arg-type]
    return None


class FormerModule:
    """The loader of a module by its former name, as Python's import system expects one."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to create a module, which :meth:`exec_module` replaces or fills."""

    def exec_module(self, module: ModuleType) -> None:
        """Register the module that moved under its former name as well.

        Where a module was divided, fill the empty one that Python has made with the names of all
        parts. It keeps its own ``__name__``, ``__spec__`` and others that Python sets.
        """
        name = module.__name__
        if name in FORMER_MODULES:
            # after this method Python takes the module of this name from sys.modules again
            sys.modules[name] = import_module(FORMER_MODULES[name])
            return
        for part in DIVIDED_MODULES[name]:
            for key, value in vars(import_module(part)).items():
                is_set_by_python = key.startswith("__") and key.endswith("__")
                if not is_set_by_python:
                    setattr(module, key, value)
