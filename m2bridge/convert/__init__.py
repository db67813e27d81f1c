"""The one place that knows both SymPy's and Macaulay2's notation."""
