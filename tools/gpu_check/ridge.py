"""Ridge regression with a penalty per target by cross-validation: the documented algorithm on the plugin's table, and
plain numpy in double precision to compare with."""
import queue
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from plugin import DeviceMatrix, HostMatrix, PluginError, Session


def make_data(n, p, t, seed, intercept=0.0):
    """Features with a falling spectrum; half of a target's variance or less is explained by them."""
    random = np.random.default_rng(seed)
    X = np.asfortranarray(random.standard_normal((n, p)) * np.exp(-2.0 * np.arange(p) / p))
    used = min(p, 20)
    Y = np.empty((n, t), order="F")
    for first in range(0, t, 20000):
        width = min(20000, t - first)
        weights = random.standard_normal((used, width)) * random.uniform(0, 1, width) / np.sqrt(used)
        Y[:, first:first + width] = X[:, :used] @ weights + random.standard_normal((n, width)) + intercept
    return X, Y


def make_alphas(n_alphas, p):
    return p * 10.0 ** np.linspace(-3, 4, n_alphas)


def make_folds(n, n_folds):
    """Rows held out: contiguous, the first folds one longer."""
    return np.array_split(np.arange(n, dtype=np.int64), n_folds)


def choose(scores):
    """The best of each column; the last of equals, which is the largest penalty."""
    return len(scores) - 1 - np.argmax(scores[::-1], axis=0)


def solve(gram, Y, alpha):
    """Dual weights: (X X' + alpha I)^-1 Y."""
    return np.linalg.solve(gram + alpha * np.eye(len(gram)), Y)


def reference(X, Y, alphas, n_folds, intercept):
    """(mean R2 over folds, indices of the chosen penalties, coefficients) in double precision, penalty by penalty."""
    scores = np.zeros((len(alphas), Y.shape[1]))
    for held in make_folds(len(X), n_folds):
        train = np.setdiff1d(np.arange(len(X)), held)
        x_mean, y_mean = (X[train].mean(0), Y[train].mean(0)) if intercept else (0.0, 0.0)
        x, y, truth = X[train] - x_mean, Y[train] - y_mean, Y[held] - y_mean
        gram, cross, total = x @ x.T, (X[held] - x_mean) @ x.T, ((Y[held] - Y[held].mean(0)) ** 2).sum(0)
        for i, alpha in enumerate(alphas):
            scores[i] += (1 - ((truth - cross @ solve(gram, y, alpha)) ** 2).sum(0) / total) / n_folds
    best, coefs = choose(scores), np.empty((X.shape[1], Y.shape[1]))
    x, y = (X - X.mean(0), Y - Y.mean(0)) if intercept else (X, Y)
    gram = x @ x.T
    for i in np.unique(best):
        coefs[:, best == i] = x.T @ solve(gram, y[:, best == i], alphas[i])
    return scores, best, coefs


class Worker:
    """A session with the memory for one tile of targets; kept from one run to the next."""

    def __init__(self, search, n_train, n_held):
        session = self.session = Session(search.plugin)
        (n, p), width, dtype = search.X.shape, search.width, search.dtype
        self.staged, self.y = HostMatrix(session, n, width, dtype), DeviceMatrix(session, n, width, dtype)
        self.train, self.target = (DeviceMatrix(session, rows, width, dtype) for rows in (n_train, n_held))
        self.predictions = DeviceMatrix(session, len(search.alphas) * n_held, width, dtype)
        self.projected = DeviceMatrix(session, p, width, dtype) if search.primal else None
        if search.coefs:
            self.rotated, self.weights = (DeviceMatrix(session, min(n, p), width, dtype) for _ in range(2))
            self.coefs = self.weights if search.primal else DeviceMatrix(session, p, width, dtype)
            self.out = HostMatrix(session, p, width, dtype)


class Search:
    """For targets of double precision on the host, in tiles of `width`; by the Gram matrix of the features where these
    are fewer than the samples ("primal"), else by that of the samples. `coefs`: with p x t coefficients."""

    def __init__(self, plugin, X, t, alphas, n_folds, intercept, dtype, coefs, n_threads=4, width=2048):
        self.plugin, self.X, self.alphas, self.intercept, self.coefs = plugin, X, alphas, intercept, coefs
        n, p = X.shape
        self.primal, self.dtype, self.width = p < n, np.dtype(dtype), min(width, t)
        self.folds = [(np.setdiff1d(np.arange(n, dtype=np.int64), held), held) for held in make_folds(n, n_folds)]
        self.seconds, self.owned, self.session = {}, [], Session(plugin)
        n_train, n_held = (max(len(fold[k]) for fold in self.folds) for k in (0, 1))
        self.workers = [Worker(self, n_train, n_held) for _ in range(min(n_threads, -(-t // self.width)))]

    def close(self):
        self.release()
        for session in [worker.session for worker in self.workers] + [self.session]:
            session.close()

    def release(self):
        for matrix in self.owned:
            matrix.release()
        self.owned = []

    def to_device(self, array):
        matrix = self.session.upload(array.astype(self.dtype, order="F", copy=False))
        self.owned.append(matrix)
        return matrix

    def run(self, Y):
        start = time.perf_counter()
        self.release()
        self.make_operators()
        self.session.call("synchronize")
        self.seconds["factors"] = time.perf_counter() - start
        self.Y, t = Y, Y.shape[1]
        self.scores = np.empty((len(self.alphas), t), order="F")
        self.best = np.empty(t, dtype=np.int64)
        self.B = np.empty((self.X.shape[1], t), self.dtype, order="F") if self.coefs else None
        tiles = queue.SimpleQueue()
        for first in range(0, t, self.width):
            tiles.put(first)
        with ThreadPoolExecutor(len(self.workers)) as pool:
            for job in [pool.submit(self.work, worker, tiles) for worker in self.workers]:
                job.result()
        self.seconds["all"] = time.perf_counter() - start
        return self.scores, self.best, self.B

    def make_operators(self):
        """The Gram matrix on the device, its factors by the host, one stack of operators per fold."""
        X = self.X - self.X.mean(0) if self.intercept else self.X
        x, inner = self.session.upload(X), min(X.shape)
        gram = DeviceMatrix(self.session, inner, inner, np.float64)
        self.session.gemm(x, x, gram, transpose_a=int(self.primal), transpose_b=int(not self.primal))
        K = gram.read()
        gram.release()
        x.release()
        self.operators, self.train_features = [], []
        for train, held in self.folds:
            inner, cross = self.primal_fold(X, train, held) if self.primal else self.dual_fold(K, train, held)
            values, vectors = self.eigen(inner)
            left = cross @ vectors
            stack = [(left / (np.maximum(values, 0) + alpha)) @ vectors.T for alpha in self.alphas]
            self.operators.append(self.to_device(np.vstack(stack)))
        values, vectors = self.eigen(K)
        self.values, self.vectors = np.maximum(values, 0), self.to_device(vectors)
        self.features = self.to_device(X) if self.coefs else None

    def eigen(self, symmetric):
        """On the device where it can, else on the host."""
        if "syevd" not in self.plugin.header.functions:
            return np.linalg.eigh(symmetric)
        matrix, values = self.session.upload(symmetric), np.empty(len(symmetric))
        try:
            self.session.call("syevd", len(symmetric), matrix.address, matrix.ld, values)
            return values, matrix.read()
        except PluginError:
            return np.linalg.eigh(symmetric)
        finally:
            matrix.release()

    def primal_fold(self, X, train, held):
        mean = X[train].mean(0) if self.intercept else 0.0
        x = X[train] - mean
        self.train_features.append(self.to_device(x))
        return x.T @ x, X[held] - mean

    def dual_fold(self, K, train, held):
        inner, cross = K[np.ix_(train, train)], K[np.ix_(held, train)]
        if self.intercept:
            mean = inner.mean(0)
            cross = cross - cross.mean(1, keepdims=True) - mean + mean.mean()
            inner = inner - mean[:, None] - mean + mean.mean()
        return inner, cross

    def work(self, worker, tiles):
        while True:
            try:
                first = tiles.get_nowait()
            except queue.Empty:
                return
            self.tile(worker, first, min(self.width, self.Y.shape[1] - first))

    def tile(self, worker, first, width):
        columns = slice(first, first + width)
        staged = worker.staged.array[:, :width]
        shift = self.Y[:, columns].mean(0) if self.intercept else 0.0
        np.subtract(self.Y[:, columns], shift, out=staged, casting="same_kind")  # rounded once it is centred
        worker.y.load(staged, later=1)
        scores = sum(self.fold_scores(worker, fold, width) for fold in range(len(self.folds))) / len(self.folds)
        self.scores[:, columns] = scores
        self.best[columns] = choose(scores)
        if self.coefs:
            self.refit(worker, self.alphas[self.best[columns]], width)
            np.copyto(self.B[:, columns], worker.coefs.read(worker.out.array[:, :width], cols=width))

    def gather(self, worker, rows, shift, to, width):
        worker.session.call("gather", to.type, worker.y.address, worker.y.ld, width, rows, len(rows), shift, to.address,
                            to.ld)

    def means(self, worker, matrix, rows, width):
        out = np.empty(width)
        worker.session.call("means", matrix.type, matrix.address, matrix.ld, width, rows, len(rows), out)
        return out

    def project(self, worker, features, targets, width):
        """X'Y, or in dual form Y itself."""
        if not self.primal:
            return targets
        worker.session.gemm(features, targets, worker.projected, transpose_a=1, cols=width)
        return worker.projected

    def fold_scores(self, worker, fold, width):
        (train, held), operator = self.folds[fold], self.operators[fold]
        session, target, predictions = worker.session, worker.target, worker.predictions
        shift = self.means(worker, worker.y, train, width) if self.intercept else None
        self.gather(worker, train, shift, worker.train, width)
        self.gather(worker, held, shift, target, width)
        side = self.project(worker, self.train_features[fold] if self.primal else None, worker.train, width)
        session.gemm(operator, side, predictions, rows=operator.rows, cols=width)
        center = self.means(worker, target, np.arange(len(held), dtype=np.int64), width)
        total, errors = np.empty(width), np.empty((len(self.alphas), width), order="F")
        session.call("squares", target.type, target.address, target.ld, len(held), width, center, total)
        session.call("error_sums", target.type, target.address, target.ld, len(held), width, predictions.address,
                     predictions.ld, len(self.alphas), errors, len(self.alphas))
        return 1 - errors / total

    def refit(self, worker, alphas, width):
        session, rotated, weights = worker.session, worker.rotated, worker.weights
        side = self.project(worker, self.features, worker.y, width)
        session.gemm(self.vectors, side, rotated, transpose_a=1, cols=width)
        session.call("shrink", rotated.type, rotated.address, rotated.ld, rotated.rows, width, self.values, alphas,
                     rotated.address, rotated.ld)
        session.gemm(self.vectors, rotated, weights, cols=width)
        if not self.primal:
            session.gemm(self.features, weights, worker.coefs, transpose_a=1, cols=width)
