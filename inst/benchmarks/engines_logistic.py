"""The Python sides of the logistic cases: scikit-learn, on columns that are standardised before the clock starts.

Its objective is C times the sum of the losses plus half the squared coefficients: C = 1 / (lambda n) for n rows.
"""
import importlib.metadata

import numpy as np

from engines import Engine, compared_targets


class Logistic(Engine):
    """One fit per target at one penalty. The tolerance is scikit-learn's own (1e-4) unless the job has one; the limit
    of iterations is raised from 100 to 1000, so that it is reached."""

    def load(self):
        super().load()
        self.center, self.scale = self.X.mean(0), self.X.std(0)
        self.X = (self.X - self.center) / self.scale
        self.targets = np.ascontiguousarray(self.Y.T).astype(int)

    def settings(self):
        return [f"solver={name}" for name in self.job["solvers"].split(",")]

    def options(self, setting):
        return {"solver": setting.split("=")[1], "max_iter": 1000, "tol": float(self.job.get("tol", 1e-4))}

    def prepare(self, setting):
        from sklearn.linear_model import LogisticRegression
        C, options = 1 / (self.alphas64[0] * self.n), self.options(setting)

        def fit():
            return [LogisticRegression(C=C, **options).fit(self.X, y) for y in self.targets]
        return fit

    def original_scale(self, models):
        """Intercepts, then coefficients for the columns as they were before they were standardised."""
        coefs = np.stack([model.coef_[0] for model in models], axis=1) / self.scale[:, None]
        intercepts = np.array([model.intercept_[0] for model in models]) - self.center @ coefs
        return np.vstack([intercepts, coefs])

    def answer(self, fit):
        return {"coefs": self.original_scale([fit[j] for j in compared_targets(self.t)])}

    def version(self):
        return f"scikit-learn {importlib.metadata.version('scikit-learn')}"


class LogisticCV(Logistic):
    """The same lambda has another C in the folds, which have fewer rows. The grid is given for those, largest lambda
    first, so that scores and choice are of the same problem as ours, and every fit starts from one with more penalty.
    What is fitted to all rows within the clock then has a slightly smaller lambda; it is made again for the answer."""

    def prepare(self, setting):
        from sklearn.linear_model import LogisticRegressionCV
        rows = np.arange(self.n)
        folds = [(np.setdiff1d(rows, held), held) for held in np.array_split(rows, self.folds)]
        self.n_train = self.n * (self.folds - 1) / self.folds
        self.setting = setting
        Cs = 1 / (np.sort(self.alphas64)[::-1] * self.n_train)
        options = {"cv": folds, "scoring": "neg_log_loss", "l1_ratios": (0,), "refit": True,
                   "use_legacy_attributes": False, **self.options(setting)}

        def fit():
            return LogisticRegressionCV(Cs=Cs, **options).fit(self.X, self.targets[0])
        return fit

    def answer(self, fit):
        from sklearn.linear_model import LogisticRegression
        chosen = self.alphas64[np.abs(self.alphas64 * self.n_train * fit.C_ - 1).argmin()]
        model = LogisticRegression(C=1 / (chosen * self.n), **self.options(self.setting)).fit(self.X, self.targets[0])
        return {"alphas": [chosen], "coefs": self.original_scale([model])}


ENGINES = {"sklearn_logistic": Logistic, "sklearn_logistic_cv": LogisticCV}
