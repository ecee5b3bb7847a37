#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is it true what "rot run" says of functions and loops?

A program of known parts (tests/driver/programs/known_findings.c, "parts") runs many times, with 1 and with 4 threads, with symbols and
stripped. Counts of each part must be those that its code has, in every run. Intervals of its share of the CPU time must hold the share that
the program measured itself by the clocks of its threads, in 94 % of the runs or more. In as many runs the bound and the findings of each part
must be those that it is made for (table "answers" below). Exit status 1: one of these is not so.
Bounds need peaks (rot peaks), and modelled caches: "-counting=blocks --runs=4" instead of the default.
Needs Python 3.7 without further modules, cc, strip and nm; for its part in a library libopenblas.so.0, or leaves that out.

prove-shares.py [-n TIMES] [-o FOLDER] [OPTION or KEY of rot run ...]
    default: -n 100 -caches=none
    -o: keep there what was measured; a run that is there already is not measured again
"""
import argparse, collections, json, math, os, pathlib, subprocess, sys, tempfile

top = pathlib.Path(__file__).resolve().parent.parent
rot = os.environ.get("ROT", top / "build/driver/rot")
events = ["instructions", "scalarDouble", "packedDouble", "loadedBytes", "storedBytes"]


def known_counts(threads):
    """For each part its entries, turns, and counts by event of its loop and of all of it. See the code of the program."""
    calls = {"poly": 16384 * 12, "triad": 4 * 12, "chase": 12 * threads}
    turns = {"poly": 1024 * calls["poly"], "triad": (1 << 21) * calls["triad"], "chase": 400000 * 12}
    turn = {"poly": (11, 6, 0, 8, 8), "triad": (6, 2, 0, 16, 8), "chase": (3, 0, 0, 8, 0)}
    call = (1, 0, 0, 8, 0)
    for part in calls:
        loop = [turns[part] * each for each in turn[part]]
        yield part, calls[part], turns[part], loop, [a + calls[part] * b for a, b in zip(loop, call)]


wide = "avx512f" in pathlib.Path("/proc/cpuinfo").read_text()

# Of each part: its roof, the finding that it has, and others that it may have. Memory tells only with modelled caches; what its loads wait for
# is told by its chain as well. A library has vectors as wide as those of the machine, or has not.
answers = {
    "poly": ("performance", {"scalar"}, set()),
    "triad": ("bandwidth", {"bandwidth"}, set()),
    "chase": (None, {"memoryLatency"}, {"sparseLines"}),
    "narrow dgemm": ("performance", {"narrowVectors"}, set()),
    "dgemm": ("performance", set(), {"peak"}),
}


def look_at_answer(run, part, function):
    """Bound and findings, whether these are right, and whether one of both cannot be told."""
    name = function["function"] or f"{os.path.basename(function['object'])}+0x{function['address']:x}"
    codes = {item["code"] for item in run["findings"] if item["about"] == "code" and item["place"] == name}
    counts = function["counts"]
    if part == "dgemm" and wide and 2 * counts["flop512"] < counts["packedDouble"]:
        part = "narrow dgemm"
    roof, needed, allowed = answers[part]
    kind = function.get("roof", {}).get("kind")
    is_told = "l1Fills" in counts
    return {
        "bound": kind == roof if is_told and (kind or not roof) else None,
        "findings": needed <= codes <= needed | allowed if is_told or part != "triad" else None,
        "codes": " ".join(sorted(codes)) or "none",
    }


def share_interval(k, n, z=1.959964):
    """Wilson's, as rot's own"""
    center, half = (k + z * z / 2) / (n + z * z), z / (n + z * z) * math.sqrt(k * (n - k) / n + z * z / 4)
    return center - half, center + half


def measure(program, threads, options):
    env = dict(os.environ, OPENBLAS_NUM_THREADS="1")
    command = [rot, "run", "-q", "-findPeaks=false", "-j", "result.json", *options, "--", program, "parts", str(threads), "libopenblas.so.0"]
    # a line of each timed run
    lines = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    truth = [sum(column) for column in zip(*(map(float, line.split()) for line in lines))]
    result = json.load(open("result.json"))
    functions = result["functions"]
    for item in functions["functions"]:
        item.pop("code", None)
    functions["functions"] = [item for item in functions["functions"]
                              if item["samples"] > 0 or program[2:] in item["object"] or "openblas" in item["object"]]
    return {"truth": truth, "functions": functions, "findings": result["findings"], "bound": result["bound"]}


def look_at(run, threads, at, rows, answered, wrong):
    """Adds to rows what each interval said, and to wrong what was counted otherwise than known. Gives the number of checks."""
    truth = dict(zip(["poly", "triad", "chase", "dgemm"], (part / run["truth"][4] for part in run["truth"])))
    functions = run["functions"]
    whole = sum(item["samples"] for item in functions["functions"] + functions["others"] + [functions["missing"]])
    own = {at[item["address"]]: item for item in functions["functions"] if is_own(item) and item["address"] in at}
    nr = 0
    for part, calls, turns, of_loop, of_all in known_counts(threads):
        loops = [item for item in functions["loops"] if item["header"] and is_own(item) and at.get(item["functionAddress"]) == part]
        is_there = [part, own[part]["entries"], *(own[part]["counts"][event] for event in events)]
        is_there += [value for loop in loops for value in (loop["entries"], loop["turns"], *(loop["counts"][event] for event in events))]
        should = [part, calls, *of_all, calls, turns, *of_loop]
        nr += len(should) - 1
        if is_there != should:
            wrong.append((is_there, should))
        answered[part].append(look_at_answer(run, part, own[part]))
        rows[part].append((truth[part], own[part]["low"], own[part]["high"], own[part]["samples"] / whole))
    blas = [item for item in functions["functions"] if "openblas" in item["object"]]
    if truth["dgemm"] > 0.01:
        # 2 n^3, and n^2 for the factor; scalar ones are of the choice of a kernel
        flops, should = sum(item["counts"]["packedDouble"] for item in blas if item["counts"]), 960 * (2 * 128 ** 3 + 128 ** 2)
        if flops != should:
            wrong.append((["dgemm", flops], ["dgemm", should]))
        nr += 1
        samples = sum(item["samples"] for item in blas)
        answered["dgemm"].append(look_at_answer(run, "dgemm", max(blas, key=lambda item: item["samples"])))
        rows["dgemm"].append((truth["dgemm"], *share_interval(samples, whole), samples / whole))
    return nr


def is_own(item):
    return item["object"].endswith(("/with-symbols", "/stripped"))


def symbols():
    lines = subprocess.run(["nm", "with-symbols"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return {int(words[0], 16): words[2] for words in map(str.split, lines) if words[-1] in ("poly", "triad", "chase")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=100)
    parser.add_argument("-o")
    arguments, options = parser.parse_known_args()
    temporary = tempfile.TemporaryDirectory()
    folder = pathlib.Path(arguments.o or temporary.name)
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    if not os.path.exists("with-symbols"):
        source = top / "tests/driver/programs/known_findings.c"
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-g", "-D_GNU_SOURCE", "-pthread", "-o", "with-symbols", source, "-ldl"], check=True)
        subprocess.run(["strip", "-o", "stripped", "with-symbols"], check=True)
    kinds = [(program, threads) for program in ("with-symbols", "stripped") for threads in (1, 4)]
    at, is_good = symbols(), True
    rows, answered = (collections.defaultdict(lambda: collections.defaultdict(list)) for _ in range(2))
    wrong, checks = collections.defaultdict(list), collections.Counter()
    for number in range(arguments.n):
        for program, threads in kinds:
            file = pathlib.Path(f"{program}.{threads}.{number}.json")
            if not file.exists():
                file.write_text(json.dumps(measure("./" + program, threads, options or ["-caches=none"])))
            kind = (program, threads)
            checks[kind] += look_at(json.loads(file.read_text()), threads, at, rows[kind], answered[kind], wrong[kind])
    print("| program | threads | part | runs | true share | mean of what rot says | half width | intervals that hold the truth "
          "| right bounds | right findings | findings |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for program, threads in kinds:
        for part, all_ in rows[program, threads].items():
            mean = [100 * sum(column) / len(all_) for column in zip(*all_)]
            held = sum(low <= truth <= high for truth, low, high, _ in all_)
            is_good &= held >= 0.94 * len(all_)
            told = []
            for what in ("bound", "findings"):
                known = [answer[what] for answer in answered[program, threads][part] if answer[what] is not None]
                is_good &= sum(known) >= 0.94 * len(known)
                told.append(f"{sum(known)} of {len(known)}" if known else "not told")
            codes = collections.Counter(answer["codes"] for answer in answered[program, threads][part])
            told.append(", ".join(f"{code} ({nr})" for code, nr in codes.most_common()))
            print(f"| {program} | {threads} | {part} | {len(all_)} | {mean[0]:.2f} % | {mean[3]:.2f} % | ±{(mean[2] - mean[1]) / 2:.1f} % "
                  f"| {held} of {len(all_)} | {' | '.join(told)} |")
    for kind in kinds:
        print(f"\n{kind[0]}, {kind[1]} threads: {checks[kind]} counts checked; in {len(wrong[kind])} cases not as the code has it", end="")
        for is_there, should in wrong[kind][:4]:
            print(f"\n    is     {is_there}\n    should {should}", end="")
        is_good &= not wrong[kind]
    print()
    return 0 if is_good else 1


sys.exit(main())
