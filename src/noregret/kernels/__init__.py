"""Kernels: k(x, z) says how alike two candidates are."""

from noregret.kernels.base import (
    DifferentiableKernel,
    Kernel,
    KernelBase,
    Product,
    Scaled,
    Sum,
    as_kernel,
    diagonal_slopes,
    probe,
    probe_rows,
    require_kernel,
    slopes,
)
from noregret.kernels.categorical import CandidateEffect, Categorical, WithEffect
from noregret.kernels.contexts import InContext
from noregret.kernels.custom import FunctionKernel, Precomputed
from noregret.kernels.fourier_features import (
    Features,
    QuadratureFeatures,
    quadrature,
    random_features,
)
from noregret.kernels.linear import Linear, Polynomial
from noregret.kernels.stationary import RBF, Matern, shortened
from noregret.kernels.tanimoto import Tanimoto
