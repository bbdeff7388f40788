"""Rules for a pool, and those that hold for a box too."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from noregret.algorithms import mini_gp_ucb
from noregret.arrays import Indices
from noregret.errors import NoRegretError, PoolError
from noregret.kernels import RBF, Kernel, Tanimoto
from noregret.optimizer import Optimizer
from noregret.pools import BitPool, Candidates, Domain, Points, Pool
from noregret.testing.base import Suite, play


class DomainSuite(Suite[Domain]):
    """What a run relies on in its domain, be it a pool or a box."""

    def domain(self) -> Domain:
        return self.make()

    def kernel(self) -> Kernel:
        """Return a kernel that compares the candidates: Tanimoto for packed bits, else RBF."""
        X = Points(self.make()).some(30, np.random.default_rng(0))
        return Tanimoto() if X.dtype == np.uint8 else RBF(float(X.std(axis=0).sum()) or 1.0)

    def other(self) -> Domain | None:
        """Return one that differs a little, if you can: its fingerprint must be another one."""
        return None

    def optimizer(self) -> Optimizer:
        return self._run_over(self.make())

    def test_features_are_kept_as_they_were_given(self) -> None:
        """Users see `shown` features and tell values of them again: `read` leads back."""
        domain = self.make()
        X = Points(domain).some(30, np.random.default_rng(0))
        assert isinstance(domain, Domain), "a domain has dim, read, shown and fingerprint"
        assert X.shape[1] == domain.dim, f"rows have {X.shape[1]} columns, dim is {domain.dim}"
        again = domain.read("X", domain.shown(X))
        assert again.dtype == X.dtype, f"read() gives {again.dtype}, rows are {X.dtype}"
        assert np.array_equal(again, X), "read(shown(X)) is not X"

    def test_features_of_another_width_are_refused(self) -> None:
        """Cut or repeated without a word they would be another candidate."""
        columns = 8 * self.make().dim + 1
        try:
            found = self.make().read("X", np.zeros((1, columns)))
        except NoRegretError:
            return
        raise AssertionError(f"read() makes {found.shape} of {columns} columns")

    def test_its_fingerprint_tells_it_from_others(self) -> None:
        """By it a saved run knows that it is given the same candidates."""
        one, other = self.make().fingerprint(), self.other()
        assert isinstance(one, str), f"fingerprint() is {one!r}, not a string"
        assert one == self.make().fingerprint(), "the same domain has another fingerprint"
        assert other is None or one != other.fingerprint(), (
            "a change leaves the fingerprint as it is"
        )

    def _run_over(self, domain: Domain) -> Optimizer:
        return mini_gp_ucb(domain, kernel=self.kernel(), noise_std=0.3)


class PoolSuite(DomainSuite):
    """What search, lookups and saved runs rely on in a pool, of some tens of candidates."""

    @abstractmethod
    def make(self) -> Candidates: ...

    def test_rows_are_those_asked_for(self) -> None:
        """In that order, as often as asked for, none where none is."""
        pool, order = self.make(), self._order()
        X = pool.rows(np.sort(order))
        assert isinstance(pool, Candidates), "a pool has len, rows, chunks, keys and find too"
        assert X.shape == (len(pool), pool.dim), f"{len(pool)} rows × {pool.dim}: {X.shape}"
        assert X.dtype in (np.float64, np.uint8), f"rows are {X.dtype}, not float64 (or bits)"
        assert np.isfinite(X).all(), "features are NaN or infinite somewhere"
        for index in (order, np.repeat(order[:3], 2), order[:1], order[:0]):
            assert np.array_equal(pool.rows(index), X[index]), f"rows({index}) are other rows"

    def test_rows_are_a_copy(self) -> None:
        """Points off the pool are written into them, which must not change the pool."""
        pool, order = self.make(), self._order()
        X, kept = pool.rows(order), pool.rows(order).copy()
        X[:] = 1
        assert np.array_equal(pool.rows(order), kept), "writing into rows() changes the pool"

    def test_chunks_of_any_size_are_its_rows_in_order(self) -> None:
        """A pass over the pool is a pass over its chunks."""
        pool, at = self.make(), 0
        for size in (1, 3, len(pool), len(pool) + 5):
            for start, chunk in pool.chunks(size):
                at = 0 if start == 0 else at
                assert start == at, f"chunks({size}): one starts at {start}, not at {at}"
                assert 0 < len(chunk) <= size, f"chunks({size}): one holds {len(chunk)} rows"
                at += len(chunk)
                same = np.array_equal(chunk, pool.rows(np.arange(start, at)))
                assert same, f"chunks({size}): rows {start} to {at - 1} are not those of rows()"
            assert at == len(pool), f"chunks({size}) end after {at} of {len(pool)} rows"

    def test_find_is_the_inverse_of_keys(self) -> None:
        """Users speak in keys; a value told of one must not go to another."""
        pool, order = self.make(), self._order()
        keys = pool.keys(order)
        assert len(np.unique(keys)) == len(pool), "two candidates have the same key"
        for given, rows in ((keys, order), (keys.tolist(), order), (keys[0], order[:1])):
            found = pool.find(given)
            assert np.array_equal(found, rows), f"keys of rows {rows} are found at {found}"
        assert len(pool.find([])) == 0, "find([]) finds something"

    def test_unknown_keys_are_refused(self) -> None:
        """With a PoolError: a mistyped id must not be a candidate."""
        pool = self.make()
        keys = pool.keys(np.sort(self._order()))
        for unknown in ["no such name"] if keys.dtype.kind == "U" else [-1, int(keys.max()) + 1]:
            try:
                found = pool.find([unknown])
            except PoolError:
                continue
            raise AssertionError(f"find([{unknown!r}]) is {found}, not a PoolError")

    def test_candidates_are_known_by_their_features(self) -> None:
        """A value told of features is of the candidate that has them, the first such one."""
        pool = self.make()
        X = pool.rows(np.sort(self._order()))
        first = np.array([np.flatnonzero((x == X).all(axis=1))[0] for x in X])
        found = Points(pool).lookup(X)
        assert np.array_equal(found, first), f"features of rows {first} lead to {found}"

    def test_choices_are_those_over_a_plain_pool(self) -> None:
        """How candidates are kept must not decide which of them is chosen."""
        pool, order = self.make(), np.sort(self._order())
        X, keys = pool.rows(order), pool.keys(order)
        plain = BitPool(X, packed=True, names=keys) if X.dtype == np.uint8 else Pool(X, names=keys)
        kept, found = play(self._run_over(plain), 6), play(self._run_over(pool), 6)
        assert [ids for ids, *_ in kept] == [ids for ids, *_ in found], "other ids are chosen"

    def _order(self) -> Indices:
        return np.random.default_rng(0).permutation(len(self.make())).astype(np.int64)
