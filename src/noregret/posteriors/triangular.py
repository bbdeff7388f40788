"""A triangular solve beside which other threads go on.

SciPy's own wrapper holds the interpreter's lock while BLAS works, so that threads would wait for
each other. The same routine is called here through the pointer that SciPy hands to other languages.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
from scipy.linalg import cython_blas

from noregret.arrays import Matrix


def _routine(capsule: object, *arguments: type) -> Callable[..., None]:
    """Return the routine that a capsule holds; while ctypes calls it, the lock is free."""
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer_of(capsule, name_of(capsule))
    return ctypes.CFUNCTYPE(None, *arguments)(address)


_letter, _number = ctypes.c_char_p, ctypes.POINTER(ctypes.c_int)
_scalar, _array = ctypes.POINTER(ctypes.c_double), ctypes.c_void_p
_dtrsm = _routine(
    cython_blas.__pyx_capi__["dtrsm"],
    *(_letter, _letter, _letter, _letter, _number, _number),
    *(_scalar, _array, _number, _array, _number),
)


def solve_lower_in_place(L: Matrix, B: Matrix) -> None:
    """Turn B into L⁻¹ B; both in Fortran's order."""
    assert L.flags.f_contiguous
    assert B.flags.f_contiguous
    assert L.dtype == B.dtype == np.float64
    rows, columns = B.shape
    if rows == 0 or columns == 0:
        return
    assert L.shape == (rows, rows)
    m, n, one = ctypes.c_int(rows), ctypes.c_int(columns), ctypes.c_double(1.0)
    _dtrsm(b"L", b"L", b"N", b"N", m, n, one, L.ctypes.data, m, B.ctypes.data, m)
