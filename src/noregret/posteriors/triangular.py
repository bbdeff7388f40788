"""A triangular solve beside which other threads go on.

SciPy's own wrapper holds the interpreter's lock while BLAS works, so that threads would wait for
each other. The same routine is called here through the pointer that SciPy hands to other languages.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from noregret.arrays import Matrix


@lru_cache(maxsize=1)
def _dtrsm() -> Callable[..., None]:
    """Return BLAS's routine; while ctypes calls it, the lock is free."""
    import ctypes  # takes a while to load, so not before use

    from scipy.linalg import cython_blas

    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = cython_blas.__pyx_capi__["dtrsm"]
    number, scalar, array = (
        ctypes.POINTER(ctypes.c_int),
        ctypes.POINTER(ctypes.c_double),
        ctypes.c_void_p,
    )
    letters = [ctypes.c_char_p] * 4
    kind = ctypes.CFUNCTYPE(None, *letters, number, number, scalar, array, number, array, number)
    routine = kind(pointer_of(capsule, name_of(capsule)))

    def solve(L: Matrix, B: Matrix) -> None:
        m, n, one = ctypes.c_int(B.shape[0]), ctypes.c_int(B.shape[1]), ctypes.c_double(1.0)
        routine(b"L", b"L", b"N", b"N", m, n, one, L.ctypes.data, m, B.ctypes.data, m)

    return solve


def solve_lower_in_place(L: Matrix, B: Matrix) -> None:
    """Turn B into L⁻¹ B; both in Fortran's order."""
    assert L.flags.f_contiguous
    assert B.flags.f_contiguous
    assert L.dtype == B.dtype == np.float64
    assert L.shape == (len(B), len(B))
    if B.size:
        _dtrsm()(L, B)
