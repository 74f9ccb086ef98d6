"""One side of a comparison, in Python: worker.py JOB.

Reads X, Y and alphas, warms up, then fits `repeats` times. With `tune: yes` it tries every setting of the engine
instead and reports the fastest, so that the timed processes use a peer at its best.
"""
import gc
import resource
import sys
import time

import numpy as np

import engines
import engines_inference
import engines_logistic
import engines_predict


def read_fields(path):
    with open(path) as lines:
        return dict(line.rstrip("\n").split(": ", 1) for line in lines if ": " in line)


def write_fields(fields, path):
    with open(path, "w") as out:
        for key, value in fields.items():
            out.write(f"{key}: {value}\n")


def memory_mb(field):
    """VmRSS (now) or VmHWM (highest so far); where /proc is missing, the highest so far from getrusage()."""
    try:
        with open("/proc/self/status") as lines:
            return next(int(x.split()[1]) for x in lines if x.startswith(field + ":")) / 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def forget_peak():
    """Set VmHWM back to VmRSS (proc(5), clear_refs), so that reading the data does not count."""
    try:
        with open("/proc/self/clear_refs", "w") as out:
            out.write("5")
    except OSError:
        pass


def timed(fit):
    gc.collect()
    cpu, start = time.process_time(), time.perf_counter()
    result = fit()
    return time.perf_counter() - start, time.process_time() - cpu, result


def tune(engine, job):
    """The fastest setting by the second of two fits; a setting that is far behind after one fit is not tried again."""
    tried = []
    best = (float("inf"), None)
    for setting in engine.settings():
        try:
            fit = engine.prepare(setting)
            seconds = timed(fit)[0]
            if seconds < 1.5 * best[0]:
                seconds = min(seconds, timed(fit)[0])
        except MemoryError:
            seconds = float("inf")
        tried.append(f"{setting} {seconds:.3f} s")
        best = min(best, (seconds, setting), key=lambda pair: pair[0])
    write_fields({"setting": best[1], "seconds": best[0], "tried": "; ".join(tried)}, job["result"])


def measure(engine, job):
    fit = engine.prepare(job.get("setting") or engine.settings()[0])
    gc.collect()
    forget_peak()
    before = memory_mb("VmRSS")
    # the same warm-up as worker.R: one fit, and up to four more within a second
    warm_start = time.perf_counter()
    for _ in range(5):
        fit()
        if time.perf_counter() - warm_start > 1:
            break
    seconds, cpu, result = [], [], None
    for _ in range(int(job["repeats"])):
        result = None
        elapsed, used, result = timed(fit)
        seconds.append(elapsed)
        cpu.append(used)
    peak = memory_mb("VmHWM")
    prefix = job["result"].removesuffix(".result")
    answer = engine.answer(result)
    for name in ("alphas", "candidates", "coefs", "counts", "maxima", "statistics", "predictions", "decisions"):
        if answer.get(name) is not None:
            np.asarray(answer[name], dtype=np.float64).ravel(order="F").tofile(f"{prefix}.{name}")
    write_fields({
        "seconds": ",".join(f"{x:.6f}" for x in seconds), "cpu_seconds": f"{np.mean(cpu):.6f}",
        "before_mb": f"{before:.1f}", "peak_mb": f"{peak:.1f}", "version": engine.version(),
        "setting": job.get("setting", ""), **answer.get("fields", {}),
    }, job["result"])


def main():
    job = read_fields(sys.argv[1])
    known = {**engines.ENGINES, **engines_logistic.ENGINES, **engines_inference.ENGINES, **engines_predict.ENGINES}
    if "files" in job:  # needs nibabel, the others do not
        import engines_collection
        known = engines_collection.ENGINES
    engine = known[job["engine"]](job)
    (tune if job.get("tune") == "yes" else measure)(engine, job)


if __name__ == "__main__":
    main()
