"""BayBE: a campaign over the table of candidates that a person would write, all defaults.

Words are categories, numbers are numbers. It hands out rows of the table, none of them twice, and
recommends the candidate of the best value seen.
"""

from __future__ import annotations

import warnings
from typing import Any, final

import numpy as np

from evaluation.methods.players import Advice
from evaluation.problems.base import Observations, Problem
from noregret.arrays import Indices, Vector

TARGET = "value"


@final
class BayBE:
    """Chooses a plate at a time."""

    def __init__(self, problem: Problem, seed: int, size: int) -> None:
        import pandas
        import torch
        from baybe import Campaign
        from baybe.parameters import CategoricalParameter, NumericalDiscreteParameter
        from baybe.searchspace import SearchSpace
        from baybe.targets import NumericalTarget

        del size
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        np.random.seed(seed)  # noqa: NPY002 - pandas draws its first batch from this stream
        table = problem.space.table
        assert table is not None, "a box has no table"
        columns, parameters = {}, list[Any]()
        for one, values in zip(problem.space.parameters, table.T, strict=True):
            if one.levels:
                columns[one.name] = [one.levels[int(value)] for value in values]
                parameters.append(CategoricalParameter(one.name, one.levels))
            else:
                columns[one.name] = values.tolist()
                parameters.append(NumericalDiscreteParameter(one.name, np.unique(values)))
        frame = pandas.DataFrame(columns)
        self._rows: dict[tuple[object, ...], int] = {}  # the first of equal candidates
        for row, named in enumerate(frame.itertuples(index=False, name=None)):
            self._rows.setdefault(named, row)
        space = SearchSpace.from_dataframe(frame.drop_duplicates(), parameters=parameters)
        self._campaign = Campaign(space, NumericalTarget(name=TARGET).to_objective())
        self._names = list(columns)
        self._asked: Any = None  # rows of the table
        self._seen, self._values = list[int](), list[float]()
        self._batch: Indices = np.empty(0, dtype=np.int64)

    def ask(self, at_most: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._asked = self._campaign.recommend(batch_size=at_most)
        named = self._asked[self._names].itertuples(index=False, name=None)
        self._batch = np.array([self._rows[one] for one in named])

    def points(self) -> Observations:
        return self._batch

    def tell(self, values: Vector) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._campaign.add_measurements(self._asked.assign(**{TARGET: values}))
        self._seen.extend(self._batch.tolist())
        self._values.extend(values.tolist())

    def advise(self) -> Advice:
        return Advice(np.array([self._seen[int(np.argmax(self._values))]]))
