"""k(x, z): how alike two candidates are."""

from noregret.kernels.algebra import Product, Scaled, Sum
from noregret.kernels.base import Differentiable, Kernel, probe, require_kernel, slopes
from noregret.kernels.linear import Linear
from noregret.kernels.stationary import RBF, Matern

__all__ = [
    "RBF",
    "Differentiable",
    "Kernel",
    "Linear",
    "Matern",
    "Product",
    "Scaled",
    "Sum",
    "probe",
    "require_kernel",
    "slopes",
]
