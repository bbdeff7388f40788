"""Tune a support vector machine on scanned digits: a box with logarithmic dimensions.

`python -m examples.hyperparameters`: needs scikit-learn, which brings the digits.
"""

from __future__ import annotations

import numpy as np

import noregret as nr


def main(budget: int = 40) -> float:
    """Return the accuracy, over all splits, of the settings that are recommended."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import ShuffleSplit, cross_val_score
    from sklearn.svm import SVC

    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    rng = np.random.default_rng(0)

    def accuracy(x: np.ndarray[tuple[int], np.dtype[np.float64]], splits: int = 1) -> float:
        """Train on some of the digits, drawn again, and read the others."""
        split = ShuffleSplit(splits, test_size=0.3, random_state=int(rng.integers(2**31)))
        return float(cross_val_score(SVC(C=x[0], gamma=x[1]), X, y, cv=split).mean())

    box = nr.Box([(1e-2, 1e3), (1e-6, 1e-1)], log=[0, 1])
    result = nr.maximize(
        accuracy,
        box,
        algorithm=nr.mini_gp_ucb,
        budget=budget,
        progress=False,
        kernel=0.3**2 * nr.Matern(lengthscale=0.3),
        noise_std=0.02,
        offset=0.6,
        width=nr.ConstantWidth(2.0),
        start=nr.SobolDesign(8),
    )
    best = result.best()
    reached = accuracy(best.x, splits=20)
    settings = f"C = {best.x[0]:.3g}, gamma = {best.x[1]:.3g}"
    print(f"{settings}: {best.mean:.3f} believed, {reached:.3f} seen")
    return reached


if __name__ == "__main__":
    main()
