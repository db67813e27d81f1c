"""The public names are frozen on purpose: a change here is a change for every user."""

import m2bridge

NAMES = """
QQ AllSizes Closure CoefficientField Component CrossCheck Decision
Dimension Engine Fibre Ideal Image Limits Macaulay2 Membership
Observations Orbit OrbitFacts OrbitStatus PolynomialMap PolynomialRing Script SingleLayerAttention SingularLocus
Transcript
Verdict __version__ closure cross_check cross_check_all_sizes dimension fibres image membership observe read_ideal
singular_locus TooLargeError
Chain ContradictionError MemoryLimitError TimeLimitError InvalidCaseError Layer M2BridgeError
DeepAttention DeepAttentionAllSizes cross_check_deep_attention Plan PolynomialNetwork
HilbertFunction OrbitDiagram SliceSurface hilbert_function orbit_diagram slice_surface
certify implicitize plan read_map read_model verify
IdealSingularLocus IrreducibleComponent ideal read_ideal_file read_mrdi read_sage_text
ConversionError EngineDiedError Evaluation PackageError ScriptError UnknownSymbolError ValueTypeError Workspace
WorkspaceLostError
"""


def test_public_names() -> None:
    assert sorted(m2bridge.__all__) == sorted(NAMES.split())
    assert all(hasattr(m2bridge, name) for name in m2bridge.__all__)
