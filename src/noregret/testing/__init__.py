"""Suites of rules for parts of your own: kernels, widths, batch rules, pools and policies.

Subclass one in a test file and say how your part is made; pytest does the rest. Without pytest,
`run()` checks every rule. The library's own parts pass the same suites.

>>> from noregret.testing import KernelSuite
>>> class TestMyKernel(KernelSuite):
...     def make(self):
...         return nr.RBF(0.5) + nr.Linear()
>>> TestMyKernel().run()
"""

from noregret.testing.base import Suite
from noregret.testing.batch_rules import BatchRuleSuite
from noregret.testing.kernels import KernelSuite
from noregret.testing.policies import PolicySuite
from noregret.testing.pools import DomainSuite, PoolSuite
from noregret.testing.widths import WidthSuite
