#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does "rot run" say the same of real programs as others do? The top ten functions of each, as a table in Markdown.

time: beside "perf record -e cpu-clock". Samples of perf are assigned by address to the functions of rot. z is the difference of both shares,
      in standard errors of two binomials; its limit is 3. Names are compared as well.
instructions: beside callgrind, likewise by address, where both execute the same code: libraries are told to use no more of the CPU than
      valgrind has. The limit is 0.1 %. More differs where callgrind counts each turn of a rep as an instruction, knows no entries of .plt.got,
      and where the program depends on addresses, as malloc does.
Programs that are not installed are skipped, and so is callgrind for those that generate code. Exit status 1: a limit was exceeded.
Needs Python 3.7, cc, readelf and perf, and for the instructions valgrind; of Python only its own modules (numpy is one of the programs).

compare-profilers.py [-r RUNS] [-k FOLDER] [NAME ...]
compare-profilers.py -p PAIRS [NAME ...]
    -r: so many times by perf (3), and three times as often by rot, which samples less often; -k: keep there what was recorded, for a second look; NAME: only these programs
    -p: what it costs instead. Each program runs so often alone and in the timing run of rot, in turns: the median of the ratios of each pair,
        with its interval of 95 %; and what rot itself needs, symbols and result included. What counted runs cost is told by bench-blocks.sh.
"""
import argparse, bisect, collections, json, math, os, pathlib, re, resource, shutil, statistics, subprocess, sys, tempfile, time

top = pathlib.Path(__file__).resolve().parent.parent
rot = os.environ.get("ROT", top / "build/driver/rot")
# Not in step with the clock tick of 4 ms, which would be found in the kernel too often.
period_ns = 1237001
no_avx = "glibc.cpu.hwcaps=" + ",".join("-" + each for each in
          "AVX512F AVX512VL AVX512BW AVX512CD AVX2 AVX ERMS FSRM BMI2 RTM MOVBE LZCNT SSSE3 SSE4_1 SSE4_2".split())
blas = ("import numpy\na = numpy.arange(600 * 600, dtype=float).reshape(600, 600) % 7\nb = a.T.copy()\n"
        "for i in range(25): c = a @ b\nprint(c.sum(), numpy.sort(c.ravel() % 1009).sum(), numpy.exp(-a).sum())")
sql = ("create table t(a integer primary key, b text); with recursive n(i) as (select 1 union all select i + 1 from n where i < 250000) "
       "insert into t select i, printf('%d-%d', i * 7919 % 1009, i) from n; create index x on t(b); "
       "select count(*), sum(length(b)), min(b), max(b) from t; select count(*) from t a join t b on a.a = b.a * 2 where a.b > b.b;")
javascript = ("let map = new Map(); for (let i = 0; i < 6e6; i++) map.set(i % 1009, (map.get(i % 1009) || 0) + i);"
              "const f = n => n < 2 ? n : f(n - 1) + f(n - 2); console.log(map.get(17), f(35))")
cc1 = subprocess.run(["cc", "-print-prog-name=cc1"], stdout=subprocess.PIPE, text=True).stdout.strip()

# name, command, generates code
programs = [
    ("numpy", ["/usr/bin/python3", "-c", blas], False),
    ("xz", ["xz", "-k", "-c", "-T2", "--block-size=1MiB", "data"], False),
    ("sqlite3", ["sqlite3", ":memory:", sql], False),
    ("cc1", [cc1, "-quiet", "-O2", "source.i", "-o", "source.s"], False),
    ("phmmer", ["phmmer", "--cpu", "0", "--seed", "1", "query", "proteins"], False),
    ("node", ["node", "-e", javascript], True),
    ("node-named", ["node", "--perf-basic-prof", "--interpreted-frames-native-stack", "-e", javascript], True),
]


def make_input():
    with open("data", "w") as file:
        file.writelines(f"{i * 7919 % 100003} line {i % 17}\n" for i in range(250000))
    subprocess.run(["cc", "-E", "-std=gnu11", "-D_GNU_SOURCE", "-I", top / "tests/core/parent/translated", "-o", "source.i",
                    top / "tests/core/parent/translated/random_blocks.c"], check=True)
    with open("source.i", "a") as file:
        file.writelines(f"double f{i}(double *a, const double *b, int n) {{ double s = 0; for (int k = 0; k < n; k++) {{ switch (k % {i % 7 + 2}) {{ "
                        f"case 0: s += a[k] * b[{i}]; break; case 1: a[k] -= b[k] / {i}.5; break; default: s = s > a[k] ? s - b[k] : s + {i}; }} "
                        f"for (int m = 0; m < k; m++) a[m] += s * b[k - m]; }} return s; }}\n" for i in range(600))
    seed = 1
    with open("proteins", "w") as file:
        for number in range(40000):
            letters = []
            for _ in range(300):
                seed = (seed * 1103515245 + 12345) % (1 << 31)
                letters.append("ACDEFGHIKLMNPQRSTVWY"[seed // 65536 % 20])
            file.write(f">protein{number}\n{''.join(letters)}\n")
            if number == 0:
                pathlib.Path("query").write_text(f">query\n{''.join(letters)}\n")


def call(words, **more):
    return subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)


def segments_of(path, cache={}):
    """File offset and address of each part of a file that is loaded"""
    if path not in cache:
        lines = subprocess.run(["readelf", "-lW", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
        words = [line.split() for line in lines if line.split()[:1] == ["LOAD"]]
        cache[path] = [(int(word[1], 16), int(word[2], 16), int(word[4], 16)) for word in words]
    return cache[path]


def address_of(path, offset):
    return next((offset - begin + address for begin, address, size in segments_of(path) if begin <= offset < begin + size), offset)


class Functions:
    """The functions that rot found, by address: a sample or a cost that is in none of them is of its object alone."""

    def __init__(self, items):
        self.by_object = collections.defaultdict(list)
        for item in items:
            self.by_object[os.path.realpath(item["object"]) if item["object"][0] == "/" else item["object"]].append(item)
        for some in self.by_object.values():
            some.sort(key=lambda item: item["address"])
        self.starts = {name: [item["address"] for item in some] for name, some in self.by_object.items()}

    def find(self, path, address):
        path = os.path.realpath(path)
        at = bisect.bisect_right(self.starts.get(path, []), address) - 1
        item = self.by_object[path][at] if at >= 0 else None
        return item if item and address < item["address"] + max(item["size"], 1) else None


def key_of(item):
    """Callgrind knows no object of an entry of the PLT, so all of them are one."""
    return ("PLT", 0, "*@plt") if item["function"].endswith("@plt") else (item["object"], item["address"], item["function"])


def of_perf(path, functions):
    """Samples by function of rot, the names that perf has for it, and all samples"""
    lines = subprocess.run(["perf", "script", "-i", path, "-F", "pid,ip,sym,dso", "--show-mmap-events"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
    samples, names, nr, mappings = collections.Counter(), collections.defaultdict(collections.Counter), 0, collections.defaultdict(list)
    for line in lines:
        match = re.search(r"PERF_RECORD_MMAP2? (-?\d+)/\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (0x[0-9a-f]+|0) .*\]: \S+ (.*)$", line)
        if match:
            mappings[match[1]].insert(0, (int(match[2], 16), int(match[3], 16), int(match[4], 16), match[5]))
            continue
        match = re.match(r"\s*(\d+)\s+([0-9a-f]+) (.*) \((.*?)\)$", line)
        if not match:
            continue
        nr += 1
        pid, ip, symbol, dso = match[1], int(match[2], 16), match[3], match[4]
        if dso.startswith("["):
            key = ("[kernel]" if dso.startswith(("[kernel", "[guest")) else dso, 0, "")
        elif dso.startswith("/tmp/perf-") or "anon" in dso:
            named = [item for item in functions.by_object["[jit]"] if item["function"] == symbol]
            key = key_of(named[0]) if named else ("[anonymous]", 0, "")
        else:
            begin, _, offset, file = next((row for row in mappings[pid] if row[0] <= ip < row[0] + row[1]), (ip, 0, 0, dso))
            item = functions.find(file, address_of(file, ip - begin + offset))
            key = key_of(item) if item else (dso, -1, symbol)
        samples[key] += 1
        names[key][symbol] += 1
    return samples, names, nr


def of_callgrind(path, functions):
    """Instructions by function of rot, and all of them"""
    costs, path_of, nr, is_call, is_plt = collections.Counter(), "", 0, False, False
    for line in open(path, errors="replace"):
        if line.startswith("ob="):
            path_of = line[3:].strip()
        elif line.startswith("fn="):
            is_plt = line.rstrip().endswith("[PLT]")
        elif line.startswith("calls="):
            is_call = True
        elif line.startswith("0x"):
            words = line.split()
            if not is_call:
                item = functions.find(path_of, int(words[0], 16))
                costs[("PLT", 0, "*@plt") if is_plt else key_of(item) if item else (path_of, -1, "")] += int(words[-1])
                nr += int(words[-1])
            is_call = False
    return costs, nr


def record(name, command, generates, runs):
    env = dict(os.environ, LC_ALL="C", OPENBLAS_NUM_THREADS="1")
    call([rot, "run", "-q", "-findPeaks=false", "-counting=expected", "-r", 3 * runs, "-j", f"{name}.json", "--", *command], env=env)
    for i in range(runs):
        call(["perf", "record", "-q", "-e", "cpu-clock", "-c", period_ns, "-o", f"{name}.{i}.perf", "--", *command], env=env)
    if generates or not shutil.which("valgrind"):
        return
    # Numpy warns, with much Python, of what the processor does not have anyway; valgrind has no AVX-512.
    features = ["SSE41", "POPCNT", "SSE42", "AVX", "F16C", "FMA3", "AVX2"]
    env.update(GLIBC_TUNABLES=no_avx, OPENBLAS_CORETYPE="Nehalem", NPY_DISABLE_CPU_FEATURES=" ".join(features), PYTHONHASHSEED="0")
    both = dict(env)
    if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text():
        both["NPY_DISABLE_CPU_FEATURES"] += " AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"
    # Valgrind has its own library loaded before all others, and so does rot here: the loader looks up as many names then.
    preloaded = sorted(str(path) for path in pathlib.Path("/usr/libexec/valgrind").glob("vgpreload_core-amd64-linux.so"))
    call(["env", *(f"LD_PRELOAD={path}" for path in preloaded), rot, "run", "-q", "-counting=blocks", "-caches=none", "--all", "-findPeaks=false", "-j", f"{name}.counts.json", "--", *command], env=both)
    call(["valgrind", "-q", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no", "--skip-plt=no", "--compress-strings=no",
          f"--callgrind-out-file={name}.callgrind", "--", *command], env=env)


def is_name(ours, theirs):
    """Both names of one function; perf has none, or an address, without a symbol"""
    return not theirs or theirs == "[unknown]" or ours == theirs or ours.split("(")[0] == theirs.split("(")[0]


def time_table(name, runs):
    places = json.load(open(f"{name}.json"))["functions"]
    functions = Functions(places["functions"] + places["others"])
    theirs, names, nr_theirs = collections.Counter(), collections.defaultdict(collections.Counter), 0
    for i in range(runs):
        samples, some, nr = of_perf(f"{name}.{i}.perf", functions)
        theirs += samples
        nr_theirs += nr
        for key, count in some.items():
            names[key] += count
    nr = places["samples"]
    ours = collections.Counter()
    for item in places["functions"] + places["others"]:
        ours[key_of(item)] += item["samples"]
    worst = 0
    for key in sorted(ours, key=lambda key: -ours[key])[:10]:
        a, b = ours[key] / nr, theirs[key] / nr_theirs
        p = (ours[key] + theirs[key]) / (nr + nr_theirs)
        z = (a - b) / math.sqrt(p * (1 - p) * (1 / nr + 1 / nr_theirs)) if 0 < p < 1 else 0
        worst = max(worst, abs(z))
        their_name = names[key].most_common(1)[0][0] if names[key] else ""
        other = "" if is_name(key[2], their_name) or key[0].startswith("[") else f" (perf: `{their_name}`)"
        print(f"| {name} | `{os.path.basename(key[0])}` `{key[2] or hex(key[1])}`{other} | {100 * a:.2f} % | {100 * b:.2f} % | {z:+.1f} |")
    alone = sum(count for key, count in theirs.items() if key not in ours)
    print(f"| {name} | functions in which rot has no sample | - | {100 * alone / nr_theirs:.2f} % | |")
    return worst, f"| {name} | {nr} | {nr_theirs} | {worst:.1f} |"


def count_table(name):
    result = json.load(open(f"{name}.counts.json"))["functions"]
    items = [item for item in result["functions"] if item["counts"]]
    theirs, nr_theirs = of_callgrind(f"{name}.callgrind", Functions(items))
    nr = sum(item["counts"]["instructions"] for item in items + [other for other in result["others"] if other["counts"]])
    ours, worst = collections.Counter(), 0
    for item in items:
        ours[key_of(item)] += item["counts"]["instructions"]
    for key, a in ours.most_common(10):
        b = theirs[key]
        worst = max(worst, abs(a / b - 1) if b else math.inf)
        print(f"| {name} | `{os.path.basename(key[0])}` `{key[2] or hex(key[1])}` | {a} | {b} | {100 * (a / b - 1) if b else math.inf:+.4f} % |")
    print(f"| {name} | all | {nr} | {nr_theirs} | {100 * (nr / nr_theirs - 1):+.4f} % |")
    return worst


def alone(command, env):
    """CPU and wall time of a command, with that of all that it starts"""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    call(command, env=env)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def timed(command, env):
    """CPU and wall time of the program in the timing run of rot, and the CPU time of rot itself"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call([rot, "run", "-q", "-findPeaks=false", "-counting=expected", "-j", "timed.json", "--", *command], env=env)
    run = json.load(open("timed.json"))["runs"][0]
    cpu, after = 1e-9 * (run["userTime"] + run["systemTime"]), resource.getrusage(resource.RUSAGE_CHILDREN)
    return cpu, 1e-9 * run["wallTime"], after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - cpu


def median_text(values):
    """With the order statistics that hold the median with 95 %"""
    values, n = sorted(values), len(values)
    rank = max(0, math.floor(n / 2 - 0.98 * math.sqrt(n)) - 1)
    return f"{values[n // 2]:.4f} ({values[rank]:.4f} to {values[n - 1 - rank]:.4f})"


def costs(chosen, pairs):
    env = dict(os.environ, LC_ALL="C", OPENBLAS_NUM_THREADS="1")
    print("| program | CPU time alone | timing run: CPU time | timing run: wall time | CPU time of rot itself |\n|---|---|---|---|---|")
    for name, command, _ in chosen:
        cpu, wall, own, least = [], [], [], math.inf
        for i in range(pairs):
            both = [(alone, timed)[i % 2](command, env), (timed, alone)[i % 2](command, env)]
            one, other = both if i % 2 == 0 else both[::-1]
            cpu.append(other[0] / one[0])
            wall.append(other[1] / one[1])
            own.append(other[2])
            least = min(least, one[0])
        print(f"| {name} | {least:.2f} s | {median_text(cpu)} | {median_text(wall)} | {statistics.median(own):.2f} s |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-r", type=int, default=3)
    parser.add_argument("-k")
    parser.add_argument("-p", type=int, default=0)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    temporary = tempfile.TemporaryDirectory()
    os.makedirs(arguments.k or temporary.name, exist_ok=True)
    os.chdir(arguments.k or temporary.name)
    if not os.path.exists("query"):
        make_input()
    chosen = [row for row in programs if (not arguments.names or row[0] in arguments.names) and shutil.which(row[1][0])]
    if arguments.p:
        return costs(chosen, arguments.p)
    for name, command, generates in chosen:
        if not os.path.exists(f"{name}.json"):
            record(name, command, generates, arguments.r)
    print("| program | function | rot | perf | z |\n|---|---|---|---|---|")
    sums = [time_table(name, arguments.r) for name, *_ in chosen]
    print("\n| program | samples of rot | of perf | worst z |\n|---|---|---|---|\n" + "\n".join(line for _, line in sums))
    print("\n| program | function | instructions by rot | by callgrind | difference |\n|---|---|---|---|---|")
    worst = [count_table(name) for name, *_ in chosen if os.path.exists(f"{name}.callgrind")]
    return int(max(z for z, _ in sums) > 3 or max(worst, default=0) > 0.001)


sys.exit(main())
