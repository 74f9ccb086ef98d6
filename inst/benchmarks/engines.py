"""The Python sides. An engine has settings(), prepare(setting) -> a function that fits, answer(fit) and version().

Settings are words such as "numpy targets=1000 alphas=5 refit=200" ("-" leaves a batch size at None, all at once).
"""
import ctypes
import importlib.metadata
import importlib.util
import os
import sys
import warnings

import numpy as np

warnings.filterwarnings("ignore")


def read_matrix(path, rows):
    """Column-major doubles to a row-major array, the layout numpy users have."""
    return np.ascontiguousarray(np.fromfile(path, dtype="<f8").reshape(-1, rows).T)


def compared_targets(t):
    """At most 40 targets, evenly spread; the same choice as in engines.R (R rounds halves to even, as numpy does)."""
    return np.unique(np.round(np.linspace(1, t, min(t, 40))).astype(int)) - 1


def limit_threads(threads):
    """OpenBLAS and OpenMP read their limits from the environment; torch is told as well."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


class Engine:
    def __init__(self, job):
        self.job = job
        self.n, self.t = int(job["n"]), int(job["t"])
        self.folds, self.threads = int(job["folds"]), int(job["threads"])
        self.single = job["precision"] == "single"
        self.dtype = np.float32 if self.single else np.float64
        self.load()

    def load(self):
        X = read_matrix(os.path.join(self.job["data"], "X.bin"), self.n)
        Y = read_matrix(os.path.join(self.job["data"], "Y.bin"), self.n)
        self.alphas64 = np.fromfile(self.job["alphas"], dtype="<f8")
        self.X, self.Y = X.astype(self.dtype, copy=False), Y.astype(self.dtype, copy=False)
        self.alphas = self.alphas64.astype(self.dtype)

    def settings(self):
        return ["defaults"]


class Himalaya(Engine):
    """What is common to the himalaya models: backend and batch sizes."""

    def backends(self):
        """torch is offered for float32 only unless the job asks for it; it is skipped where it is not installed."""
        names = ["numpy"]
        if (self.single or self.job.get("torch") == "yes") and importlib.util.find_spec("torch"):
            names.append("torch")
        return names

    def settings(self):
        batches = ["targets=- alphas=- refit=-", "targets=- alphas=1 refit=-", "targets=1000 alphas=- refit=1000",
                   "targets=250 alphas=- refit=100", "targets=100 alphas=- refit=50"]
        return [f"{backend} {batch}" for backend in self.backends() for batch in batches]

    def arrays(self):
        return [self.X, self.Y, self.alphas]

    def use(self, setting):
        from himalaya.backend import set_backend
        name, *words = setting.split()
        backend = set_backend(name)
        limit_threads(self.threads)
        arrays = self.arrays()
        if name == "torch":
            arrays = [backend.asarray(x) for x in arrays]
        sizes = dict(word.split("=") for word in words)
        sizes = {key: None if value == "-" else int(value) for key, value in sizes.items()}
        batches = {"n_targets_batch": sizes.get("targets"), "n_alphas_batch": sizes.get("alphas"),
                   "n_targets_batch_refit": sizes.get("refit")}
        return arrays, batches

    def alphas_on_grid(self, best):
        """himalaya returns exp(-log(1 / alpha)): back to the element of the grid."""
        best = np.asarray(best, dtype=np.float64)
        nearest = np.abs(np.log(best[:, None]) - np.log(self.alphas64)[None]).argmin(1)
        return self.alphas64[nearest]

    def version(self):
        text = f"himalaya {importlib.metadata.version('himalaya')}, numpy {np.__version__}"
        if self.single and importlib.util.find_spec("torch"):
            text += f", torch {importlib.metadata.version('torch')}"
        return text


class KernelRidgeCV(Himalaya):
    def prepare(self, setting):
        from himalaya.kernel_ridge import KernelRidgeCV as Model
        (X, Y, alphas), batches = self.use(setting)

        def fit():
            model = Model(alphas=alphas, kernel="linear", cv=self.folds, fit_intercept=False, warn=False,
                          solver_params=batches)
            model.fit(X, Y)
            coefs = model.get_primal_coef() if self.job["output"] == "primal" else model.dual_coef_
            return model.best_alphas_, coefs
        return fit

    def answer(self, fit):
        best, coefs = fit
        return {"alphas": self.alphas_on_grid(best), "coefs": np.asarray(coefs)[:, compared_targets(self.t)]}


class RidgeCV(KernelRidgeCV):
    def prepare(self, setting):
        from himalaya.ridge import RidgeCV as Model
        (X, Y, alphas), batches = self.use(setting)

        def fit():
            model = Model(alphas=alphas, cv=self.folds, fit_intercept=False, solver_params={**batches, "warn": False})
            model.fit(X, Y)
            return model.best_alphas_, model.coef_
        return fit


class RidgeFit(Himalaya):
    """One alpha per target, no cross-validation."""

    def settings(self):
        return [f"{b} targets={size}" for b in self.backends() for size in ("-", "100", "10", "1")]

    def prepare(self, setting):
        from himalaya.ridge import Ridge as Model
        (X, Y, alphas), batches = self.use(setting)
        alpha = alphas[np.arange(self.t) % len(self.alphas)]

        def fit():
            return Model(alpha=alpha, fit_intercept=False, solver_params={
                "n_targets_batch": batches["n_targets_batch"], "warn": False}).fit(X, Y).coef_
        return fit

    def answer(self, fit):
        return {"coefs": np.asarray(fit)[:, compared_targets(self.t)]}


class BandedKernel(Himalaya):
    """Random search over sums of linear kernels; the solver is called directly, and the kernels are made within the
    clock, since ours starts from the features as well."""

    def load(self):
        super().load()
        ends = np.cumsum([int(size) for size in self.job["band_sizes"].split(",")])
        self.Xs = [np.ascontiguousarray(X) for X in np.split(self.X, ends[:-1], axis=1)]
        del self.X
        self.gammas64 = read_matrix(self.job["gammas"], int(self.job["candidates"]))

    def arrays(self):
        return [*self.Xs, self.Y, self.alphas, self.gammas64.astype(self.dtype)]

    def prepare(self, setting):
        (*Xs, Y, alphas, gammas), batches = self.use(setting)
        options = {"n_iter": gammas, "alphas": alphas, "cv": self.folds, "progress_bar": False, **batches}
        return lambda: self.solve(Xs, Y, **options)[:2]

    def solve(self, Xs, Y, **options):
        from himalaya.backend import get_backend
        from himalaya.kernel_ridge import solve_multiple_kernel_ridge_random_search
        Ks = get_backend().stack([X @ X.T for X in Xs])
        return solve_multiple_kernel_ridge_random_search(Ks, Y, return_weights="dual", **options)

    def choice(self, deltas):
        """The pair (alpha, candidate) whose log(gamma / alpha) is nearest to the returned deltas, bands x targets."""
        pairs = np.log(self.gammas64[None, :, :] / self.alphas64[:, None, None])
        distances = np.abs(pairs[..., None] - np.asarray(deltas, dtype=np.float64)).max(2)
        alpha, candidate = np.divmod(distances.reshape(-1, distances.shape[-1]).argmin(0), len(self.gammas64))
        return self.alphas64[alpha], candidate + 1

    def answer(self, fit):
        """himalaya's dual weights are alpha (K + alpha I)^-1 Y: without the factor they are what ours are."""
        alphas, candidates = self.choice(fit[0])
        which = compared_targets(self.t)
        return {"alphas": alphas, "candidates": candidates, "coefs": np.asarray(fit[1])[:, which] / alphas[which]}


class BandedPrimal(BandedKernel):
    def solve(self, Xs, Y, **options):
        from himalaya.ridge import solve_group_ridge_random_search
        return solve_group_ridge_random_search(Xs, Y, return_weights=True, warn=False, **options)

    def answer(self, fit):
        alphas, candidates = self.choice(fit[0])
        return {"alphas": alphas, "candidates": candidates, "coefs": np.asarray(fit[1])[:, compared_targets(self.t)]}


class BandedNested(BandedKernel):
    """The kernel solver on the training rows of every outer fold, coefficients, predictions and R2 of the other rows;
    the same steps as solve_nested_case() in engines.R."""

    def prepare(self, setting):
        from himalaya.backend import get_backend
        from himalaya.kernel_ridge import primal_weights_weighted_kernel_ridge
        from himalaya.scoring import r2_score
        (*Xs, Y, alphas, gammas), batches = self.use(setting)
        options = {"n_iter": gammas, "alphas": alphas, "cv": self.folds, "progress_bar": False, **batches}
        backend, which = get_backend(), compared_targets(self.t)

        def fit():
            folds = []
            for held in np.array_split(np.arange(self.n), int(self.job["outer"])):
                train = np.setdiff1d(np.arange(self.n), held)
                Xs_train = [X[train] for X in Xs]
                deltas, dual, _, intercept = self.solve(Xs_train, Y[train], fit_intercept=True, **options)
                coefs = backend.concatenate(primal_weights_weighted_kernel_ridge(dual, deltas, Xs_train), 0)
                predictions = backend.concatenate([X[held] for X in Xs], 1) @ coefs + intercept
                folds.append((deltas, coefs[:, which], r2_score(Y[held], predictions)))
            return folds
        return fit

    def answer(self, fit):
        choices = [self.choice(deltas) for deltas, _, _ in fit]
        return {"alphas": np.concatenate([alphas for alphas, _ in choices]),
                "candidates": np.concatenate([candidates for _, candidates in choices]),
                "coefs": np.concatenate([np.asarray(coefs) for _, coefs, _ in fit]),
                "fields": {"mean_r2": float(np.mean([np.asarray(r2).mean() for _, _, r2 in fit]))}}


class GridSearch(Engine):
    """scikit-learn, one search per target; jobs = 1 leaves the threads to BLAS."""

    def settings(self):
        return ["jobs=1"] + ([f"jobs={self.threads}"] if self.threads > 1 else [])

    def prepare(self, setting):
        from sklearn.linear_model import Ridge
        from sklearn.model_selection import GridSearchCV, KFold
        jobs = int(setting.split("=")[1])

        def fit():
            best, coefs = np.empty(self.t), np.empty((self.X.shape[1], self.t))
            for j in range(self.t):
                search = GridSearchCV(Ridge(fit_intercept=False), {"alpha": list(self.alphas)}, n_jobs=jobs,
                                      scoring="neg_mean_squared_error", cv=KFold(self.folds))
                search.fit(self.X, self.Y[:, j])
                best[j], coefs[:, j] = search.best_params_["alpha"], search.best_estimator_.coef_
            return best, coefs
        return fit

    def answer(self, fit):
        return {"alphas": fit[0], "coefs": fit[1][:, compared_targets(self.t)]}

    def version(self):
        return f"scikit-learn {importlib.metadata.version('scikit-learn')}"


class BlasRate(Engine):
    """dgemm or sgemm of the very library that R uses (the job's `library`), 2000 x 2000, by its Fortran names."""

    size = 2000

    def load(self):
        self.A = np.asfortranarray(np.random.default_rng(1).standard_normal((self.size, self.size)), dtype=self.dtype)
        self.C = np.zeros_like(self.A, order="F")

    def prepare(self, setting):
        library = ctypes.CDLL(self.job["library"])
        gemm = library.sgemm_ if self.single else library.dgemm_
        real = ctypes.c_float if self.single else ctypes.c_double
        no, size = ctypes.c_char(b"N"), ctypes.c_int(self.size)
        one, zero = real(1), real(0)
        ref, data = ctypes.byref, lambda x: ctypes.c_void_p(x.ctypes.data)

        def fit():
            gemm(ref(no), ref(no), ref(size), ref(size), ref(size), ref(one), data(self.A), ref(size), data(self.A),
                 ref(size), ref(zero), data(self.C), ref(size), ctypes.c_size_t(1), ctypes.c_size_t(1))
        return fit

    def answer(self, fit):
        return {"fields": {"flops": 2 * self.size ** 3}}

    def version(self):
        return "BLAS " + os.path.basename(self.job["library"])


ENGINES = {"kernel_ridge_cv": KernelRidgeCV, "ridge_cv": RidgeCV, "ridge_fit": RidgeFit, "grid_search": GridSearch,
           "banded_kernel": BandedKernel, "banded_primal": BandedPrimal, "banded_nested": BandedNested,
           "blas_rate": BlasRate}
