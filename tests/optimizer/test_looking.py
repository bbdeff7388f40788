"""What is asked of a run between two changes is computed once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import noregret as nr
from noregret.policies import Bandit
from noregret.posteriors import ExactPosterior, NystromPosterior
from small_optimizers import F, X, build

MODELS = ["auto", "mini_gp_ucb", "bbkb-global"]
ASKED = ("best", "certificate", "explain", "account", "posterior")


def answered(optimizer: nr.Optimizer, what: str) -> object:
    if what == "explain":
        return str(optimizer.explain(7))
    if what == "posterior":
        return optimizer.posterior.mean(X).tolist()
    return str(getattr(optimizer, what)())


@pytest.fixture(name="counts")
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often a posterior is conditioned, and a belief brought up to date."""
    counts: Counter[str] = Counter()

    def counting(owner: type, name: str) -> None:
        plain = getattr(owner, name)

        def wrapped(*args: Any, **named: Any) -> Any:
            counts[name] += 1
            return plain(*args, **named)

        monkeypatch.setattr(owner, name, wrapped)

    for posterior in (ExactPosterior, NystromPosterior):
        counting(posterior, "condition")
    counting(Bandit, "believe")
    return counts


def warm(name: str) -> nr.Optimizer:
    """Return a run of which a value came after the last choice."""
    optimizer = build(name, noise_std=0.1)
    optimizer.tell(range(30), F[:30])
    optimizer.tell(optimizer.ask(at_most=1), F[:1])
    return optimizer


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("what", ASKED)
def test_an_answer_conditions_a_posterior_once(name: str, what: str, counts: Counter[str]) -> None:
    """Twice or thrice is what made a certificate of a long run slow."""
    optimizer = warm(name)
    counts.clear()
    answered(optimizer, what)
    once = int((name, what) != ("auto", "account"))  # which tells of the model as it was fitted
    assert counts["condition"] == counts["believe"] == once


def test_an_account_names_the_parts_and_their_theorem() -> None:
    """Whoever composed an algorithm, or was given one, reads what it is."""
    optimizer = warm("mini_gp_ucb")
    said = optimizer.account()
    for word in (
        f"Exact posterior on {optimizer.unique}",
        "RBF(",
        "confidence bound",
        "RKHSWidth",
        "Repeat(",
        "Theorem 4.4",
    ):
        assert word in said
    assert "dictionary of" in warm("bbkb-global").account()
    assert repr(nr.uniform(nr.Pool([[0.0]])).policy) in nr.uniform(nr.Pool([[0.0]])).account()


@pytest.mark.parametrize("name", MODELS)
def test_answers_in_a_row_share_one_look(name: str, counts: Counter[str]) -> None:
    """And none changes what another says."""
    optimizer = warm(name)
    counts.clear()
    for what in ASKED:
        assert answered(optimizer, what) == answered(warm(name), what)
    together = Counter(counts)
    for what in ASKED:
        answered(optimizer, what)
    assert counts == together


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("change", ["tell", "exclude", "ask", "fail"])
def test_a_look_ends_with_what_it_saw(name: str, change: str) -> None:
    """Else a run would answer from the past."""
    looked_at, plain = warm(name), warm(name)
    answered(looked_at, "best")
    for optimizer in (looked_at, plain):
        if change == "tell":
            optimizer.tell([35, 35], [9.0, 9.1])
        elif change == "exclude":
            optimizer.exclude([plain.best().id])
        else:
            batch = optimizer.ask(at_most=2)
            if change == "fail":
                optimizer.fail(batch)
    for what in ASKED:
        assert answered(looked_at, what) == answered(plain, what)


def test_explanations_go_on_when_nothing_is_left_to_choose() -> None:
    """All was evaluated once, and nothing is evaluated twice: what is known can still be read."""
    optimizer = nr.auto(nr.Pool(X), deterministic=True)
    optimizer.tell(range(40), F)
    why = optimizer.explain(7)
    assert why.leader is None
    assert why.mean == pytest.approx(F[7], abs=0.05)
