"""Every function of the table that computes something, against numpy in double precision."""
import ctypes

import numpy as np

from permutations import PERMUTATION_CHECKS
from plugin import DeviceMatrix, PluginError, Session
from report import row, verdict

LIMITS = {"double": 1e-13, "single": 2e-6}
SMALL = [(1, 1), (7, 5), (33, 64), (130, 70)]
LARGE = SMALL + [(200, 3000), (1000, 2049)]
IN_DOUBLE = {"means", "squares"}  # whatever the type
# What is not computation, or is a part of every check.
PLUMBING = {"info", "open", "close", "text", "synchronize", "allocate", "release", "allocate_host", "release_host",
            "to_device", "solver", "mark", "wait"}


class Case:
    """Random matrices of one shape and type, on the host in double precision and on the device."""

    def __init__(self, session, rows, cols, dtype, random):
        self.session, self.rows, self.cols, self.dtype, self.random = session, rows, cols, np.dtype(dtype), random
        self.owned = []

    def matrix(self, rows=None, cols=None, shift=0.0):
        values = self.random.standard_normal((rows or self.rows, cols or self.cols)) + shift
        values = np.asfortranarray(values.astype(self.dtype))
        return values.astype(np.float64), self.keep(self.session.upload(values, int(self.random.integers(0, 5))))

    def empty(self, rows, cols):
        return self.keep(DeviceMatrix(self.session, rows, cols, self.dtype, rows + int(self.random.integers(0, 5))))

    def keep(self, matrix):
        self.owned.append(matrix)
        return matrix

    def vector(self, size):
        return self.random.standard_normal(size)

    def index(self, limit, count=None):
        return np.sort(self.random.choice(limit, count or max(1, limit // 2), replace=False)).astype(np.int64)

    def release(self):
        for matrix in self.owned:
            matrix.release()


def error(found, wanted, scale=1.0):
    """The largest difference, in units of what went into the result."""
    if found.shape != wanted.shape or not np.all(np.isfinite(found)):
        return np.inf
    return float(np.max(np.abs(found - wanted) / np.maximum(scale, 1e-300), initial=0.0))


def copies(case):
    host, dev = case.matrix()
    return error(dev.read(), host)


def gemm(case):
    worst, inner = 0.0, case.cols // 2 + 1
    for transpose_a in (0, 1):
        for transpose_b in (0, 1):
            a, dev_a = case.matrix(*((inner, case.rows) if transpose_a else (case.rows, inner)))
            b, dev_b = case.matrix(*((case.cols, inner) if transpose_b else (inner, case.cols)))
            c, dev_c = case.matrix()
            case.session.gemm(dev_a, dev_b, dev_c, transpose_a, transpose_b, 1.5, -0.5)
            op_a, op_b = a.T if transpose_a else a, b.T if transpose_b else b
            scale = 1.5 * np.abs(op_a) @ np.abs(op_b) + np.abs(c)
            worst = max(worst, error(dev_c.read(), 1.5 * op_a @ op_b - 0.5 * c, scale))
    return worst


def syrk(case):
    worst = 0.0
    for transpose in (0, 1):
        a, dev_a = case.matrix()
        n, k = a.shape[::-1] if transpose else a.shape
        c, dev_c = case.matrix(n, n)
        case.session.call("syrk", transpose, n, k, 1.5, dev_a.address, dev_a.ld, -0.5, dev_c.address, dev_c.ld)
        op_a = a.T if transpose else a
        scale = 1.5 * np.abs(op_a) @ np.abs(op_a.T) + np.abs(c)
        worst = max(worst, error(np.tril(dev_c.read()), np.tril(1.5 * op_a @ op_a.T - 0.5 * c), scale))
    return worst


def syevd(case):
    a = case.random.standard_normal((case.rows, case.rows + 3))
    a = a @ a.T
    dev, values = case.keep(case.session.upload(np.tril(a))), np.empty(case.rows)
    case.session.call("syevd", case.rows, dev.address, dev.ld, values)
    vectors, size = dev.read(), case.rows * np.abs(a).max()
    return max(error(values, np.linalg.eigvalsh(a), size), error((vectors * values) @ vectors.T, a, size),
               error(vectors.T @ vectors, np.eye(case.rows), case.rows))


def gather(case):
    x, dev = case.matrix()
    rows, shift, worst = case.index(case.rows), case.vector(case.cols), 0.0
    for given in (None, shift):
        to = case.empty(len(rows), case.cols)
        case.session.call("gather", dev.type, dev.address, dev.ld, case.cols, rows, len(rows), given, to.address, to.ld)
        wanted = x[rows] if given is None else x[rows] - shift
        worst = max(worst, error(to.read(), wanted, np.abs(x[rows]) + np.abs(shift)))
    return worst


def copy_columns(case):
    x, dev = case.matrix()
    columns = case.index(case.cols)
    taken = case.empty(case.rows, len(columns))
    case.session.call("copy_columns", dev.type, 0, dev.address, dev.ld, case.rows, columns, len(columns), taken.address,
                      taken.ld)
    y, to = case.matrix()
    case.session.call("copy_columns", dev.type, 1, taken.address, taken.ld, case.rows, columns, len(columns),
                      to.address, to.ld)
    y[:, columns] = x[:, columns]
    return max(error(taken.read(), x[:, columns]), error(to.read(), y))


def means(case):
    x, dev = case.matrix(shift=100.0)
    rows, out = case.index(case.rows), np.full(case.cols, np.nan)
    case.session.call("means", dev.type, dev.address, dev.ld, case.cols, rows, len(rows), out)
    return error(out, x[rows].mean(0), 100.0)


def squares(case):
    x, dev = case.matrix()
    center, worst = case.vector(case.cols), 0.0
    for given in (None, center):
        out = np.full(case.cols, np.nan)
        case.session.call("squares", dev.type, dev.address, dev.ld, case.rows, case.cols, given, out)
        wanted = ((x - (0 if given is None else center)) ** 2).sum(0)
        worst = max(worst, error(out, wanted, wanted))
    return worst


def add(case):
    parts = [case.matrix() for _ in range(11)]
    addresses = np.array([dev.address for _, dev in parts], dtype=np.uint64)
    distances = np.array([dev.ld for _, dev in parts], dtype=np.int64)
    to = case.empty(case.rows, case.cols)
    case.session.call("add", to.type, addresses, distances, len(parts), case.rows, case.cols, to.address, to.ld)
    return error(to.read(), sum(x for x, _ in parts), sum(np.abs(x) for x, _ in parts))


def leave_out(case):
    (total, dev_total), (part, dev_part) = case.matrix(), case.matrix()
    x, scale, to = case.vector(case.rows), case.vector(case.cols), case.empty(case.rows, case.cols)
    case.session.call("leave_out", to.type, dev_total.address, dev_total.ld, dev_part.address, dev_part.ld, case.rows,
                      case.cols, x, scale, to.address, to.ld)
    outer = np.outer(x, scale)
    return error(to.read(), total - part - outer, np.abs(total) + np.abs(part) + np.abs(outer))


def shrink(case):
    x, dev = case.matrix()
    values, alpha = np.abs(case.vector(case.rows)), np.abs(case.vector(case.cols))
    values[0] = alpha[0] = 0.0
    case.session.call("shrink", dev.type, dev.address, dev.ld, case.rows, case.cols, values, alpha, dev.address, dev.ld)
    sums = values[:, None] + alpha
    wanted = np.divide(x, sums, out=np.zeros_like(x), where=sums > 1e-300)
    return error(dev.read(), wanted, np.abs(wanted))


def scale_rows(case):
    x, dev = case.matrix()
    weights, to = case.vector(case.rows), case.empty(case.rows, case.cols)
    case.session.call("scale_rows", dev.type, dev.address, dev.ld, case.rows, case.cols, weights, to.address, to.ld)
    wanted = weights[:, None] * x
    return error(to.read(), wanted, np.abs(wanted))


def subtract(case):
    (a, dev_a), (b, dev_b) = case.matrix(), case.matrix()
    case.session.call("subtract", dev_a.type, dev_a.address, dev_a.ld, dev_b.address, dev_b.ld, case.rows, case.cols,
                      dev_a.address, dev_a.ld)
    return error(dev_a.read(), a - b, np.abs(a) + np.abs(b))


def sums_of(case, function, blocks, rows_of_block, per_block):
    target, dev_target = case.matrix()
    predictions, dev = case.matrix(blocks * rows_of_block)
    out = np.full((per_block * blocks, case.cols), np.nan, order="F")
    case.session.call(function, dev.type, dev_target.address, dev_target.ld, case.rows, case.cols, dev.address, dev.ld,
                      blocks, out, out.shape[0])
    return target, predictions.reshape(blocks, rows_of_block, case.cols), out


def error_sums(case):
    target, predictions, out = sums_of(case, "error_sums", 3, case.rows, 1)
    wanted = ((target - predictions) ** 2).sum(1)
    return error(out, wanted, wanted)


def product_sums(case):
    target, predictions, out = sums_of(case, "product_sums", 3, case.rows + 1, 2)
    predictions = predictions[:, :-1]
    own = (predictions ** 2).sum(1)
    both = (target * predictions).sum(1)
    return max(error(out[0::2], both, np.sqrt((target ** 2).sum(0) * own)), error(out[1::2], own, own))


ONLY_DOUBLE = {"syrk", "syevd", *PERMUTATION_CHECKS}
CHECKS = {"to_host": copies, "syrk": syrk, "syevd": syevd, "gemm": gemm, "gather": gather, "copy_columns": copy_columns,
          "means": means, "squares": squares, "add": add, "leave_out": leave_out, "shrink": shrink,
          "scale_rows": scale_rows, "subtract": subtract, "error_sums": error_sums, "product_sums": product_sums,
          **PERMUTATION_CHECKS}


def worst_error(session, name, dtype, seed, shapes):
    worst = 0.0
    for number, (rows, cols) in enumerate(shapes):
        case = Case(session, rows, cols, dtype, np.random.default_rng([seed, number]))
        try:
            worst = max(worst, CHECKS[name](case))
        finally:
            case.release()
    return worst


def check_functions(plugin, seed, quick):
    session, shapes = Session(plugin), SMALL if quick else LARGE
    for name in plugin.header.functions:
        if name not in CHECKS:
            if name not in PLUMBING:
                row("functions", name, "", result="not checked here")
            continue
        for word, dtype in (("double", np.float64), ("single", np.float32)):
            if word == "single" and name in ONLY_DOUBLE:
                continue
            try:
                worst = worst_error(session, name, dtype, seed, shapes)
            except (ctypes.ArgumentError, TypeError) as problem:
                row("functions", f"{name} takes other arguments than this check gives: {problem}", "", result="FAIL")
                continue
            except PluginError as problem:
                if problem.code != plugin.header.constants["VOXRIDGE_UNAVAILABLE"]:
                    raise
                row("functions", f"{name} {word}", "", result=str(problem))
                continue
            limit = 0.0 if name in PERMUTATION_CHECKS else LIMITS["double" if name in IN_DOUBLE else word]
            verdict("functions", f"{name} {word}", worst, limit)
    session.close()
