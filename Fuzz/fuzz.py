#!/usr/bin/python3
"""Builds the fuzzer, runs every target for a while, and prints a table of what came of it.

    Fuzz/fuzz.py --seconds 60                         all targets, one after the other
    Fuzz/fuzz.py --seconds 600 value roster-replay    these
    Fuzz/fuzz.py --reproduce roster-replay FILE       one input, with all that is printed

Checked-in regressions run first. Everything else lies in .build/fuzz: the corpus grows from run to run, seeds are taken
from Vectors/*.json anew each time, and an input that breaks something is kept in `crashes`.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
REGRESSIONS = REPOSITORY / "Fuzz" / "Regressions"
VECTORS = REPOSITORY / "Vectors"
WORK = REPOSITORY / ".build" / "fuzz"
BUILD = WORK / "build"
FUZZER = BUILD / "release" / "SealFuzz"
# What needs the server needs all its packages too: a build of its own, made only when one of these is asked for.
SERVER_BUILD = WORK / "server-build"
SERVER_FUZZER = SERVER_BUILD / "release" / "SealServerFuzz"
SERVER_TARGETS = ["requests"]

SANITIZERS = ["fuzzer", "address"]
# Asserts stay in, and the targets reach what the modules keep to themselves. SwiftPM names each sanitizer in a flag of its
# own, of which the compiler takes the last alone, so that nothing would be measured: here they are again, in one.
COMPILER = ["-enable-testing", "-assert-config", "Debug", "-sanitize=" + ",".join(SANITIZERS)]
LIMITS = ["-timeout=10", "-rss_limit_mb=1024", "-malloc_limit_mb=64"]
ENVIRONMENT = {
    # The runtime's own backtraces would take a crash from libFuzzer. Without a quarantine's bound the sanitizer alone
    # keeps 256 MB.
    "SWIFT_BACKTRACE": "enable=no",
    "ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=32",
}


def build(fuzzer, folder, mode):
    command = ["swift", "build", "-c", "release", "--product", fuzzer.name, "--scratch-path", str(folder)]
    # Without dependencies SwiftPM would otherwise remove the whole package's Package.resolved.
    command.append("--only-use-versions-from-resolved-file")
    for sanitizer in SANITIZERS:
        command += ["--sanitize", sanitizer]
    for flag in COMPILER:
        command += ["-Xswiftc", flag]
    built = subprocess.run(
        command, cwd=REPOSITORY, env=os.environ | {"SEALKIT_FUZZ": mode}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if built.returncode != 0:
        sys.exit(built.stdout + "fuzz: the fuzzer does not build")


def build_for(chosen):
    """What the chosen targets need; the core's fuzzer where none is named."""
    if not chosen or set(chosen) - set(SERVER_TARGETS):
        build(FUZZER, BUILD, "1")
    if set(chosen) & set(SERVER_TARGETS):
        build(SERVER_FUZZER, SERVER_BUILD, "server")


def fuzzer(target, *arguments):
    """libFuzzer's command for one target."""
    return [str(SERVER_FUZZER if target in SERVER_TARGETS else FUZZER), f"--target={target}", *map(str, arguments)]


def targets(chosen):
    """Name, longest input and seeds of each, as the executables that are needed list them."""
    rows = []
    for executable, is_needed in [
        (FUZZER, not chosen or set(chosen) - set(SERVER_TARGETS)), (SERVER_FUZZER, set(chosen) & set(SERVER_TARGETS))
    ]:
        if not is_needed:
            continue
        listed = subprocess.run(
            [str(executable), "--list"], env=os.environ | ENVIRONMENT, capture_output=True, text=True, check=True)
        rows += [line.split("\t") for line in listed.stdout.splitlines() if "\t" in line]
    return {name: (int(length), seeds) for name, length, *seeds in rows}


# Seeds


def values(json_value, key):
    """Every text under `key`, at whatever depth; lists of texts too."""
    if isinstance(json_value, list):
        for item in json_value:
            yield from values(item, key)
    elif isinstance(json_value, dict):
        for name, item in json_value.items():
            if name == key:
                yield from (text for text in (item if isinstance(item, list) else [item]) if isinstance(text, str))
            yield from values(item, key)


def seed_inputs(seed):
    kind, *rest = seed.split(":")
    if kind == "made":
        yield bytes.fromhex(rest[0])
        return
    file, key, *prefix = rest
    for text in values(json.loads((VECTORS / f"{file}.json").read_text()), key):
        if kind == "text":
            yield text.encode()
        elif re.fullmatch("([0-9a-f]{2})*", text):
            yield bytes.fromhex(prefix[0] + text)


def write_seeds(target, seeds, length):
    folder = WORK / "seeds" / target
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for seed in seeds:
        inputs = list(seed_inputs(seed))
        if not inputs:
            sys.exit(f"fuzz: {target}: the vectors have nothing for the seed {seed}")
        for data in inputs:
            (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data[:length])
    return folder


# Runs


def run(command, log):
    with open(log, "a") as output:
        return subprocess.run(
            command, env=os.environ | ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT).returncode


def outcome(code, text):
    """What a log says went wrong."""
    if code == 0:
        return "ok"
    broken = re.search(r"property: (.*)", text)
    if broken:
        return f"PROPERTY: {broken[1]}"
    said = re.search(r"Fatal error: (.*)", text) or re.search(r"SUMMARY: \w+: (.*)", text)
    for sign, kind in [("libFuzzer: timeout", "HANG"), ("libFuzzer: out-of-memory", "MEMORY")]:
        if sign in text:
            return kind
    return f"CRASH: {said[1]}" if said else f"CRASH: exit status {code}"


def fuzz(target, length, seeds, seconds):
    """One target's row of the table, the inputs that broke it, and its log."""
    corpus, crashes, logs = (WORK / name for name in ("corpus", "crashes", "logs"))
    for folder in (corpus / target, crashes / target, logs):
        folder.mkdir(parents=True, exist_ok=True)
    log = logs / f"{target}.log"
    log.unlink(missing_ok=True)
    seeded = write_seeds(target, seeds, length)
    # First what broke it once: inputs checked in, then those that earlier runs have left.
    known = [path for folder in (REGRESSIONS, crashes) for path in sorted((folder / target).glob("*")) if path.is_file()]
    broken = [path for path in known if run(fuzzer(target, *LIMITS, path), log) != 0]
    code = 1
    if not broken:
        options = [*LIMITS, f"-artifact_prefix={crashes / target}/", f"-max_len={length}", "-print_final_stats=1"]
        options.append(f"-max_total_time={seconds}")
        folders = [folder for folder in (corpus / target, seeded, REGRESSIONS / target) if folder.is_dir()]
        code = run(fuzzer(target, *options, *folders), log)
    text = log.read_text(errors="replace")
    broken += [pathlib.Path(path) for path in re.findall(r"Test unit written to (\S+)", text) if code != 0]
    status = re.findall(r"#\d+\s+\S+\s+cov: (\d+) ft: (\d+) corp: (\d+)/", text)
    final = dict(re.findall(r"stat::(\w+):\s+(\d+)", text))
    row = [
        target, final.get("number_of_executed_units", "-"), final.get("average_exec_per_sec", "-"),
        *(status[-1] if status else "---"), final.get("peak_rss_mb", "-"), outcome(code, text),
    ]
    return row, broken, log


def table(rows):
    rows = [["target", "executions", "per s", "cov", "ft", "corpus", "rss MB", "result"]] + rows
    widths = [max(len(row[column]) for row in rows) for column in range(7)]
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [row[column].rjust(widths[column]) for column in range(1, 7)]
        print("  ".join(cells + [row[7]]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", help="all of the core where none is named; requests needs the server")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--jobs", type=int, default=1, help="targets at the same time")
    parser.add_argument("--reproduce", nargs=2, metavar=("TARGET", "FILE"), help="run one input")
    options = parser.parse_args()
    print("Building the fuzzer", flush=True)
    build_for([options.reproduce[0]] if options.reproduce else options.targets)
    if options.reproduce:
        target, file = options.reproduce
        sys.exit(subprocess.run(fuzzer(target, *LIMITS, file), env=os.environ | ENVIRONMENT).returncode)
    known = targets(options.targets)
    chosen = options.targets or list(known)
    for name in set(chosen) - set(known):
        sys.exit(f"fuzz: no target is named {name}: {' '.join(known)}")
    print(f"{len(chosen)} targets, {options.seconds} s each", flush=True)
    rows, broken = [], []
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        for row, inputs, log in pool.map(lambda name: fuzz(name, *known[name], options.seconds), chosen):
            rows.append(row)
            print(f"{row[0]}: {row[7]}", flush=True)
            if row[7] != "ok":
                broken.append((row[0], inputs, log))
    print()
    table(rows)
    for name, inputs, log in broken:
        print(f"\n{name} is broken; its log is {log.relative_to(REPOSITORY)}")
        for path in inputs:
            print(f"    Fuzz/fuzz.py --reproduce {name} {path.relative_to(REPOSITORY)}")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
