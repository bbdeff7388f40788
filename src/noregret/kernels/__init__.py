"""k(x, z): how alike two candidates are."""

from noregret.kernels.algebra import Product, Scaled, Sum, as_kernel
from noregret.kernels.base import (
    Kernel,
    own_slope,
    probe,
    probe_rows,
    pull,
    require_kernel,
    slopes,
)
from noregret.kernels.bits import Tanimoto
from noregret.kernels.categorical import Categorical
from noregret.kernels.functions import FunctionKernel
from noregret.kernels.linear import Linear, Polynomial
from noregret.kernels.own import Own
from noregret.kernels.precomputed import Precomputed
from noregret.kernels.stationary import RBF, Matern

__all__ = [
    "RBF",
    "Categorical",
    "FunctionKernel",
    "Kernel",
    "Linear",
    "Matern",
    "Own",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sum",
    "Tanimoto",
    "as_kernel",
    "own_slope",
    "probe",
    "probe_rows",
    "pull",
    "require_kernel",
    "slopes",
]
