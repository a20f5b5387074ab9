#!/usr/bin/env python3
"""What the web client costs, as ratios to what was measured in the same run: nothing here fails on a slow machine, unless it is asked to.

    make bench-web                  all of it, by release programs; MINUTES=… of two browsers that edit one zone (10), 0 leaves that out; STRICT=1
                                    ends with 1 where an aim is not met, as --strict does
    bench.py --sealkit S --bench B  the same by these programs; ONLY=records (opened, of ten fields), ONLY=cold (from a click to records,
                                    and what travels), ONLY=files or ONLY=browsers is one part
"""

import argparse
import contextlib
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from playwright.sync_api import expect, sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from world import REPOSITORY, Person, World, that  # noqa: E402

from browser import add_authenticator, launch  # noqa: E402
from unwatched import Unwatched  # noqa: E402

RECORDS, FIELDS, CHARACTERS = 1_000, 10, 100
# The share that is opened cold: what a person has who shares a trip or a list.
COLD = (60, 8)
ROUNDS = 3
# One run differs from the next by a quarter.
COLD_ROUNDS = 9
WIRE = 330_000
MEBIBYTES = 256
TICKS = os.sysconf("SC_CLK_TCK")

# Beside what the worker does: its module can be asked from here, and says how long it took for what opens records.
WATCHED = """
const timed = { rosterAnswer: 0, changesAnswer: 0, lookupAnswer: 0, records: 0 };
/** In its turn: what the page asks for meanwhile would read the same part of a feed twice. */
const inTurn = step => {
    const turn = last.then(step);
    last = turn.catch(() => {});
    return turn;
};
self.bench = {
    timed,
    async watch() {
        const { account } = await visit;
        const { ask } = account;
        account.ask = (name, ...rest) => {
            const begun = performance.now();
            try {
                return ask(name, ...rest);
            } finally {
                if (name in timed) timed[name] += performance.now() - begun;
            }
        };
    },
    fill: (count, fields, characters) => inTurn(async () => {
        const { zone } = await visit;
        for (let index = 0; index < count; index++) {
            const { edit } = zone.newRecord({ type: 'Note', name: `record-${index}` });
            const changes = Array.from({ length: fields }, (_, field) =>
                ({ name: `field${field}`, to: 'sealed', value: { kind: 'string', text: String(index % 10).repeat(characters) } }));
            const outcome = await zone.save({ edit, changes });
            if (outcome !== 'stored') throw new Error(outcome);
        }
    }),
    // As a reader who comes anew has it: a zone of its own in the module, read from its start.
    open: () => inTurn(async () => {
        const one = await visit;
        for (const name of Object.keys(timed)) timed[name] = 0;
        one.enter();
        const { count } = await one.zone.fetchRecords();
        let [first, shown] = [0, 0];
        while (first < count) {
            const part = one.zone.records({ first });
            shown += part.filter(record => record.fields.length > 1 && record.fields.every(field => field.value)).length;
            first += part.length;
        }
        return { shown, milliseconds: Object.values(timed).reduce((sum, part) => sum + part) };
    }),
};
bench.watch();
"""


# Somebody who presses what is to be pressed as soon as it is there: whatever looks for it from outside costs the browser more than the page.
READER = """
const wanted = new Set(['Continue with a passkey', 'Accept']);
new MutationObserver(() => {
    for (const button of document.querySelectorAll('main button')) {
        if (wanted.delete(button.firstChild?.textContent)) setTimeout(() => button.click());
    }
    if (document.querySelector('#count')?.textContent === 'COUNT') console.log('all is shown');
}).observe(document, { subtree: true, childList: true });
"""


class Report:
    def __init__(self):
        self.aims = []

    def heading(self, text):
        print(f"\n{text}", flush=True)

    def row(self, name, figure, ratio=None, most=None, unit="x"):
        line = f"  {name:<60}{figure:>16}"
        if ratio is not None:
            line += f"{ratio:>9.2f} {unit}"
        if most is not None:
            met = ratio <= most
            self.aims.append((name, met))
            line += f"   aim ≤ {most}  {'met' if met else 'NOT MET'}"
        print(line, flush=True)

    def finish(self):
        missed = [name for name, met in self.aims if not met]
        print(f"\n{len(self.aims) - len(missed)} of {len(self.aims)} aims met." + "".join(f"\n  not met: {name}" for name in missed))
        return missed


class Processes:
    """The processes of this browser, and what they have used of the processors."""

    @staticmethod
    def seconds():
        parents, used, names = {}, {}, {}
        for path in pathlib.Path("/proc").iterdir():
            if not path.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                name, rest = (path / "stat").read_text().rsplit(")", 1)
                fields = rest.split()
                number = int(path.name)
                parents[number], names[number] = int(fields[1]), name.split("(", 1)[1]
                # Its own, and of those that it has seen end.
                used[number] = sum(map(int, fields[11:15])) / TICKS
        ours = {os.getpid()}
        while found := {number for number, parent in parents.items() if parent in ours} - ours:
            ours |= found
        return sum(used[number] for number in ours if "chrom" in names.get(number, ""))


def consumed(command, environment):
    """What a program used of the processors until it ended, in seconds."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        that(process.returncode == 0, f"{command[1:3]}: {out.read().decode(errors='replace')[-500:]}")
    return usage.ru_utime + usage.ru_stime


class Bench:
    def __init__(self, options, world, playwright):
        self.options, self.world, self.playwright, self.report = options, world, playwright, Report()

    @contextlib.contextmanager
    def browser(self):
        chromium = launch(self.playwright)
        try:
            context = chromium.new_context(locale="en-GB")
            page = context.new_page()
            add_authenticator(page)
            yield context, page
        finally:
            chromium.close()

    def native(self, part, pattern):
        printed = subprocess.run([self.options.bench, part], check=True, capture_output=True, text=True).stdout
        return [float(found.replace(",", "")) for found in re.findall(pattern, printed)]

    # 1,000 records of ten fields

    def records(self):
        self.report.heading(
            f"{RECORDS:,} records of {FIELDS} fields, {CHARACTERS} bytes each, verified and opened\n"
            "  In a browser: all that the module does, from the server's bytes to the page's. Each record was saved by itself, with a\n"
            "  signature of its own. Natively: the core alone, with as many signatures.")
        owner = self.world.person("owner").create_account()
        owner("zone", "create", "Many")
        owner("share", "create", "Many", "--title", "Many")
        owner("share", "public", "Many", "readWrite")
        url = owner("share", "url", "Many")[0]["url"]
        with self.browser() as (_, page):
            self.enter(page, url, "Many").evaluate(f"bench.fill({RECORDS}, {FIELDS}, {CHARACTERS})")
        first, later = [], []
        for _ in range(ROUNDS):
            with self.browser() as (_, page):
                worker = self.enter(page, url, "Many", shown=f"{RECORDS} records")
                first.append(worker.evaluate("Object.values(bench.timed).reduce((sum, part) => sum + part)"))
                for _ in range(5):
                    opened = worker.evaluate("bench.open()")
                    that(opened["shown"] == RECORDS, f"{opened['shown']} records were opened")
                    later.append(opened["milliseconds"])
        (rate,) = self.native("sealing", rf"records of {FIELDS} x 100 B verified and opened +([\d,.]+)")
        (alone,) = self.native("statements", r"verified, 1 at once +([\d,.]+)")
        (together,) = self.native("statements", r"verified, 100 at once +([\d,.]+)")
        native = RECORDS * (1_000 / rate + (alone - together) / 1_000)
        self.report.row("the native core", f"{native:.0f} ms")
        self.report.row("a browser, its module compiled (the best)", f"{min(later):.0f} ms", min(later) / native, 3)
        self.report.row("a browser that has loaded the page just now (median)", f"{statistics.median(first):.0f} ms", statistics.median(first) / native)

    def enter(self, page, url, title, shown=None):
        """Somebody without account who opens a link that is good for everybody, in a worker that is watched."""
        page.context.route(
            "**/core.worker.mjs", lambda route: route.fulfill(body=route.fetch().text() + WATCHED, content_type="text/javascript"))
        page.goto(url)
        page.get_by_role("button", name="Only for this visit").click()
        page.context.unroute("**/core.worker.mjs")
        page.get_by_role("button", name="Accept").click()
        expect(page.locator("#count")).to_have_text(shown or re.compile("record"), timeout=60_000)
        return page.workers[0]

    # From a click to records

    def cold(self):
        records, fields = COLD
        self.report.heading(
            f"From the click to {records} records of {fields} fields, for somebody who is invited and has no account\n"
            "  In a browser: the CPU time of all its processes, from an empty tab of a browser that was started just now, and that tells\n"
            "  nobody of what it asks for. Against the command line: `share accept`, which makes the account, and `record list`.")
        owner = self.world.person("ann").create_account()
        owner("zone", "create", "Trip")
        for index in range(records):
            owner.save(f"record-{index}", *(part for field in range(fields) for part in ("--seal", f"field{field}={'0123456789' * 4}")))
        owner("share", "create", "Trip", "--title", "Trip")
        reader, shown = READER.replace("COUNT", f"{records} records"), "all is shown"
        invite = lambda: owner("share", "invite", "Trip", "--one-time")[0]["url"]  # noqa: E731
        with self.browser() as (context, page):
            answers = []
            context.on("response", lambda answer: answers.append(answer))
            page.add_init_script(reader)
            with page.expect_console_message(lambda message: message.text == shown, timeout=60_000):
                page.goto(invite(), wait_until="commit")
            wire = sum(answer.request.sizes()["responseBodySize"] for answer in answers if re.search(r"/[sw]/", answer.url))
        empty, browser, command, walls = [], [], [], []
        for turn in range(COLD_ROUNDS):
            for url, said, costs in ((f"{self.world.origin}/health", None, empty), (invite(), shown, browser)):
                with Unwatched(reader) as tab:
                    time.sleep(2)
                    before, begun = Processes.seconds(), time.monotonic()
                    tab.open(url, said)
                    wall = time.monotonic() - begun
                    costs.append(Processes.seconds() - before)
            walls.append(wall)
            guest = Person(self.world, f"guest-{turn}")
            accepted = self.person(guest, "share", "accept", invite(), "--new-account")
            command.append(accepted + self.person(guest, "record", "list", "--zone", "Trip", "--owner", owner.user))
        native = statistics.median(command)
        self.report.row("the command line", f"{native:.2f} s")
        self.report.row("a browser", f"{statistics.median(browser):.2f} s", statistics.median(browser) / native, 3)
        self.report.row("  of which for a page with nothing in it", f"{statistics.median(empty):.2f} s")
        self.report.row("  on the clock", f"{statistics.median(walls):.2f} s")
        self.report.row("what travels of the page until the records are shown", f"{wire / 1000:.1f} kB", wire / WIRE, 1)

    def person(self, guest, *arguments):
        return consumed([str(self.options.command or self.options.sealkit), *arguments, "--json", "--key-file", str(guest.key_file)], self.world.environment())


def story(options, only, **more):
    """One of the stories of tests.py, with worlds of its own; gives what it prints."""
    print(flush=True)
    process = subprocess.Popen(
        [sys.executable, "-B", str(REPOSITORY / "Tests/Web/tests.py"), "--sealkit", str(options.sealkit)], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "ONLY": only, **more})
    printed = ""
    for line in process.stdout:
        print(line, end="", flush=True)
        printed += line
    that(process.wait() == 0, f"{only} failed")
    return printed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sealkit", type=pathlib.Path, required=True, help="the server, with the web client in it")
    parser.add_argument("--bench", type=pathlib.Path, required=True, help="SealBench")
    parser.add_argument("--command", type=pathlib.Path, help="another sealkit for the command line's part")
    parser.add_argument("--strict", action="store_true", help="end with 1 where an aim is not met; else that is only said, since a busy machine misses some")
    options = parser.parse_args()
    only, minutes = os.environ.get("ONLY"), float(os.environ.get("MINUTES") or 10)
    wanted = lambda name: only in (None, "", name)  # noqa: E731
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sealkit-web-bench-"))
    report = None
    try:
        with sync_playwright() as playwright:
            world = World(options.sealkit.resolve(), folder)
            try:
                bench = Bench(options, world, playwright)
                report = bench.report
                if wanted("cold"):
                    bench.cold()
                if wanted("records"):
                    bench.records()
            finally:
                world.close()
        if wanted("files"):
            report.heading(f"A file of {MEBIBYTES} MiB down and up: the module's memory, against 64 MiB")
            (memory,) = re.findall(r"the module's memory (\d+) MiB", story(options, "files_of_any_size", MIB=str(MEBIBYTES)))
            report.row("the module's memory", f"{memory} MiB", int(memory) / 64, 1)
        if wanted("browsers") and minutes > 0:
            report.heading(f"Two browsers and a command line edit one zone for {minutes:g} minutes, by random steps")
            story(options, "two_browsers", MINUTES=str(minutes))
            report.row("they agree in the end", "yes")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if report.finish() and options.strict:
        sys.exit(1)


if __name__ == "__main__":
    main()
