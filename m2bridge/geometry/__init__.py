"""Exact mathematics that needs no engine: tangent spaces, orbits, linear spans, Hilbert series, closed formulas."""
