"""The parametrization of one layer, its fibres, orbits and tangent spaces."""
