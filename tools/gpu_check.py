"""The parts of tools/gpu_check.sh that need Python with numpy:

  gpu_check.py PART --plugin FILE [--csv FILE] [--seconds N] [--quick] [--case wide|many] [--seed N]

about: what is here; status 3 where the plugin finds no device. functions: the table's functions against numpy.
search: whole searches of small problems. ceilings: rates of products and copies. permutations: their kernels at full
size. times: ours on one of the two sizes. torch: torch on that size. Rows go to the CSV file; status 1 where a comparison failed.
"""
import argparse
import importlib.util
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpu_check"))

import numpy as np  # noqa: E402

import report  # noqa: E402
from functions import check_functions  # noqa: E402
from permutations import time_permutations  # noqa: E402
from plugin import DeviceMatrix, HostMatrix, Plugin, PluginError, Session  # noqa: E402
from ridge import Search, make_alphas, make_data, reference  # noqa: E402
from torch_ridge import find_torch, himalaya_search, torch_search  # noqa: E402

HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "cuda", "abi.h")
# n, p, t; the seconds the design aims at on an H200 in single precision: the search, and with primal coefficients
CASES = {"wide": (1000, 10000, 100000, 0.030, 0.090), "many": (200, 2000, 300000, 0.005, 0.053)}
QUICK = {"wide": (40, 90, 200, "", ""), "many": (30, 50, 400, "", "")}
N_FOLDS, N_ALPHAS = 5, 10
# Largest errors of scores (absolute) and of coefficients (relative to the largest of a target).
SCORE_LIMIT = {"double": 1e-9, "single": 2e-5}
COEF_LIMIT = {"double": 1e-9, "single": 1e-4}
TYPES = {"double": np.float64, "single": np.float32}


def compare(section, name, word, found, wanted, pick=slice(None)):
    """Scores, choices and coefficients of (scores, best, coefs) with the reference."""
    scores, best, coefs = found[0][:, pick], found[1][pick], found[2]
    report.verdict(section, f"{name} scores", np.abs(scores - wanted[0]).max(), SCORE_LIMIT[word])
    # near ties may fall either way: what another choice would have lost
    lost = wanted[0].max(0) - np.take_along_axis(wanted[0], best[None], 0)[0]
    report.verdict(section, f"{name} choices", lost.max(), 2 * SCORE_LIMIT[word])
    if coefs is None:
        return
    same = best == wanted[1]
    largest = np.abs(wanted[2]).max(0)
    error = (np.abs(coefs[:, pick] - wanted[2]) / largest)[:, same]
    report.verdict(section, f"{name} coefs", error.max(initial=0.0 if same.any() else np.inf), COEF_LIMIT[word])


def part_about(plugin, _):
    info = plugin.info()
    if not info["available"]:
        print(f"the plugin cannot be used: {info['reason']}")
        return 3
    report.row("machine", "device", info["name"])
    report.row("machine", "compute capability", f"{info['major']}.{info['minor']}")
    report.row("machine", "device memory", info["memory_total"] / 1e9, "GB")
    report.row("machine", "driver", info["driver_version"])
    report.row("machine", "runtime", info["runtime_version"])
    report.row("machine", "cuBLAS", info["libraries"])
    return 0


def part_functions(plugin, options):
    check_functions(plugin, options.seed, options.quick)


def part_permutations(plugin, options):
    time_permutations(plugin, options.seed, options.quick)


def part_search(plugin, options):
    shapes = [(43, 90, 131), (60, 7, 65)] if options.quick else [(203, 450, 3001), (400, 30, 5000), (50, 700, 1)]
    for n, p, t in shapes:
        for intercept in (False, True):
            X, Y = make_data(n, p, t, options.seed, 100.0 if intercept else 0.0)
            alphas = make_alphas(4 if options.quick else N_ALPHAS, p)
            wanted = reference(X, Y, alphas, N_FOLDS, intercept)
            for word, dtype in TYPES.items():
                search = Search(plugin, X, t, alphas, N_FOLDS, intercept, dtype, True, 2, 50 if options.quick else 700)
                name = f"n={n} p={p} t={t} {'with' if intercept else 'no'} intercept {word}"
                compare("searches", name, word, search.run(Y), wanted)
                search.close()


def part_ceilings(plugin, options):
    session, size = Session(plugin), 96 if options.quick else 8192
    for word, dtype in TYPES.items():
        values = np.random.default_rng(1).standard_normal((size, size)).astype(dtype, order="F")
        a, b, c = session.upload(values), session.upload(values), DeviceMatrix(session, size, size, dtype)

        def multiply():
            session.gemm(a, b, c)
            session.call("synchronize")
        seconds, note = report.median_seconds(multiply, report.timed(multiply)[1], 5)
        report.row("ceilings", f"product of {size} x {size} {word}", 2 * size ** 3 / seconds / 1e9, "GFLOP/s", "", note)
        for matrix in (a, b, c):
            matrix.release()
    rows, cols = 1024, 16 if options.quick else 131072
    host, dev = HostMatrix(session, rows, cols, np.float32), DeviceMatrix(session, rows, cols, np.float32)
    host.array[:] = 1

    def send():
        dev.load(host.array, later=1)
        session.call("synchronize")
    gigabytes = host.array.nbytes / 1e9
    for name, work in (("host to device", send), ("device to host", lambda: dev.read(host.array))):
        seconds, note = report.median_seconds(work, report.timed(work)[1], 5)
        report.row("ceilings", f"copy {name} page-locked", gigabytes / seconds, "GB/s", "", note)
    host.release()
    session.close()


def case_data(options):
    n, p, t, *floors = (QUICK if options.quick else CASES)[options.case]
    X, Y = make_data(n, p, t, options.seed)
    pick = np.sort(np.random.default_rng(options.seed).choice(t, min(t, 100), replace=False))
    alphas = make_alphas(N_ALPHAS, p)
    return f"n={n} p={p} t={t}", X, Y, alphas, floors, pick, reference(X, Y[:, pick], alphas, N_FOLDS, False)


def part_times(plugin, options):
    name, X, Y, alphas, floors, pick, wanted = case_data(options)
    runs = 1 if options.quick else 3
    for word in ("single", "double"):
        for coefs in (False, True):
            search = Search(plugin, X, Y.shape[1], alphas, N_FOLDS, False, TYPES[word], coefs)
            what = f"{name} {'with coefficients' if coefs else 'search'} {word}"
            found, first = report.timed(lambda: search.run(Y))
            compare("full size", what, word, found, wanted, pick)
            found = None  # the next run makes its own
            seconds, note = report.median_seconds(lambda: search.run(Y), first, runs)
            report.row("times", f"ours: {what}", seconds, "s", floors[coefs] if word == "single" else "", note)
            report.row("times", f"ours: {what} without the factors", search.seconds["all"] - search.seconds["factors"],
                       "s", "", "last run")
            search.close()
            if report.seconds_left() < 0:
                return


def part_torch(_, options):
    torch, device = find_torch()
    if torch is None:
        report.row("times", "torch", "", result=device)
        return
    name, X, Y, alphas, _, pick, wanted = case_data(options)
    Y = np.ascontiguousarray(Y, dtype=np.float32)  # the layout and the type its users have; before the clock
    sides = [(f"torch {device}", torch_search, ("search", "with coefficients"))]
    if importlib.util.find_spec("himalaya"):
        sides.append((f"himalaya torch {device}", himalaya_search, ("with dual weights", "with coefficients")))
    for side, work, outputs in sides:
        for coefs, output in enumerate(outputs):
            what = f"{side}: {name} {output} single"
            if report.seconds_left() < 5:
                report.row("times", what, "", result="skipped for want of time")
                continue
            def run():
                return work(torch, device, X, Y, alphas, N_FOLDS, coefs)
            found, first = report.timed(run)
            own = found[0] if found[0].ndim == 1 else found[0].max(0)
            error = np.abs(own[pick] - wanted[0].max(0)).max()
            found = None
            seconds, note = report.median_seconds(run, first, 1 if options.quick else 3)
            agrees = "agrees" if error < 1e-3 else f"its best scores differ by {error:.1g}"
            report.row("times", what, seconds, "s", "", f"{agrees} {note}".strip())


def main():
    parts = {"about": part_about, "functions": part_functions, "search": part_search, "ceilings": part_ceilings,
             "permutations": part_permutations, "times": part_times, "torch": part_torch}
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=sorted(parts))
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--header", default=HEADER)
    parser.add_argument("--csv")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--case", choices=sorted(CASES), default="wide")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 100000)
    options = parser.parse_args()
    report.settings.update(csv=options.csv, end=time.monotonic() + options.seconds)
    try:
        status = parts[options.part](Plugin(os.path.abspath(options.plugin), options.header), options)
    except PluginError as problem:
        report.row(options.part, f"ended early: {problem}", "", result="FAIL")
        status = 1
    return status or int(bool(report.failures))


if __name__ == "__main__":
    sys.exit(main())
