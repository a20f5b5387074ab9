#!/usr/bin/env python3
"""Runs ProVerif on every model here and compares each answer with what the model says to expect.

    ./run.py [--proverif PATH] [--jobs N] [--record] [MODEL.pv[:VARIANT] ...]
    ./run.py --record       writes what it found into results.md, in the place of what that has of these runs
    ./run.py --recorded     without ProVerif: has results.md every run that the models have, of the very text that they
                            have now, and no other?

In a model:
    (*? true: text *)        before a query: what ProVerif has to answer. `reach: text` is for a state that has to be reachable
                             (ProVerif then answers false to "never").
    (*! NAME: 1 false, 3 true | text *)   a variant, and the queries that it answers differently.
    ... (*-NAME*)            this line is not there in variant NAME: a check that is left out.
    (*+NAME code *)          this code is there in variant NAME only: something more that the attacker gets.
A name may be several, with `,` between them. A variant `a+b` is a and b together; `base` names the model as specified.
Answers: true, false, `unproved` (no proof and no trace of an attack), `any` (not looked at).
Exit status: 0 if all answers are as expected, 1 if some are not, 2 if nothing could be run.
"""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = HERE / "sealkit.pvl"
RESULTS = HERE / "results.md"
EXPECTED = re.compile(r"\(\*\? (true|false|reach): (.*?) *\*\)", re.S)
VARIANT = re.compile(r"\(\*! ([\w+-]+): *([^|*]*?) *\| *(.*?) *\*\)", re.S)
LEFT_OUT = re.compile(r"\(\*-([\w,-]+)\*\)")
ADDED = re.compile(r"\(\*\+([\w,-]+) (.*?) *\*\)")
COMMENT = re.compile(r"\(\*.*?\*\)", re.S)
ANSWER = re.compile(r"(?:Query|Weak secret|Non-interference) .*?(is true|is false|cannot be proved)\b")
# With any of these a proof would rest on more than the model's rules.
ASSUMES = re.compile(r"\b(axiom|restriction|lemma|nounif|noselect)\b")
NO_PROVERIF = ("ProVerif is not here. opam has it: `apt-get install opam`, `opam init`, `opam install proverif`;"
               " then put it on the PATH, or name it: PROVERIF=path/to/proverif make proofs.")


class Fault(Exception):
    """What is wrong with the call or a model, in words for whoever called."""


class Run:
    """One model in one variant, what all models share, and the answers that are expected of it."""

    def __init__(self, model, variant, label, text, library, want):
        self.model, self.variant, self.label, self.text, self.want = model, variant, label, text, want
        self.library = library

    @property
    def digest(self):
        """Tells this text from every other one: an answer is of what ProVerif was given, and of nothing else."""
        return hashlib.sha256((self.text + "\0" + self.library).encode()).hexdigest()[:16]


def runs_of(path):
    """The model as specified, then each of its variants, in the order in which they stand there."""
    text, library = path.read_text(encoding="utf-8"), LIBRARY.read_text(encoding="utf-8")
    for file, content in (path, text), (LIBRARY, library):
        if assumption := ASSUMES.search(COMMENT.sub("", content)):
            raise Fault(f"{file.name} has a `{assumption[1]}`: no model here assumes what it could not check")
    kinds = [kind for kind, _ in EXPECTED.findall(text)]
    base = ["false" if kind == "reach" else kind for kind in kinds]
    found = [Run(path.name, "base", "as specified", variant_text(text, set()), library, base)]
    names = set(re.split(r"[,\s]+", " ".join(LEFT_OUT.findall(text) + [names for names, _ in ADDED.findall(text)]))) - {""}
    for name, changes, label in VARIANT.findall(text):
        want = list(base)
        for change in filter(None, (part.strip() for part in changes.split(","))):
            number, _, answer = change.partition(" ")
            if not number.isdigit() or not 1 <= int(number) <= len(want) or answer not in ("true", "false", "unproved", "any"):
                raise Fault(f"{path.name}: variant {name} says `{change}`, which is no query's number and answer")
            want[int(number) - 1] = answer
        if unknown := set(name.split("+")) - names:
            raise Fault(f"{path.name}: no line is marked with `{min(unknown)}`, so variant {name} would be another one")
        words = " ".join(label.split())
        found.append(Run(path.name, name, words, variant_text(text, set(name.split("+"))), library, want))
    return found


def variant_text(text, active):
    lines = []
    for line in text.split("\n"):
        if not any(active & set(names.split(",")) for names in LEFT_OUT.findall(line)):
            lines.append(ADDED.sub(lambda match: match[2] if active & set(match[1].split(",")) else "", line))
    return "\n".join(lines)


def answer(proverif, limit, run):
    """ProVerif's answers (None if there are none), the seconds that they took, and all that it printed."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, run.model)
        file.write_text(run.text, encoding="utf-8")
        pathlib.Path(folder, LIBRARY.name).write_text(run.library, encoding="utf-8")
        start = time.monotonic()
        try:
            done = subprocess.run([proverif, "-lib", str(file.with_name(LIBRARY.stem)), str(file)], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return None, limit, f"no answer within {limit:g} s"
    output = done.stdout + done.stderr
    summary = output.partition("Verification summary:")[2]
    answers = [{"is true": "true", "is false": "false"}.get(match[1], "unproved")
               for match in map(ANSWER.match, map(str.strip, summary.split("\n"))) if match]
    return answers, time.monotonic() - start, output


def chosen(names):
    runs = []
    for name in names or sorted(path.name for path in HERE.glob("*.pv")):
        model, _, variant = name.partition(":")
        path = HERE / pathlib.Path(model).name
        if path.suffix != ".pv" or not path.is_file():
            raise Fault(f"there is no model {model} in {HERE}")
        some = [run for run in runs_of(path) if variant in ("", run.variant)]
        if not some:
            raise Fault(f"{model} has no variant {variant}")
        runs += some
    return runs


def rows_of_results():
    """The cells of each row of results.md, by model and variant."""
    if not RESULTS.is_file():
        return {}
    lines = [line for line in RESULTS.read_text(encoding="utf-8").split("\n") if re.match(r"\| \w[\w-]*\.pv \|", line)]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {(row[0], row[1]): row for row in rows}


def recorded(runs):
    """Whether results.md speaks of exactly these runs, of this text, in these words, with answers that they allow."""
    rows = rows_of_results()
    faults = [f"{model} {variant}: in results.md, and not among the models" for model, variant in
              sorted(rows.keys() - {(run.model, run.variant) for run in runs})]
    for run in runs:
        row = rows.get((run.model, run.variant))
        if row is None:
            faults.append(f"{run.model} {run.variant}: not in results.md")
        elif len(row) != 6 or row[2] != run.digest:
            faults.append(f"{run.model} {run.variant}: results.md is of another text of it, or of sealkit.pvl")
        elif row[5] != run.label or not fits(run, row[3].split()):
            faults.append(f"{run.model} {run.variant}: results.md has other queries, answers or words")
    for fault in faults:
        print(fault)
    print(f"{len(runs)} runs of the models, {len(faults)} not as results.md has them"
          + ("; Proofs/run.py --record makes it anew" if faults else ""))
    return 1 if faults else 0


def record(run, got, seconds):
    """Puts one run into results.md; what is no model's any more goes."""
    rows = rows_of_results()
    label = run.label if fits(run, got) else f"UNEXPECTED: {run.label}"
    rows[run.model, run.variant] = [run.model, run.variant, run.digest, " ".join(got or ["?"]), f"{seconds:.1f} s", label]
    kept = [rows[key] for key in ((each.model, each.variant) for each in chosen([])) if key in rows]
    answers = sum(len(row[3].split()) for row in kept)
    unexpected = sum(row[-1].startswith("UNEXPECTED: ") for row in kept)
    RESULTS.write_text(
        "# Results\n\nWhat `./run.py --record` wrote. README.md says what the models are, and each model its queries. `text`"
        " says which text was run: the first digits\nof a SHA-256 over the model in that variant and what all models share."
        " `make test` holds it against what is there.\n"
        "\n| model | variant | text | answers to its queries, in order | time | |\n|---|---|---|---|---|---|\n"
        + "".join(f"| {' | '.join(row)} |\n" for row in kept)
        + f"\n{len(kept)} runs, {answers} answers, {unexpected} runs not as expected\n", encoding="utf-8")


def fits(run, got):
    return got is not None and len(got) == len(run.want) and all(want in ("any", is_) for want, is_ in zip(run.want, got))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--proverif", default=os.environ.get("PROVERIF") or "proverif")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many run at once")
    parser.add_argument("--limit", type=float, default=600, help="seconds for each run")
    parser.add_argument("--record", action="store_true", help="write the answers into results.md")
    parser.add_argument("--recorded", action="store_true")
    parser.add_argument("models", nargs="*")
    arguments = parser.parse_args()
    runs = chosen(arguments.models)
    if arguments.recorded:
        return recorded(runs)
    proverif = shutil.which(arguments.proverif)
    if proverif is None:
        raise Fault(NO_PROVERIF)
    failures, started = 0, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
        for run, (got, seconds, output) in zip(runs, pool.map(lambda run: answer(proverif, arguments.limit, run), runs)):
            good = fits(run, got)
            failures += not good
            answers = " ".join(got or ["?"])
            if arguments.record:
                record(run, got, seconds)
            name = f"{run.model} {run.variant}"
            print(f"{'ok  ' if good else 'FAIL'} {seconds:6.1f} s  {name:36} {answers}   {run.label}")
            if not good:
                print(f"     expected                                     {' '.join(run.want)}")
                if got is None or len(got) != len(run.want):
                    print("     " + "\n     ".join(output.strip().split("\n")[-12:]))
            sys.stdout.flush()
    queries = sum(len(run.want) for run in runs)
    print(f"\n{len(runs)} runs, {queries} answers, {failures} runs not as expected, {time.monotonic() - started:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Fault as fault:
        print(fault, file=sys.stderr)
        sys.exit(2)
