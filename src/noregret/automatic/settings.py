"""What only the user of `auto` can know, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

import numpy as np

from noregret.arrays import Mask
from noregret.automatic.constants import DEFAULTS, AutoConstants
from noregret.errors import ExhaustedError
from noregret.policies import Evidence
from noregret.storable import storable

Attitude: TypeAlias = Literal["safe", "balanced", "greedy"]


@final
@storable("AutoSettings")
@dataclass(frozen=True, slots=True)
class AutoSettings:
    """What a user has to say, and the numbers that decide the rest."""

    enumerates: bool  # the candidates of a pool; else points of a box are searched for
    attitude: Attitude = "balanced"
    delta: float = 0.1
    workers: int = 1
    switch_cost: float = 0.0
    deterministic: bool = False
    constants: AutoConstants = DEFAULTS

    @property
    def explores(self) -> bool:
        return self.attitude != "safe" and not self.deterministic

    @property
    def uses_knowledge_gradient(self) -> bool:
        """Whether candidates are chosen by what they may gain."""
        return self.explores and self.enumerates

    def closed(self, evidence: Evidence) -> Mask:
        """Tell which candidates must not be chosen: beside the excluded ones, those given up.

        That is what failed twice and never had a value; where values are deterministic, what failed
        once too, and all that has been evaluated or is under way.
        """
        often = evidence.failed_counts >= (1 if self.deterministic else self.constants.failed_often)
        closed = evidence.closed(np.intersect1d(evidence.failed_rows[often], evidence.lost))
        return closed | evidence.closed(evidence.taken) if self.deterministic else closed

    def still_open(self, evidence: Evidence) -> Mask:
        """Return what is closed, and raise where that is all."""
        closed = self.closed(evidence)
        if len(closed) and closed.all() and not evidence.excluded.all():
            under_way = len(evidence.open_)
            wait = f" ({under_way} are still under way: tell them first)" if under_way else ""
            raise ExhaustedError(
                f"no candidate is left that was neither evaluated, excluded nor failed{wait}, and "
                "none of these is worth evaluating again."
            )
        return closed
