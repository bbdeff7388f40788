"""k(x, z): how alike two candidates are."""

from noregret.kernels.algebra import Product, Scaled, Sum, as_kernel
from noregret.kernels.base import Kernel, own_slope, probe, probe_rows, pull, require_kernel, slopes
from noregret.kernels.categorical import Categorical, Own
from noregret.kernels.custom import FunctionKernel, Precomputed
from noregret.kernels.linear import Linear, Polynomial
from noregret.kernels.quadrature_features import QuadratureFeatures, quadrature
from noregret.kernels.random_features import Features, random_features
from noregret.kernels.stationary import RBF, Matern
from noregret.kernels.tanimoto import Tanimoto

__all__ = [
    "RBF",
    "Categorical",
    "Features",
    "FunctionKernel",
    "Kernel",
    "Linear",
    "Matern",
    "Own",
    "Polynomial",
    "Precomputed",
    "Product",
    "QuadratureFeatures",
    "Scaled",
    "Sum",
    "Tanimoto",
    "as_kernel",
    "own_slope",
    "probe",
    "probe_rows",
    "pull",
    "quadrature",
    "random_features",
    "require_kernel",
    "slopes",
]
