"""Rows of the table, kept in a CSV file that every part of the check adds to."""
import csv
import statistics
import time

# Set by the command line: the file, and the moment when the time of this part is over.
settings = {"csv": None, "end": float("inf")}
failures = []


def row(section, name, value, unit="", bound="", result=""):
    """bound: the largest error allowed, or the seconds that the design aims at."""
    def text(number):
        return f"{number:.4g}" if isinstance(number, float) else str(number)
    cells = [section, name, text(value), unit, text(bound), result]
    if any("," in cell or "\n" in cell for cell in cells):
        cells = [cell.replace(",", ";").replace("\n", " ") for cell in cells]
    if settings["csv"]:
        with open(settings["csv"], "a", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerow(cells)
    print(" | ".join(cell for cell in cells if cell), flush=True)


def verdict(section, name, error, limit):
    good = bool(error <= limit)  # NaN is not good
    if not good:
        failures.append(name)
    row(section, name, float(error), "error", limit, "pass" if good else "FAIL")


def seconds_left():
    return settings["end"] - time.monotonic()


def timed(work):
    """(its value, seconds)."""
    start = time.perf_counter()
    value = work()
    return value, time.perf_counter() - start


def median_seconds(work, first, runs=3):
    """(seconds of work(), note): the median of so many runs, fewer where time is short. `first`: the seconds of a run
    made before, which does not count."""
    times = []
    while len(times) < runs and seconds_left() > 1.5 * first:
        times.append(timed(work)[1])
    if not times:
        return first, "first run only"
    return statistics.median(times), "" if len(times) == runs else f"of {len(times)}"
