"""The library for web apps, as Web/pack packs it: in node, in a page of another origin, and in the examples."""

import contextlib
import functools
import http.server
import json
import shutil
import subprocess
import threading

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Error, expect

from console import RULES
from sharing import SharingTests
from world import REPOSITORY, Person, that
from browser import add_authenticator
from processes import serving

EXAMPLES = REPOSITORY / "Examples/web"
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

    window.read = async worker => {
        const container = begin(worker);
        await container.signIn({ recoveryKey: key });
        const { records } = await container.privateCloudDatabase.fetchRecordZoneChanges(zone);
        return { count: records.length, isInWorker: await container.isInWorker };
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
# Where something that is configured can go to no worker, and where the worker ends in the middle.
WITHOUT_WORKER = """async server => {
    const { default: CloudKit } = await import('./sealkit/library/sealkit.mjs');
    const begin = more => {
        CloudKit.configure({ containers: [{ containerIdentifier: 'org.sealkit.notes', environment: 'development', server, ...more }] });
        return CloudKit.getDefaultContainer();
    };
    const alone = begin({ wrong: () => 0 });
    const isAlone = !await alone.isInWorker && await alone.setUpAuth() === null;
    const detached = new Uint8Array(await (await fetch('./sealkit/core.wasm')).arrayBuffer());
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    const refused = await begin({ module: detached }).setUpAuth().catch(error => error.ckErrorCode);
    // Whoever configures again signs out, and has another worker.
    const before = begin();
    await before.createAccount({ recoveryKey: await before.newRecoveryKey() });
    const replaced = before.whenUserSignsOut();
    const more = { environment: 'development', server };
    CloudKit.configure({ containers: [{ ...more, containerIdentifier: 'org.sealkit.notes' }, {
        ...more, containerIdentifier: 'org.sealkit.lists', devices: { load: async () => ({}), keep: () => new Promise(() => {}) },
    }] });
    await replaced;
    let late = '';
    while (late === '') late = await before.setUpAuth().then(() => '', error => error.ckErrorCode);
    const [container, waiting] = CloudKit.getAllContainers();
    window.container = container;
    await container.createAccount({ recoveryKey: await container.newRecoveryKey() });
    window.out = container.whenUserSignsOut().then(() => 'out');
    window.last = waiting.createAccount({ recoveryKey: await waiting.newRecoveryKey() }).catch(error => error.ckErrorCode);
    // What has gone wrong there says so here.
    const { errors: [fault] } = await container.publicCloudDatabase.saveRecords([null]);
    return [isAlone, refused, late, fault.ckErrorCode, fault.cause.name];
}"""
ENDED = """async () => [await out, await last, container.userRecordName, await container.setUpAuth().catch(error => error.ckErrorCode)]"""
# Somebody whose account comes back by a passkey, in a worker and without one.
PASSKEYS = """async server => {
    const { default: CloudKit } = await import('./sealkit/library/sealkit.mjs');
    const begin = more => {
        CloudKit.configure({ containers: [{ containerIdentifier: 'org.sealkit.notes', environment: 'development', server, ...more }] });
        return CloudKit.getDefaultContainer();
    };
    const of = error => error.ckErrorCode ?? String(error);
    const container = begin();
    // Of somebody who has a passkey, and no account by it.
    const { userRecordName } = await container.createAccount({ passkey: true });
    const zone = { zoneID: { zoneName: 'Own' } };
    await container.privateCloudDatabase.saveRecordZones({ zoneName: 'Own' });
    await container.privateCloudDatabase.saveRecords({ recordType: 'Note', recordName: 'a', encryptedFields: { title: 'Kept' } }, zone);
    const twice = await container.signIn({ passkey: true }).catch(of);
    await container.signOut();
    const again = [];
    for (const more of [{}, { worker: false }]) {
        const one = begin(more);
        const me = await one.signIn({ passkey: true });
        const { records: [{ encryptedFields }] } = await one.privateCloudDatabase.fetchRecords('a', zone);
        again.push(await one.isInWorker, me.userRecordName === userRecordName, encryptedFields.title.value);
        await one.signOut();
    }
    const elsewhere = await begin({ server: 'https://notes.example.org' }).signIn({ passkey: true }).catch(of);
    return { twice, again, elsewhere };
}"""
REFUSED_PASSKEY = """async server => {
    const { default: CloudKit } = await import('./sealkit/library/sealkit.mjs');
    CloudKit.configure({ containers: [{ containerIdentifier: 'org.sealkit.notes', environment: 'development', server }] });
    return CloudKit.getDefaultContainer().createAccount({ passkey: true }).then(() => 'made', error => error.ckErrorCode);
}"""
# An account that comes from another device: what is to be shown and said is outside.
ENROLLING = """async server => {
    const { default: CloudKit } = await import('./sealkit/library/sealkit.mjs');
    CloudKit.configure({ containers: [{ containerIdentifier: 'org.sealkit.notes', environment: 'development', server }] });
    Object.assign(window, { invitation: '', digits: '', came: '' });
    void CloudKit.getDefaultContainer().enrol({ verify: {
        invitation: text => { window.invitation = text; },
        digits: text => new Promise(resolve => Object.assign(window, { digits: text, say: resolve })),
    } }).then(me => { window.came = me.userRecordName; }, error => { window.came = error.ckErrorCode ?? String(error); });
}"""
SHORT_ZONE = 200


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
        watch = threading.Timer(600, node.kill)
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
                    answer = self.world.code(told["code"], told["after"]) if "code" in told else owner(*told["sealkit"])
                    node.stdin.write(json.dumps(answer) + "\n")
                    node.stdin.flush()
                else:
                    that(False, f"{last}: {node.stderr.read()[-3000:]}")

    def app_folder(self):
        """The examples, with the package."""
        folder = self.world.folder / "app"
        if not folder.exists():
            shutil.copytree(EXAMPLES, folder)
            shutil.copytree(self.package, folder / "sealkit")
        return folder

    @contextlib.contextmanager
    def app(self):
        """The example's folder at an origin that a server is told; the server's owner shares notes."""
        folder = self.app_folder()
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
            # What was typed is shown before it is stored.
            xeno.until(lambda: "Buy two breads" in str(owner("record", "get", "bread", "--zone", "Notes")), "the command line reads something else")
            # What others do is there without being asked for.
            owner.save("tea", "--seal", "title=Drink tea", zone="Notes")
            expect(notes).to_have_count(3)
            self.check_by_axe(xeno.page, "with notes")
            xeno.page.get_by_role("button", name="Delete").last.click()
            expect(notes).to_have_count(2)
            xeno.until(lambda: "Water the plants" not in str(owner("record", "list", "--zone", "Notes")), "the note is still there")
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
            that(any((self.world.folder / "home/.sealkit-notes").iterdir()), "nothing is kept of what was verified")

    def test_a_large_zone_and_files_in_a_page(self):
        with self.app() as (folder, site, origin, owner), self.guest("abel") as abel:
            abel.page.goto(site)
            told = abel.page.evaluate(LARGE, {"server": origin, "count": SHORT_ZONE})
            that(told == {
                "isSame": True, "isAsset": True, "stale": ["CONFLICT", "The same", True], "bad": "BAD_REQUEST", "deaf": "BAD_REQUEST", "hears": [True, True, True], "unread": "BAD_REQUEST", "isShared": False,
                "shown": False, "user": True, "left": "", "late": "AUTHENTICATION_REQUIRED",
            }, str(told))
            # Of the processors' time, since whoever else is at the machine holds up a page as well.
            tools = abel.context.new_cdp_session(abel.page)
            tools.send("Performance.enable", {"timeDomain": "threadTicks"})
            used = lambda: next(one["value"] for one in tools.send("Performance.getMetrics")["metrics"] if one["name"] == "TaskDuration")  # noqa: E731
            held = {}
            for worker in (True, False):
                before = used()
                read = abel.page.evaluate("worker => read(worker)", worker)
                held[worker] = 1000 * (used() - before)
                that(read == {"count": SHORT_ZONE + 1, "isInWorker": worker}, str(read))
            print(f"    {SHORT_ZONE} records: the page's thread works for {held[True]:.0f} ms, and {held[False]:.0f} ms without a worker", flush=True)
            that(0 < held[True] < held[False] / 2, f"reading a zone holds up its page: {held}")
            url = owner.invite("abel@example.org", zone="Notes")
            that(abel.page.evaluate(REFUSING, url) == {"isOwn": True, "isInWorker": True}, "what the app throws is not what it is told")
            # Where a policy lets no worker start, all of it is done on the page's thread.
            (folder / "alone.html").write_text('<meta http-equiv="Content-Security-Policy" content="worker-src \'none\'">')
            abel.page.goto(f"{site}/alone.html")
            that(abel.page.evaluate(REFUSING, url) == {"isOwn": True, "isInWorker": False}, "without a worker nothing is done")

    def test_a_worker_that_cannot_start_or_ends(self):
        with self.app() as (_, site, origin, _), self.guest("noah") as noah:
            noah.page.goto(site)
            told = noah.page.evaluate(WITHOUT_WORKER, origin)
            that(told == [True, "BAD_REQUEST", "BAD_REQUEST", "INTERNAL_ERROR", "TypeError"], f"with what can go to no worker: {told}")
            workers = noah.page.workers
            that(len(workers) > 0, "there is no worker")
            for worker in workers:
                # One that was refused what is configured has ended already.
                with contextlib.suppress(Error):
                    worker.evaluate("() => { setTimeout(() => { throw new Error('a fault') }) }")
            told = noah.page.evaluate(ENDED)
            that(told == ["out", "INTERNAL_ERROR", "", "INTERNAL_ERROR"], f"where the worker has ended: {told}")

    def test_the_library_takes_an_account_by_passkey_or_from_a_device(self):
        with self.app() as (_, site, origin, owner), self.guest("paul") as paul:
            paul.page.goto(site)
            told = paul.page.evaluate(PASSKEYS, origin)
            that(told == {"twice": "BAD_REQUEST", "again": [True, True, "Kept", False, True, "Kept"], "elsewhere": "BAD_REQUEST"}, f"{told}")
            for other, code in (({"hasPrf": False}, "BAD_REQUEST"), ({"isUserVerified": False}, "TRY_AGAIN_LATER")):
                page = paul.context.new_page()
                add_authenticator(page, **other)
                page.goto(site)
                that((told := page.evaluate(REFUSED_PASSKEY, origin)) == code, f"a passkey with {other}: {told}")
                page.close()
            for agrees in (False, True):
                paul.page.evaluate(ENROLLING, origin)
                paul.until(lambda: paul.page.evaluate("invitation"), "there is no invitation")
                old = owner.approving(paul.page.evaluate("invitation"))
                paul.until(lambda: paul.page.evaluate("digits"), "there are no digits")
                digits = paul.page.evaluate("digits")
                that(json.loads(old.stdout.readline())["code"] == digits, "the two devices show different digits")
                paul.page.evaluate("agrees => say(agrees)", agrees)
                if not agrees:
                    paul.until(lambda: paul.page.evaluate("came"), "nothing came of it")
                old.stdin.write(f"{digits}\n")
                old.stdin.close()
                that((old.wait(60) == 0) == agrees, f"the other device has handed it over, or not: {old.stderr.read()}")
                paul.until(lambda: paul.page.evaluate("came"), "nothing came of it")
                that(paul.page.evaluate("came") == (owner.user if agrees else "TRY_AGAIN_LATER"), f"what came is {paul.page.evaluate('came')}")

    def test_samples_that_were_written_for_cloudkit_js(self):
        with self.app() as (_, site, origin, _), self.guest("cora") as cora, self.guest("carl") as carl:
            cora.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site)

            def run(guest, sample, *, isAnswered=True, **fields):
                form = guest.page.locator("#sample")
                form.get_by_label("Sample").select_option(sample)
                for name, value in fields.items():
                    field = form.locator(f"[name={name}]")
                    field.select_option(value) if name == "databaseScope" else field.fill(value)
                guest.press("Run")
                if not isAnswered:
                    return None
                response = guest.page.locator("#response")
                expect(response).not_to_be_empty(timeout=60_000)
                told = json.loads(response.inner_text())
                that(not (isinstance(told, dict) and told.get("error")), f"{sample}: {told}")
                return told

            for guest in (cora, carl):
                guest.page.goto(f"{site}/catalog.html?server={origin}")
                guest.press("Make an account")
                expect(guest.page.get_by_text("Signed in as")).to_be_visible(timeout=60_000)
            self.check_by_axe(cora.page, "the samples")
            that(run(cora, "demoSaveRecordZones")["zones"][0]["zoneID"]["zoneName"] == "Groceries", "another zone was made")
            that("Groceries" in str(run(cora, "demoFetchAllRecordZones")), "there is no zone")
            bread = self.world.canaries.word("what is bought")
            [made] = run(cora, "demoSaveRecords", name=bread, quantity="2")["records"]
            run(cora, "demoSaveRecords", name="Apples", quantity="1")
            [found] = run(cora, "demoPerformQuery", quantity="2")["records"]
            that(found["encryptedFields"]["name"]["value"] == bread and found["recordName"] == made["recordName"], f"{found}")
            [again] = run(cora, "demoSaveRecords", recordName=made["recordName"], recordChangeTag=made["recordChangeTag"], name=bread + " and butter", quantity="2")["records"]
            that(run(cora, "demoFetchRecords")["records"][0]["recordChangeTag"] == again["recordChangeTag"] != made["recordChangeTag"], "it was not changed")
            run(cora, "demoSaveSubscriptions")
            that("groceries" in str(run(cora, "demoFetchAllSubscriptions")), "there is no subscription")
            that(run(cora, "demoRegisterForNotifications")["isRegisteredForNotifications"], "it hears nothing")
            token = run(cora, "demoFetchRecordZoneChanges")["syncToken"]

            run(cora, "demoShareWithUI", isAnswered=False)
            sheet = cora.page.get_by_role("dialog")
            sheet.get_by_role("button", name="Share", exact=True).click()
            sheet.get_by_label("What anybody with the link may do").select_option("READ_WRITE")
            sheet.locator(".link").get_by_role("button", name="Save").click()
            expect(sheet.get_by_text("While the link is open nobody is invited by name.")).to_be_visible(timeout=60_000)
            sheet.locator(".link").get_by_role("button", name="Copy link").click()
            expect(sheet.get_by_text("The link is copied.")).to_be_visible()
            url = cora.page.evaluate("navigator.clipboard.readText()")
            cora.page.keyboard.press("Escape")
            expect(sheet).to_have_count(0)

            [info] = run(carl, "demoFetchRecordInfos", shareURL=url)["results"]
            that((info["shareTitle"], info["participantStatus"]) == ("Groceries", "PENDING"), f"{info}")
            that(run(carl, "demoAcceptShares")["results"][0]["participantPermission"] == "READ_WRITE", "the seat is another")
            owned = {"databaseScope": "SHARED", "ownerRecordName": info["zoneID"]["ownerRecordName"]}
            [found] = run(carl, "demoPerformQuery", quantity="2", **owned)["records"]
            that(found["encryptedFields"]["name"]["value"] == bread + " and butter", f"{found}")
            run(carl, "demoSaveRecords", recordName="", recordChangeTag="", name="Cheese", quantity="3", **owned)
            expect(cora.page.locator("#notifications li").first).to_contain_text("groceries", timeout=60_000)
            [new] = [one for one in run(cora, "demoFetchRecordZoneChanges", syncToken=token)["records"] if one.get("recordType") == "Item"]
            that(new["encryptedFields"]["name"]["value"] == "Cheese", f"{new}")
            run(cora, "demoDeleteRecords", recordName=new["recordName"])
            that(run(carl, "demoFetchRecordZoneChanges", **owned)["records"], "the zone is empty")
            that("Cheese" not in str(run(carl, "demoPerformQuery", quantity="1", **owned)), "it is still there")
            run(cora, "demoDeleteSubscriptions")
            that("groceries" not in str(run(cora, "demoFetchAllSubscriptions")), "the subscription is still there")
            that(run(cora, "demoFetchDatabaseChanges", syncToken="")["zones"], "nothing has changed")
            run(cora, "demoDeleteRecordZones")
            that("Groceries" not in str(run(cora, "demoFetchAllRecordZones")), "the zone is still there")
            that(not [line for line in cora.console if "Content Security Policy" in line or "Trusted" in line], f"the policy is broken: {cora.console}")
