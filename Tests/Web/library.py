"""The library for web apps, as Web/pack packs it: in node, in a page of another origin, and in the examples."""

import collections
import contextlib
import functools
import http.server
import json
import os
import random
import shutil
import subprocess
import threading
import time

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from console import RULES
from sharing import SharingTests
from world import REPOSITORY, Person, that
from processes import serving

EXAMPLES = REPOSITORY / "Examples/web"
SHORT = 24
# A client in a page: what it has seen, and steps from there.
CLIENT = """async url => {
    const { default: CloudKit } = await import('./sealkit/library/sealkit.mjs');
    CloudKit.configure({ containers: [{ containerIdentifier: 'org.sealkit.notes', environment: 'development', server: new URL(url).origin }] });
    const container = CloudKit.getDefaultContainer();
    if (!await container.isInWorker) throw new Error('all is done on the thread of the page');
    await container.createAccount({ recoveryKey: await container.newRecoveryKey() });
    const { results: [{ zoneID }], errors } = await container.acceptShares(url);
    if (errors.length > 0) throw errors[0];
    const database = container.sharedCloudDatabase;
    let seen = new Map();
    const all = async () => {
        const { records, errors } = await database.fetchRecordZoneChanges({ zoneID });
        if (errors.length > 0) throw errors[0];
        return new Map(records.map(record => [record.recordName, record]));
    };
    window.look = async () => {
        seen = await all();
        return Object.fromEntries([...seen].map(([name, { encryptedFields }]) => [name, encryptedFields.title.value]));
    };
    window.change = async ({ op, name, title }) => {
        const recordChangeTag = seen.get(name)?.recordChangeTag ?? 'unseen';
        const outcome = op === 'delete' ? await database.deleteRecords({ recordName: name, recordChangeTag }, { zoneID })
            : await database.saveRecords(op === 'create' ? { recordType: 'Note', encryptedFields: { title } }
                : { recordName: name, recordChangeTag, encryptedFields: { title } }, { zoneID });
        if (!outcome.hasErrors) {
            const [record] = outcome.records;
            if (op === 'delete') seen.delete(name); else seen.set(record.recordName, record);
            return { code: '', name: record.recordName };
        }
        const now = (await all()).get(name)?.recordChangeTag;
        return { code: outcome.errors[0].ckErrorCode, server: outcome.errors[0].serverErrorCode, wasStale: now !== recordChangeTag };
    };
    await look();
}"""

# An account of its own, and a zone of so many records that reading them takes a while.
LARGE = """async ({ server, count }) => {
    const { default: CloudKit, Asset } = await import('./sealkit/library/sealkit.mjs');
    window.begin = worker => {
        CloudKit.configure({ containers: [{ containerIdentifier: 'org.sealkit.notes', environment: 'development', server, ...!worker && { worker } }] });
        return CloudKit.getDefaultContainer();
    };
    const [container, zone] = [begin(true), { zoneID: { zoneName: 'Large' } }];
    const key = await container.newRecoveryKey();
    const me = await container.createAccount({ recoveryKey: key });
    const database = container.privateCloudDatabase;
    const all = answer => { if (answer.hasErrors) throw answer.errors[0]; return answer.records; };
    all(await database.saveRecordZones({ zoneName: 'Large' }));
    const fields = number => Object.fromEntries(Array.from({ length: 10 }, (_, field) => [`field${field}`, `text ${number} ${field}`]));
    all(await database.saveRecords(Array.from({ length: count }, (_, number) => ({ recordType: 'Note', encryptedFields: fields(number) })), zone));

    // How long the page's thread does nothing else while a zone is read.
    window.read = async worker => {
        const container = begin(worker);
        await container.signIn({ recoveryKey: key });
        let [last, longest] = [performance.now(), 0];
        const timer = setInterval(() => {
            const now = performance.now();
            [last, longest] = [now, Math.max(longest, now - last)];
        });
        const { records } = await container.privateCloudDatabase.fetchRecordZoneChanges(zone);
        clearInterval(timer);
        return { longest, count: records.length, isInWorker: await container.isInWorker };
    };

    // A file of two parts, there and back, and as it is once more.
    const bytes = new Uint8Array(9 * 1024 * 1024 + 5).map((_, place) => place * 31 + (place >> 8));
    const [sent, read, posted] = [[], [], []];
    const [made] = all(await database.saveRecords({ recordType: 'Note', fields: { file: new File([bytes], 'large.bin') }, encryptedFields: { title: 'A file' } },
        { ...zone, onProgress: told => sent.push(told) }));
    const [again] = all(await database.saveRecords({ ...made, encryptedFields: { title: 'The same' } }, zone));
    const back = new Uint8Array(await (await again.fields.file.value.blob({ onProgress: told => read.push(told) })).arrayBuffer());
    const opened = await again.fields.file.value.open();
    // The same where everybody may read it, in a worker as well.
    const everybody = container.publicCloudDatabase;
    const [exhibit] = all(await everybody.saveRecords({ recordType: 'Exhibit', fields: { file: new Blob([bytes]) } }, { onProgress: told => posted.push(told) }));
    const [same] = all(await everybody.saveRecords({ ...exhibit, fields: { ...exhibit.fields, title: 'The same' } }));
    const shown = await same.fields.file.value.open({ onProgress: told => read.push(told) });
    const [part, total] = [8 * 1024 * 1024, bytes.length];
    const hears = [sent, posted].map(told => JSON.stringify(told) === JSON.stringify([part, total].map(bytes => ({ fieldName: 'file', bytes, total }))))
        .concat(read.filter(({ bytes, total: all }) => bytes === total && all === total).length === 2);
    const deaf = await database.saveRecords({ recordType: 'Note' }, { ...zone, onProgress: 5 }).catch(error => error.ckErrorCode);
    const isSame = [back, opened, shown].every(one => one.length === bytes.length && one.every((byte, place) => byte === bytes[place]));

    // What an error has, and what an app throws itself, come through as they are.
    const stale = (await database.saveRecords({ ...made, fields: { file: new Blob(['x']) } }, zone)).errors[0];
    const bad = await database.saveRecords({ recordType: 'Note', fields: { wrong: () => 0 } }, zone).catch(error => error.ckErrorCode);
    const share = await container.share(zone.zoneID);
    const unread = (() => { try { return share.shown; } catch (error) { return error.ckErrorCode; } })();
    const { isShared } = await share.refresh();
    const out = container.whenUserSignsOut();
    const user = container.userRecordName;
    await container.signOut();
    await out;
    return {
        isSame, isAsset: again.fields.file.value instanceof Asset, stale: [stale.ckErrorCode, stale.serverRecord.encryptedFields.title.value, stale.serverRecord.fields.file.value instanceof Asset],
        bad, deaf, hears, unread, isShared, shown: share.shown.isShared, user: user === me.userRecordName, left: container.userRecordName,
        late: await database.fetchRecords('a', zone).catch(error => error.ckErrorCode),
    };
}"""
# Somebody who is asked for an address, and does not say one.
REFUSING = """async url => {
    const { default: CloudKit } = await import('./sealkit/library/sealkit.mjs');
    CloudKit.configure({ containers: [{ containerIdentifier: 'org.sealkit.notes', environment: 'development', server: new URL(url).origin }] });
    const container = CloudKit.getDefaultContainer();
    await container.createAccount({ recoveryKey: await container.newRecoveryKey() });
    const own = new Error('not now');
    const verify = { address: () => { throw own; }, code: () => '' };
    const caught = await container.acceptShares(url, { verify }).catch(error => error);
    return { isOwn: caught === own, isInWorker: await container.isInWorker };
}"""
SHORT_ZONE = 400


class LibraryTests(SharingTests):
    @functools.cached_property
    def package(self):
        """The package, unpacked where there is nothing else."""
        folder = self.world.folder / "library"
        subprocess.run([str(REPOSITORY / "Web/pack"), str(folder / "packed")], check=True, stdout=subprocess.DEVNULL)
        (folder / "installed").mkdir()
        subprocess.run(["tar", "--extract", "--file", str(folder / "packed/sealkit.tgz"), "--directory", str(folder / "installed")], check=True)
        return folder / "installed/package"

    @contextlib.contextmanager
    def pages(self, folder):
        """A folder at an origin of its own."""

        class Files(http.server.SimpleHTTPRequestHandler):
            extensions_map = {".mjs": "text/javascript", ".html": "text/html", ".wasm": "application/wasm"}

            def log_message(self, *_):
                pass

        with serving(functools.partial(Files, directory=str(folder))) as origin:
            yield origin

    @contextlib.contextmanager
    def talk(self, *arguments):
        """A script of node's; its lines, and where to write what it is answered."""
        node = subprocess.Popen(["node", *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=self.world.environment())
        watch = threading.Timer(120, node.kill)
        watch.start()
        try:
            yield node
            node.stdin.close()
            that(node.wait(60) == 0, f"node ended with {node.returncode}: {node.stderr.read()[-3000:]}")
        finally:
            watch.cancel()
            node.kill()
            node.wait()

    def check_by_axe(self, page, name):
        found = Axe().run(page, options=RULES).response["violations"]
        that(not found, f"{name}: {[(one['id'], one['nodes'][0]['html'][:160]) for one in found]}")

    def shared(self, owner, zone, title, *entries):
        owner("zone", "create", zone)
        for name, *fields in entries:
            owner.save(name, *fields, zone=zone)
        owner("share", "create", zone, "--title", title)

    def test_the_library_in_node(self):
        mail = ("--smtp-url", f"smtp://127.0.0.1:{self.world.mailbox.port}", "--smtp-from", "codes@example.org", "--smtp-starttls", "off")
        picture = self.world.folder / "picture.txt"
        picture.write_text("asset " * 1000)
        with self.server("server-node", *mail) as origin:
            owner = Person(self.world, "uli")
            owner.user = owner("account", "create", "--server", origin)[0]["userRecordName"]
            self.shared(owner, "Fair", "The fair", ("stall", "--seal", "title=Left"))
            owner("share", "public", "Fair", "readOnly")
            self.shared(owner, "Trip", "The trip", ("first", "--seal", "title=Before", "--set", "stars:int=5"), ("picture", "--asset", f"file={picture}"))
            facts = {
                "library": str(self.package), "folder": str(self.world.folder), "token": str(self.world.folder / "server-node.secrets/management.token"),
                "server": origin, "shy": "http://localhost:1", "owner": owner.user,
                "invited": owner.invite("vera@example.org", permission="readWrite"), "open": owner("share", "url", "Fair")[0]["url"],
                "other": self.ann.invite("vera@example.org"), "nothing": "AAAAA-" * 3, "ownersKey": owner("account", "recovery-key")[0]["recoveryKey"],
            }
            last = ""
            with self.talk(REPOSITORY / "Tests/Web/library/node.mjs", json.dumps(facts)) as node:
                for line in node.stdout:
                    told = json.loads(line)
                    if "step" in told:
                        last = told["step"]
                        continue
                    if told.get("done"):
                        break
                    answer = self.world.code(told["code"]) if "code" in told else owner(*told["sealkit"])
                    node.stdin.write(json.dumps(answer) + "\n")
                    node.stdin.flush()
                else:
                    that(False, f"{last}: {node.stderr.read()[-3000:]}")

    @contextlib.contextmanager
    def app(self):
        """The example's folder, with the package, at an origin that a server is told; the server's owner shares notes."""
        folder = self.world.folder / "app"
        if not folder.exists():
            shutil.copytree(EXAMPLES, folder)
            shutil.copytree(self.package, folder / "sealkit")
        mail = ("--smtp-url", f"smtp://127.0.0.1:{self.world.mailbox.port}", "--smtp-from", "codes@example.org", "--smtp-starttls", "off")
        with self.pages(folder) as site, self.server(f"server-app-{site.rsplit(':', 1)[1]}", "--web-origin", site, *mail) as origin:
            owner = Person(self.world, f"wim-{site.rsplit(':', 1)[1]}")
            owner.user = owner("account", "create", "--server", origin)[0]["userRecordName"]
            self.shared(owner, "Notes", "Our notes", ("bread", "--seal", "title=Buy bread"))
            yield folder, site, origin, owner

    def test_the_example_page_edits_a_zone_live(self):
        with self.app() as (_, site, origin, owner), self.guest("xeno") as xeno:
            url = owner.invite("xeno@example.org", zone="Notes", permission="readWrite")
            xeno.page.on("dialog", lambda dialog: dialog.accept("xeno@example.org" if "invited" in dialog.message else self.world.code("xeno@example.org")))
            xeno.open(site)
            self.check_by_axe(xeno.page, "before a link is opened")
            xeno.page.get_by_label("Link").fill(url)
            xeno.page.get_by_label("Name").fill("Xeno")
            xeno.page.get_by_label("Passphrase").fill("correct horse battery staple")
            xeno.press("Make an account")
            notes = xeno.page.get_by_label("Note", exact=True)
            expect(xeno.page.get_by_role("heading", name="Our notes")).to_be_visible(timeout=60_000)
            expect(notes).to_have_count(1)
            expect(notes.first).to_have_value("Buy bread")
            xeno.page.get_by_label("New note").fill("Water the plants")
            xeno.page.get_by_label("With a file").set_input_files({"name": "plan.txt", "mimeType": "text/plain", "buffer": b"each Monday " * 1000})
            xeno.press("Add")
            expect(notes).to_have_count(2)
            expect(xeno.page.locator("#problem")).to_be_empty()
            with xeno.page.expect_download() as saved:
                xeno.press("Save the file")
            that(saved.value.path().read_bytes() == b"each Monday " * 1000, "another file is saved than was added")
            notes.first.fill("Buy two breads")
            notes.first.press("Enter")
            expect(notes.first).to_have_value("Buy two breads")
            that("Buy two breads" in str(owner("record", "get", "bread", "--zone", "Notes")), "the command line reads something else")
            # What others do is there without being asked for.
            owner.save("tea", "--seal", "title=Drink tea", zone="Notes")
            expect(notes).to_have_count(3, timeout=20_000)
            self.check_by_axe(xeno.page, "with notes")
            xeno.page.get_by_role("button", name="Delete").last.click()
            expect(notes).to_have_count(2)
            that("Water the plants" not in str(owner("record", "list", "--zone", "Notes")), "the note is still there")
            that(any(one.url.startswith(origin + "/database/") for one in xeno.requests), "the server was not called")
            # An address is to be proven first, and a browser looks for an icon.
            self.check_no_secret(xeno, url, may_fail=("403", "404"))

    def test_the_example_for_node(self):
        with self.app() as (folder, _, origin, owner):
            url = owner.invite("yara@example.org", zone="Notes", permission="readWrite")
            answers = {
                "The link:": lambda: url, "Your recovery key": lambda: "", "Where were you invited?": lambda: "yara@example.org",
                "The code": lambda: self.world.code("yara@example.org"), "A new note": lambda: "Call the plumber",
            }
            seen = []
            with self.talk(folder / "notes.mjs", origin, "org.sealkit.notes", "development") as node:
                key = ""
                for line in node.stdout:
                    seen.append(line.strip())
                    if line.startswith("Write this down: "):
                        key = line.split(": ")[1].strip()
                    if line.startswith("Waiting"):
                        owner.save("milk", "--seal", "title=Buy milk", zone="Notes")
                    answer = key if line.startswith("Type it") else next((give() for text, give in answers.items() if line.startswith(text)), None)
                    if answer is not None:
                        node.stdin.write(answer + "\n")
                        node.stdin.flush()
            text = "\n".join(seen)
            that("Our notes:" in text and "- Buy bread" in text and "- Call the plumber" in text and "- Buy milk" in text, text)
            that("Call the plumber" in str(owner("record", "list", "--zone", "Notes")), "the command line reads something else")

    def test_a_large_zone_and_files_in_a_page(self):
        with self.app() as (folder, site, origin, owner), self.guest("abel") as abel:
            abel.page.goto(site)
            told = abel.page.evaluate(LARGE, {"server": origin, "count": SHORT_ZONE})
            that(told == {
                "isSame": True, "isAsset": True, "stale": ["CONFLICT", "The same", True], "bad": "BAD_REQUEST", "deaf": "BAD_REQUEST", "hears": [True, True, True], "unread": "BAD_REQUEST", "isShared": False,
                "shown": False, "user": True, "left": "", "late": "AUTHENTICATION_REQUIRED",
            }, str(told))
            reads = {worker: [abel.page.evaluate("worker => read(worker)", worker) for _ in range(3)] for worker in (True, False)}
            that(all(one["count"] == SHORT_ZONE + 1 and one["isInWorker"] == worker for worker, ones in reads.items() for one in ones), str(reads))
            held = {worker: min(one["longest"] for one in ones) for worker, ones in reads.items()}
            print(f"    {SHORT_ZONE} records: the page is held up {held[True]:.0f} ms, and {held[False]:.0f} ms without a worker", flush=True)
            that(held[True] < held[False] / 2, f"reading a zone holds up its page: {held}")
            url = owner.invite("abel@example.org", zone="Notes")
            that(abel.page.evaluate(REFUSING, url) == {"isOwn": True, "isInWorker": True}, "what the app throws is not what it is told")
            # Where a policy lets no worker start, all of it is done on the page's thread.
            (folder / "alone.html").write_text('<meta http-equiv="Content-Security-Policy" content="worker-src \'none\'">')
            abel.page.goto(f"{site}/alone.html")
            that(abel.page.evaluate(REFUSING, url) == {"isOwn": True, "isInWorker": False}, "without a worker nothing is done")

    def test_two_browsers_and_a_command_line_edit_one_zone(self):
        """Random steps, some of them at once; SEED repeats a run, MINUTES makes it longer than its short form."""
        seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
        minutes = float(os.environ.get("MINUTES") or 0)
        print(f"    SEED={seed}", flush=True)
        draw = random.Random(seed)
        with self.app() as (_, site, _, owner), self.guest("zoe") as zoe, self.guest("zac") as zac:
            owner("share", "public", "Notes", "readWrite")
            url = owner("share", "url", "Notes")[0]["url"]
            browsers = [zoe.page, zac.page]
            for page in browsers:
                page.goto(site)
                page.evaluate(CLIENT, url)
            # What was stored last of each note; what each browser has seen is its own.
            model = {"bread": "Buy bread"}
            begun, steps, conflicts, counts = time.monotonic(), 0, 0, collections.Counter()
            while steps < SHORT if minutes == 0 else time.monotonic() - begun < 60 * minutes:
                steps += 1
                title = f"Note {steps} {draw.randrange(1000)}"
                name = draw.choice(sorted(model)) if model else None
                kind = draw.choices(("create", "change", "delete", "both", "command line", "look"), (2, 4, 1, 3, 2, 2))[0] if name else "create"
                counts[kind] += 1
                page = draw.choice(browsers)
                if kind == "look":
                    page.evaluate("() => look()")
                elif kind == "command line":
                    owner.save(name, "--update", "--seal", f"title={title}", zone="Notes")
                    model[name] = title
                elif kind == "both":
                    for one in browsers:
                        one.evaluate("() => look()")
                    first, second = draw.sample(browsers, 2)
                    first.evaluate("step => { window.pending = step && change(step); }", {"op": "change", "name": name, "title": title + "a"})
                    outcomes = [(second.evaluate("step => change(step)", {"op": "change", "name": name, "title": title + "b"}), title + "b")]
                    outcomes.append((first.evaluate("() => pending"), title + "a"))
                    stored = [text for told, text in outcomes if told["code"] == ""]
                    that(len(stored) == 1 and {told["code"] for told, _ in outcomes} == {"", "CONFLICT"}, f"step {steps} of {seed}: {outcomes}")
                    model[name] = stored[0]
                    conflicts += 1
                else:
                    told = page.evaluate("step => change(step)", {"op": kind, "name": name, "title": title})
                    if told["code"] == "":
                        if kind == "delete":
                            del model[name]
                        else:
                            model[told["name"]] = title
                    else:
                        # Only what this browser had not seen yet stands in the way, and it changed nothing.
                        that(kind != "create" and told["code"] in ("CONFLICT", "NOT_FOUND") and told["wasStale"], f"step {steps} of {seed}: {kind} {told}")
                        conflicts += 1
            views = [page.evaluate("() => look()") for page in browsers]
            listed = [line["record"] for line in owner("record", "list", "--zone", "Notes") if "record" in line]
            views.append({record["recordName"]: record["fields"]["title"]["value"] for record in listed if record["recordType"] == "Note"})
            for who, view in zip(("one browser", "the other browser", "the command line"), views):
                that(view == model, f"SEED={seed}: after {steps} steps {who} has {view}, and not {model}")
            print(f"    {steps} steps, {conflicts} conflicts, {len(model)} notes in the end: {dict(counts)}", flush=True)
            for guest in (zoe, zac):
                self.check_no_secret(guest, url, may_fail=("404",))
