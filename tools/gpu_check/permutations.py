"""The functions of the table for permutation tests: against whole numbers of numpy, bit for bit, and their time."""
import ctypes

import numpy as np

from plugin import DeviceMatrix, Session
from report import median_seconds, row, seconds_left, timed

WORD_BITS = 30
ROWS = 300  # permutations
FULL = (40, 230000, 10000)  # samples, columns, permutations
TILE = 8192


def different(found, wanted):
    """How many numbers are not the same."""
    return float(np.sum(~(np.asarray(found) == np.asarray(wanted))))


def pack(on):
    """Words of 30 samples from permutations x samples of 0 and 1: words x permutations."""
    words = -(-on.shape[1] // WORD_BITS)
    bits = np.zeros((on.shape[0], words * WORD_BITS), dtype=np.uint32)
    bits[:, :on.shape[1]] = on
    bits = bits.reshape(on.shape[0], words, WORD_BITS) << np.arange(WORD_BITS, dtype=np.uint32)
    return np.ascontiguousarray(bits.sum(2, dtype=np.uint32).T)


def count_sums(case):
    n, cols, worst = case.rows, case.cols, 0.0
    most = (2 ** 31 - 1) // n
    for signs in (0, 1):
        for absolute in (0, 1):
            values = case.random.integers(-most, most, (n, cols), dtype=np.int32)
            on = case.random.integers(0, 2, (ROWS, n), dtype=np.int32)
            thresholds = case.random.integers(0, min(3 * most // 2, 2 ** 31 - 1), cols, dtype=np.int32)
            counts, maxima = np.zeros(cols, np.int32), np.full(ROWS, -2 ** 31, np.int32)
            case.session.call("count_sums", values, cols, n, cols, pack(on), ROWS, signs, absolute, thresholds, counts,
                              maxima)
            sums = (2 * on - 1 if signs else on).astype(np.int64) @ values.astype(np.int64)
            sums = np.abs(sums) if absolute else sums
            worst = max(worst, different(counts, (sums >= thresholds).sum(0)), different(maxima, sums.max(1)))
    return worst


def count_cells(case):
    """Correlations, and one tested vector with one of the nuisance: single IEEE operations, so numpy's bits are ours."""
    constants, kind = case.session.plugin.header.constants, case.session.plugin.header.structs["voxridge_cuda_cells"]
    cols, worst = case.cols, 0.0
    for name, changed in (("VOXRIDGE_CORRELATION", 0), ("VOXRIDGE_PARTIAL", 1)):
        sums = np.asfortranarray(np.rint(2.0 ** 51 * (2 * case.random.random((ROWS * (1 + changed), cols)) - 1)))
        dev = case.keep(case.session.upload(sums, 1))
        thresholds = np.full(cols, 2.0 ** 49 if changed == 0 else 0.1)
        counts, maxima, lost = np.zeros(cols, np.int32), np.full(ROWS, -np.inf), np.zeros(1, np.int64)
        rule = kind(kind=constants[name], absolute=1, rank=1, n_changed=changed, n=case.rows, n_first=1,
                    sum_error=0, left_error=0)
        case.session.call("count_cells", ctypes.addressof(rule), dev.address, dev.ld, ROWS, cols, thresholds, None, counts,
                          maxima, lost)
        values = np.abs(sums)
        if changed:
            along, beside = sums[:ROWS] * 2.0 ** -52, sums[ROWS:] * 2.0 ** -52
            values = along * along / (1.0 - beside * beside)
        worst = max(worst, different(counts, (values >= thresholds).sum(0)), different(maxima, values.max(1)))
    return worst


def dot_products(case):
    n, most = case.rows, 2 ** 25 // max(1, int(np.sqrt(case.rows)))
    a, b = (case.random.integers(-most, most, (n, cols)) for cols in (70, case.cols))
    dev_a, dev_b = (case.keep(case.session.upload(x.astype(np.float64), 2)) for x in (a, b))
    c = case.empty(70, case.cols)
    case.session.call("dot_products", n, 70, case.cols, dev_a.address, dev_a.ld, dev_b.address, dev_b.ld, c.address, c.ld)
    return different(c.read(), a.T @ b)


PERMUTATION_CHECKS = {"count_sums": count_sums, "count_cells": count_cells, "dot_products": dot_products}


def time_permutations(plugin, seed, quick):
    """Sums and cells at full size, without the work of the host: what the kernels and the bus allow."""
    n, cols, rows = (12, 300, 40) if quick else FULL
    random, session = np.random.default_rng(seed), Session(plugin)
    width = min(TILE, cols)
    patterns = pack(random.integers(0, 2, (rows, n), dtype=np.int32))
    values = random.integers(-2 ** 26, 2 ** 26, (n, width), dtype=np.int32)
    thresholds, counts = np.full(width, 2 ** 28, np.int32), np.zeros(width, np.int32)
    maxima = np.full(rows, -2 ** 31, np.int32)

    def add_up():
        for first in range(0, cols, width):
            session.call("count_sums", values, width, n, min(width, cols - first), patterns, rows, 1, 1, thresholds,
                         counts, maxima)
    name = f"{cols} columns {rows} permutations n={n}"
    seconds, note = median_seconds(add_up, timed(add_up)[1])
    row("permutations", f"sums of signs in the plugin: {name}", seconds, "s", "" if quick else 0.003, note)
    if seconds_left() > 5:
        time_products(session, n, cols, rows, random, name, quick)
    session.close()


def time_products(session, n, cols, rows, random, name, quick):
    width = min(256, cols)
    rule = session.plugin.header.structs["voxridge_cuda_cells"](kind=0, absolute=1, rank=1, n_changed=0, n=n, n_first=0,
                                                               sum_error=0, left_error=0)
    a, b = (session.upload(np.rint(2.0 ** 22 * random.standard_normal((n, k)))) for k in (rows, width))
    c = DeviceMatrix(session, rows, width, np.float64)
    thresholds, counts = np.full(width, 2.0 ** 49), np.zeros(width, np.int32)
    maxima, lost = np.full(rows, -np.inf), np.zeros(1, np.int64)

    def multiply():
        for first in range(0, cols, width):
            here = min(width, cols - first)
            session.gemm(a, b, c, transpose_a=1, beta=0.0, cols=here)
            session.call("count_cells", ctypes.addressof(rule), c.address, c.ld, rows, here, thresholds, None, counts,
                         maxima, lost)
    seconds, note = median_seconds(multiply, timed(multiply)[1])
    row("permutations", f"products and cells in the plugin: {name}", seconds, "s", "", note)
    for matrix in (a, b, c):
        matrix.release()
