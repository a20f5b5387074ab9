#!/usr/bin/env python3
"""Five people, one server, real documents: what each of them sees, and what the server does not.

Runs the built `sealkit` as separate processes: the server, and one process for every step of every person. All traffic
goes through a proxy that writes it down. In the end everything that the server kept, logged, mailed and sent or received
is searched for what only the people may know. The fifth has no more than a mail and a browser.

    .build/browser/bin/python Tests/Demo/demo.py --sealkit .build/debug/sealkit --notes .build/debug/notes        KEEP=1 keeps the folder
"""

import argparse
import fractions
import hashlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from browser import Browser, expect  # noqa: E402
from canaries import Canaries, link_secret, recovery_key_bytes, seed_bytes  # noqa: E402
from evidence import write_evidence  # noqa: E402
from mailbox import Mailbox  # noqa: E402
from processes import environment  # noqa: E402
from proxy import RecordingProxy  # noqa: E402

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
ZONE = "Documents"
BINARY_BYTES = 8 << 20
# Of the app in Examples/CloudKitNotes.
NOTES_CONTAINER = "iCloud.org.example.notes"


class Failure(Exception):
    """Something is not as this demonstration says it is."""


def say(text=""):
    print(text, flush=True)


def section(text):
    say(f"\n{text}")


class Checks:
    """What was shown so far."""

    def __init__(self):
        self.count = 0

    def ok(self, text):
        self.count += 1
        say(f"  ✓ {text}")

    def that(self, condition, text):
        if not condition:
            raise Failure(text)
        self.ok(text)


class Person:
    """Somebody with a key file of their own, at a command line of their own."""

    def __init__(self, demo, name, passphrase=None):
        self.demo = demo
        self.name = name
        self.key_file = demo.folder / "people" / name.lower() / "account.json"
        self.key_file.parent.mkdir(parents=True)
        self.passphrase_file = None
        if passphrase:
            self.passphrase_file = self.key_file.parent / "passphrase"
            self.passphrase_file.write_text(passphrase)
        self.user = None

    def __call__(self, *arguments, text=None, expect=0):
        """Runs sealkit; gives its JSON lines, or, where a failure is expected, its error."""
        command = [*arguments, "--json", "--key-file", str(self.key_file)]
        if self.passphrase_file:
            command += ["--passphrase-file", str(self.passphrase_file)]
        done = self.demo.sealkit(command, text)
        expected = expect if isinstance(expect, tuple) else (expect,)
        if done.returncode not in expected:
            raise Failure(
                f"{self.name}: sealkit {' '.join(arguments[:2])} ended with {done.returncode}, not {expect}: "
                f"{done.stderr.decode(errors='replace').strip()}")
        if expected != (0,):
            return json.loads(done.stderr.decode().strip().splitlines()[-1])["error"]
        return [json.loads(line) for line in done.stdout.decode().splitlines()]

    def create_account(self):
        made = self("account", "create", "--server", self.demo.origin)[0]
        self.user = made["userRecordName"]
        self.demo.canaries.secret(f"{self.name}'s recovery key", made["recoveryKey"].encode())
        self.demo.canaries.secret(f"{self.name}'s recovery key, typed", made["recoveryKey"].replace("-", "").encode())
        self.demo.canaries.secret(f"{self.name}'s recovery key, raw", recovery_key_bytes(made["recoveryKey"]))
        if not self.passphrase_file:
            self.demo.canaries.secret(f"{self.name}'s seed", seed_bytes(self.key_file))
        return made["recoveryKey"]

    def notes(self, *arguments):
        """Runs the CloudKit app as this person, on a device of its own; gives its lines."""
        done = self.demo.program(
            self.demo.notes, ["--folder", str(self.key_file.parent / "notes"), *arguments], SEALKIT_KEY_FILE=str(self.key_file))
        if done.returncode != 0 or done.stderr:
            raise Failure(f"{self.name}: notes {arguments[0]} ended with {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout.decode().splitlines()

    def list(self, owner=None, zone=ZONE, container=None):
        rows = self(
            "record", "list", "--zone", zone, *(["--owner", owner] if owner else []), *(["--container", container] if container else []))
        return {row["record"]["recordName"]: row["record"] for row in rows if "record" in row}


class Demo:
    def __init__(self, binary, notes, folder):
        self.binary = binary
        self.notes = notes
        self.folder = folder
        self.checks = Checks()
        self.canaries = Canaries()
        self.server = None
        self.current = None
        self.proxy = None
        self.mailbox = None
        self.browser = None
        self.started = time.monotonic()
        self.data = folder / "server" / "data"
        self.log = folder / "server" / "log"

    # Processes

    def environment(self, **more):
        return environment(self.folder / "home", self.folder / "tmp", **more)

    def sealkit(self, arguments, text=None):
        return self.program(self.binary, arguments, text)

    def program(self, binary, arguments, text=None, **environment):
        self.current = subprocess.Popen(
            [str(binary), *arguments], stdin=subprocess.PIPE if text is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment(**environment), start_new_session=True)
        try:
            out, err = self.current.communicate(text.encode() if text is not None else None, timeout=120)
            return subprocess.CompletedProcess(arguments, self.current.returncode, out, err)
        finally:
            end(self.current)
            self.current = None

    def start(self):
        for name in ("home", "tmp", "server", "traffic", "mail", "documents", "people"):
            (self.folder / name).mkdir()
        self.mailbox = Mailbox(self.folder / "mail")
        self.proxy = RecordingProxy(self.folder / "traffic")
        # Browsers have no passkeys for addresses that are numbers.
        self.origin = f"http://localhost:{self.proxy.port}"
        self.start_server()

    def start_server(self):
        self.server = subprocess.Popen(
            [
                str(self.binary), "serve", "--data", str(self.data), "--listen", "127.0.0.1:0", "--origin", self.origin,
                "--smtp-url", f"smtp://127.0.0.1:{self.mailbox.port}", "--smtp-from", "codes@demo.invalid",
                "--smtp-starttls", "off", "--log-level", "trace",
            ],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log.open("ab"), env=self.environment(),
            start_new_session=True)
        line = self.server.stdout.readline().decode().strip()
        if not line.startswith("listening on http://"):
            raise Failure(f"the server did not start: {self.log.read_text()[-500:]}")
        self.proxy.target = int(line.rsplit(":", 1)[1])

    def stop_server(self):
        self.server.send_signal(signal.SIGTERM)
        status = self.server.wait(40)
        self.checks.that(status == 0, "the server stopped in good order")

    def close(self):
        for process in (self.current, self.server):
            if process:
                end(process)
        if self.browser:
            self.browser.close()
        if self.proxy:
            self.proxy.close()
        if self.mailbox:
            self.mailbox.close()

    # The story

    def run(self):
        self.start()
        say(f"A server on this machine, behind a proxy that writes down every byte, and a mailbox. Folder: {self.folder}")
        self.accounts()
        self.documents()
        self.save_documents()
        self.share()
        self.bob_reads()
        self.carol_reads()
        self.refusals()
        self.bob_writes()
        self.erin_in_a_browser()
        self.cloudkit_app()
        self.remove_carol()
        self.recover()
        self.restart()
        self.scan()
        self.summary()

    def accounts(self):
        section("Accounts")
        word = self.canaries.word("passphrase")
        self.ann = Person(self, "Ann")
        self.bob = Person(self, "Bob", passphrase=word)
        self.carol = Person(self, "Carol")
        self.dave = Person(self, "Dave")
        self.recovery = self.ann.create_account()
        self.checks.ok(f"Ann has an account: {self.ann.user}; she wrote her recovery key down")
        self.bob.create_account()
        self.checks.that(
            json.loads(self.bob.key_file.read_text())["sealed"], f"Bob has an account, its key file sealed by a passphrase: {self.bob.user}")
        self.bob("account", "address", "add", "bob@demo.invalid", "--discoverable", "--code-command", self.mailbox.command("bob@demo.invalid"))
        self.checks.ok("Bob proved bob@demo.invalid with a code that came by mail")

    def documents(self):
        """Copies of this repository's own documents, each with a word in it that occurs nowhere else."""
        section("Documents")
        names = ["README.md", "SECURITY.md", "LICENSE", "Package.swift", "Makefile", "Sources/SealWire/sealkit.proto"]
        found = [REPOSITORY / name for name in names]
        for pattern in ("Vectors/*.md", "docs/**/*.md", "Documentation/**/*.md"):
            found += sorted(REPOSITORY.glob(pattern))
        self.files = {}
        for source in found:
            if not source.is_file() or source.stat().st_size > 700_000:
                continue
            name = str(source.relative_to(REPOSITORY)).replace("/", "-")
            text = source.read_text(errors="replace")
            self.canaries.lines(name, text)
            copy = self.folder / "documents" / name
            copy.write_text(f"{text}\n{self.canaries.word('asset ' + name)}\n")
            stamp = source.stat().st_mtime
            os.utime(copy, (stamp, stamp))
            self.files[name] = copy
        self.binary_file = self.folder / "documents" / "random.bin"
        self.binary_file.write_bytes(os.urandom(BINARY_BYTES))
        self.canaries.slices("random.bin", self.binary_file.read_bytes())
        self.checks.that(len(self.files) >= 5, f"{len(self.files)} documents of this repository, and a file of 8 MiB of random bytes")

    def fields(self, name, file):
        """Every kind of value that can be encrypted, with canaries where a value can hold one."""
        content = file.read_bytes()
        text = file.read_text(errors="replace").rsplit("\n", 2)[0]
        digest = hashlib.sha256(content).digest()
        fingerprint = int.from_bytes(digest[:8], "little", signed=True)
        minutes = len(text.split()) / 230 + digest[8] / 7919
        micros = int(file.stat().st_mtime) * 1_000_000 + int.from_bytes(digest[9:11], "little") + 7
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(micros // 1_000_000)) + f".{micros % 1_000_000:06d}".rstrip("0") + "Z"
        latitude, longitude = 52 + digest[11] / 311, 13 + digest[12] / 313
        self.canaries.integer(f"{name}: fingerprint", fingerprint)
        self.canaries.double(f"{name}: minutes", minutes)
        # A date is the double of seconds since 2001, here of a whole number of microseconds and never of whole seconds.
        self.canaries.double(f"{name}: modified", float(fractions.Fraction(micros, 1_000_000) - 978_307_200))
        self.canaries.double(f"{name}: latitude", latitude)
        words = [self.canaries.word(f"{name}: tag {index}") for index in (1, 2)]
        value = {
            "title": f"{name} {self.canaries.word(name + ': title')}", "text": f"{text}\n{self.canaries.word(name + ': text')}",
            "minutes": minutes, "modified": stamp,
        }
        arguments = [
            "--seal", f"title={value['title']}", "--seal", "text=@-", "--seal", f"modified:date={stamp}",
            "--seal", f"size:int={len(content)}", "--seal", f"fingerprint:int={fingerprint}", "--seal", f"minutes:double={minutes!r}",
            "--seal", f"place:location={latitude!r},{longitude!r}", "--seal", f"tags:list-string={','.join(words)}",
            "--seal", f"lengths:list-int={','.join(str(len(line)) for line in text.splitlines()[:8])}",
            "--seal", f"digest:data={self.canaries.data(name + ': digest', digest)}",
            "--set", f"folder={self.canaries.planted}", "--asset", f"file={file}",
        ]
        return arguments, value

    def save_documents(self):
        self.ann("zone", "create", ZONE)
        self.values = {}
        for name, file in self.files.items():
            arguments, value = self.fields(name, file)
            self.ann("record", "save", "--zone", ZONE, "--type", "Document", "--name", name, *arguments, text=value["text"])
            self.values[name] = value
        self.ann(
            "record", "save", "--zone", ZONE, "--type", "Document", "--name", "random.bin", "--asset", f"file={self.binary_file}",
            "--seal", f"title={self.canaries.word('random.bin: title')}")
        self.checks.ok(f"Ann saved {len(self.files) + 1} records: text, dates, numbers, places, lists and files, encrypted")

    def share(self):
        section("Sharing")
        title = f"Our documents {self.canaries.word('share title')}"
        self.ann("share", "create", ZONE, "--title", title)
        self.title = title
        bob = self.ann("share", "invite", ZONE, "bob@demo.invalid", "--permission", "readWrite")[0]
        carol = self.ann("share", "invite", ZONE, "carol@demo.invalid", "--permission", "readOnly")[0]
        self.checks.that(bob["isOneTime"], "Ann invites Bob, who has an account: he gets a URL of his own, good once")
        self.checks.that(carol["isOneTime"], "Ann invites Carol, who has none: she gets a URL of her own, too")
        self.bob_url, self.carol_url, self.carol_id = bob["url"], carol["url"], carol["participantID"]
        self.share_url = self.ann("share", "url", ZONE)[0]["url"]
        for name, url in (("share URL", self.share_url), ("Bob's URL", self.bob_url), ("Carol's URL", self.carol_url)):
            part, raw = link_secret(url)
            self.canaries.secret(f"{name}, after the #", part)
            self.canaries.secret(f"{name}, link secret", raw)

    def compare(self, person, name):
        """The record that somebody reads is what Ann saved, and so is its file."""
        record = person("record", "get", name, "--zone", ZONE, "--owner", self.ann.user)[0]["record"]
        got = {key: record["fields"][key]["value"] for key in self.values[name]}
        if got != self.values[name] or record["author"] != self.ann.user:
            raise Failure(f"{person.name} reads something else than Ann wrote in {name}")

    def download(self, person, name, original, owner):
        target = self.folder / "people" / person.name.lower() / f"{name}.download"
        person("record", "asset", name, "file", "--zone", ZONE, "--output", str(target), *(["--owner", owner] if owner else []))
        if target.read_bytes() != original.read_bytes():
            raise Failure(f"{person.name}'s copy of {name} differs")

    def bob_reads(self):
        preview = self.bob("share", "preview", "-", text=self.bob_url + "\n")[0]
        self.checks.that(preview["title"] == self.title and preview["permission"] == "readWrite", "Bob sees the title before he accepts")
        self.bob("share", "accept", "-", text=self.bob_url + "\n")
        records = self.bob.list(self.ann.user)
        self.checks.that(set(self.files) <= set(records), f"Bob accepted, and lists {len(records)} records")
        for name in self.files:
            self.compare(self.bob, name)
        self.download(self.bob, "LICENSE", self.files["LICENSE"], self.ann.user)
        self.checks.ok(f"Bob read all {len(self.files)} documents: the text is Ann's, and so is every signature")

    def carol_reads(self):
        self.carol.create_account()
        self.carol(
            "share", "accept", "-", "--email", "carol@demo.invalid", "--code-command", self.mailbox.command("carol@demo.invalid"),
            text=self.carol_url + "\n")
        self.checks.ok("Carol made an account, proved carol@demo.invalid with a code, and accepted")
        records = self.carol.list(self.ann.user)
        self.checks.that(set(self.files) <= set(records), f"Carol lists {len(records)} records")
        self.compare(self.carol, "LICENSE")
        self.download(self.carol, "random.bin", self.binary_file, self.ann.user)
        self.checks.ok("Carol's copy of the 8 MiB file is Ann's, byte for byte")

    def refusals(self):
        section("Refusals")
        error = self.carol(
            "record", "save", "--zone", ZONE, "--owner", self.ann.user, "--type", "Document", "--name", "carols", "--seal", "title=no",
            expect=77)
        self.checks.ok(f"Carol may read, not write: {error['code']}")
        self.dave.create_account()
        error = self.dave("share", "accept", "-", text=self.share_url + "\n", expect=(66, 77))
        self.checks.ok(f"Dave has the share's URL, and was not invited: {error['code']}")
        error = self.dave("share", "accept", "-", text=self.carol_url + "\n", expect=(66, 77))
        self.checks.ok(f"Dave tries the URL that Carol used: {error['code']}")
        error = self.dave("record", "list", "--zone", ZONE, "--owner", self.ann.user, expect=(66, 77))
        self.checks.ok(f"Dave asks for the zone by name: {error['code']}")
        cut = self.share_url[:-9]
        error = self.dave("share", "accept", "-", text=cut + "\n", expect=65)
        self.checks.ok(f"A URL that was cut short is noticed before anything is sent: {error['code']}")

    def bob_writes(self):
        section("Working together")
        title = self.canaries.word("Bob's title")
        self.bob(
            "record", "save", "--zone", ZONE, "--owner", self.ann.user, "--type", "Document", "--name", "from-bob", "--seal", f"title={title}")
        record = self.ann.list()["from-bob"]
        self.checks.that(
            record["author"] == self.bob.user and record["fields"]["title"]["value"] == title,
            "Bob saved a note; Ann reads it, and its verified author is Bob")
        changed = self.canaries.word("Bob's change")
        self.bob("record", "save", "--zone", ZONE, "--owner", self.ann.user, "--name", "LICENSE", "--update", "--seal", f"title={changed}")
        record = self.ann("record", "get", "LICENSE", "--zone", ZONE)[0]["record"]
        self.checks.that(
            record["author"] == self.bob.user and record["creator"] == self.ann.user and record["fields"]["title"]["value"] == changed,
            "Bob changed the title of Ann's LICENSE; the author is Bob, the creator still Ann")
        error = self.ann("record", "save", "--zone", ZONE, "--type", "Document", "--name", "LICENSE", "--seal", "title=mine", expect=79)
        self.checks.that(
            error["serverRecord"]["fields"]["title"]["value"] == changed, "Ann saves over it unawares: a conflict, with Bob's version shown")

    def erin_in_a_browser(self):
        """Who has no account, no app and no command line: from the link to a record that she has changed."""
        section("A browser")
        url = self.ann("share", "invite", ZONE, "erin@demo.invalid", "--permission", "readWrite")[0]["url"]
        part, raw = link_secret(url)
        self.canaries.secret("Erin's URL, after the #", part)
        self.canaries.secret("Erin's URL, link secret", raw)
        self.browser = Browser(self.folder / "browser")
        browser, page = self.browser, self.browser.page
        begun = time.monotonic()
        browser.open(url)
        browser.heading("Somebody shares records with you")
        browser.press("Continue with a passkey")
        browser.heading("Where were you invited?")
        page.get_by_label("E-mail address or phone number").fill("erin@demo.invalid")
        browser.press("Send the code")
        browser.heading("Type the code")
        code = self.sealkit_code("erin@demo.invalid")
        page.get_by_label("Code").fill(code)
        browser.press("Continue")
        browser.heading(self.title)
        browser.press("Accept")
        rows = page.get_by_role("row")
        expect(page.locator("#count")).to_have_text(f"{len(self.files) + 2} records")
        self.checks.ok(
            f"Erin, with a mail and a browser: a passkey, the code that came, the title, and {len(self.files) + 2} records "
            f"{time.monotonic() - begun:.1f} s after her click")
        for name in ("README.md", "SECURITY.md"):
            if self.values[name]["title"] not in rows.filter(has_text=self.values[name]["title"]).first.inner_text():
                raise Failure(f"Erin's browser shows something else than Ann wrote in {name}")
        dialog = page.locator("dialog")
        browser.press("README.md")
        shown = dialog.inner_text()
        browser.press("Close", dialog)
        self.checks.that(
            self.values["README.md"]["text"].splitlines()[-1] in shown, "her browser opened what Ann sealed, with what verifies for apps")
        changed = self.canaries.word("Erin's change")
        browser.press("from-bob")
        browser.press("Change", dialog)
        dialog.get_by_label("title").fill(changed)
        browser.press("Save", dialog)
        expect(page.get_by_role("cell", name=changed)).to_be_visible()
        record = self.ann("record", "get", "from-bob", "--zone", ZONE)[0]["record"]
        self.checks.that(
            record["fields"]["title"]["value"] == changed and record["author"] not in (self.ann.user, self.bob.user)
            and record["creator"] == self.bob.user, "Erin changed Bob's note in her browser; Ann reads it, and its verified author is Erin")
        error = self.dave("share", "accept", "-", text=url + "\n", expect=(66, 77))
        self.checks.ok(f"Dave tries the link that Erin used: {error['code']}")
        self.erin = record["author"]
        kept = browser.keeps()
        self.checks.that(
            part.decode() not in page.url and "place" in kept and '"verified ' in kept and not browser.errors
            and any(b"erin@demo.invalid" in path.read_bytes() for path in (self.folder / "browser").iterdir()),
            f"her browser keeps where the share is and, sealed, what it verified there, and sent {browser.count} requests, which are searched below")

    def sealkit_code(self, address):
        """As somebody reads it from the mail."""
        done = subprocess.run(self.mailbox.command(address), shell=True, capture_output=True, timeout=60)
        if done.returncode != 0:
            raise Failure(f"no mail with a code came to {address}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode().strip()

    def cloudkit_app(self):
        """Ann in an app that was written for Apple's CloudKit, Bob at the command line, and one zone."""
        section("An app written for Apple's CloudKit")
        zone = {"zone": "Notes", "container": NOTES_CONTAINER}
        ann, bob = (person("account", "whoami", "--container", NOTES_CONTAINER)[0]["userRecordName"] for person in (self.ann, self.bob))
        self.checks.that(self.ann.notes("whoami") == [ann], "Ann's account is the app's, by her key file alone")
        first = f"Tomatoes go left {self.canaries.word('a note')}"
        self.ann.notes("add", first)
        [(name, record)] = self.ann.list(**zone).items()
        self.checks.that(record["fields"]["text"]["value"] == first, "Ann wrote a note in the app; the command line reads it")
        [url] = self.ann.notes("share", bob)
        part, raw = link_secret(url)
        self.canaries.secret("the notes' URL, after the #", part)
        self.canaries.secret("the notes' URL, link secret", raw)
        self.bob("share", "accept", "-", "--container", NOTES_CONTAINER, text=url + "\n")
        changed = f"Tomatoes go right {self.canaries.word('a changed note')}"
        self.bob(
            "record", "save", "--zone", "Notes", "--owner", ann, "--container", NOTES_CONTAINER, "--name", name, "--update",
            "--seal", f"text={changed}", "--seal", f"changed:date={time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(time.time() + 60))}")
        self.checks.that(
            any(line.endswith(changed) for line in self.ann.notes("list")), "she shared her notes in the app; Bob changed it at the command line, and the app shows his words")
        last = f"Beans go right {self.canaries.word('another note')}"
        self.ann.notes("add", last)
        texts = {record["fields"]["text"]["value"] for record in self.bob.list(ann, **zone).values() if record["recordType"] == "Note"}
        self.checks.that(texts == {changed, last}, "what she added in the app Bob reads at the command line")
        self.checks.that(
            any(line.startswith(bob) and line.endswith("edits") for line in self.ann.notes("people")), "the app says who is in her notes: Bob, who edits")

    def remove_carol(self):
        section("Removing Carol")
        before = self.copy_database("before")
        self.ann("share", "remove", ZONE, self.carol_id)
        self.checks.ok("Ann removed Carol; a new key is in force")
        title = self.canaries.word("after Carol")
        self.ann("record", "save", "--zone", ZONE, "--type", "Document", "--name", "after-carol", "--seal", f"title={title}")
        record = self.bob("record", "get", "after-carol", "--zone", ZONE, "--owner", self.ann.user)[0]["record"]
        self.checks.that(record["fields"]["title"]["value"] == title, "Ann wrote a new note; Bob reads it")
        error = self.carol("record", "list", "--zone", ZONE, "--owner", self.ann.user, expect=(66, 77))
        self.checks.ok(f"The server no longer answers Carol: {error['code']}")
        self.prove_old_key_fails(before, self.copy_database("after"))

    def prove_old_key_fails(self, before, after):
        """Carol's key file, and the server's whole database from before and after her removal: no key of hers opens what
        came later. That her keys do open what came before shows that the attempt is a real one."""
        evidence = self.folder / "evidence.json"
        write_evidence(evidence, before, after, self.ann.user, ZONE, ["LICENSE", "random.bin", "after-carol"])
        told = self.carol("demo-old-key", "--record-json", str(evidence))
        rows = {row["recordName"]: row for row in told if "recordName" in row}
        old, new = rows["random.bin"], rows["after-carol"]
        self.checks.that(
            not told[0]["isMember"] and old["keysThatOpen"] == 1,
            f"with the whole database, Carol's old keys ({old['keysTried']} of {told[0]['epochs']}) open what was written before")
        self.checks.that(
            new["keysThatOpen"] == 0 and new["epoch"] > old["epoch"],
            f"none of them opens what was written after (key {new['epoch']}, not {old['epoch']})")

    def copy_database(self, name):
        """A consistent copy, with what is in the write-ahead log."""
        target = self.folder / f"database-{name}.sqlite"
        source = sqlite3.connect(f"file:{self.data / 'sealkit.sqlite'}?mode=ro", uri=True)
        copy = sqlite3.connect(target)
        source.backup(copy)
        copy.close()
        source.close()
        return target

    def recover(self):
        section("Losing everything")
        again = Person(self, "Ann-again")
        again("account", "recover", "--server", self.origin, text=self.recovery + "\n")
        again.user = again("account", "whoami")[0]["userRecordName"]
        record = again("record", "get", "from-bob", "--zone", ZONE)[0]["record"]
        self.checks.that(
            again.user == self.ann.user and record["author"] == self.erin,
            "Ann lost her device: with the recovery key alone she is herself again, and reads her documents")

    def restart(self):
        # Before the server stops, while the write-ahead log is there.
        self.live_scan = self.canaries.scan(self.places(), "while the server runs")
        self.stop_server()
        self.start_server()
        self.checks.that("from-bob" in self.ann.list(), "after a restart everything is there")

    # The search

    def places(self):
        server = self.folder / "server"
        return {
            "database": [path for path in self.data.glob("sealkit.sqlite*")],
            "telemetry": [path for path in self.data.glob("telemetry.sqlite*")],
            "assets": [path for path in (self.data / "blobs").rglob("*") if path.is_file()],
            "secrets folder": [path for path in server.glob("data.secrets/**/*") if path.is_file()],
            "log": [self.log],
            "mail": sorted((self.folder / "mail").iterdir()),
            "traffic": sorted((self.folder / "traffic").iterdir()),
            "browser": sorted((self.folder / "browser").iterdir()),
        }

    def scan(self):
        section("Searching what the server has and what passed by")
        found = self.canaries.scan(self.places(), "after the restart")
        for scan in (self.live_scan, found):
            say(f"  {scan.when}: {scan.needles} words, values and secrets in {scan.spellings} spellings")
            for place, (files, size) in scan.read.items():
                say(f"    {place:15} {files:4} files {size / 1048576:8.1f} MiB   {scan.hits[place]} found")
            # What is counted is written each minute, which may not be over yet, and as the server stops.
            is_counted = scan.read["telemetry"][1] > 0 or scan is self.live_scan
            self.checks.that(
                scan.read["database"][1] > 0 and is_counted and scan.read["traffic"][1] > BINARY_BYTES and scan.read["browser"][1] > 10_000,
                "the search had something to read")
            if scan.total:
                raise Failure("the search found: " + ", ".join(sorted(scan.names)[:10]))
            self.checks.ok("nothing of it was found: in database, write-ahead log, telemetry, assets, log, mail, traffic, or what a browser sent and keeps")
            self.checks.that(
                scan.planted["database"] > 0 and scan.planted["traffic"] > 0,
                f"the search works: the plain field is found {scan.planted['database']} times in the database, "
                f"{scan.planted['traffic']} in the traffic (plain values are visible to the server)")
        client = self.canaries.scan({"Ann's side": [*self.files.values(), self.binary_file]}, "on Ann's side")
        self.checks.that(
            client.total >= 2 * len(self.files), f"and the same search finds {client.total} occurrences in the documents themselves")
        addresses = [b"bob@demo.invalid", b"carol@demo.invalid", b"erin@demo.invalid"]
        for path in [*self.places()["database"], *self.places()["telemetry"], self.log]:
            content = path.read_bytes()
            if any(address in content for address in addresses):
                raise Failure(f"an e-mail address stands in {path.name}")
        self.checks.ok("no e-mail address stands in the database, the telemetry or the log; they went out with the mail")

    def summary(self):
        self.stop_server()
        section("Shown")
        say(f"  {self.checks.count} checks passed in {time.monotonic() - self.started:.0f} s:")
        say("  three people shared real documents, end to end encrypted, with files, over a real server;")
        say("  a fourth, with a mail and a browser, read and changed them;")
        say("  an app that was written for Apple's CloudKit and the command line edited one zone;")
        say("  strangers, a reader who wrote and a removed participant were refused, and the removed one's old keys")
        say("  open nothing that came later; of all words, values and secrets searched for, none was found in the")
        say("  server's disk, log and mail, in the traffic, or in what the browser sent.")


def end(process):
    """Ends a process with whatever it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            break
        try:
            os.killpg(process.pid, number)
            process.wait(10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sealkit", type=pathlib.Path, default=REPOSITORY / ".build/debug/sealkit")
    parser.add_argument("--notes", type=pathlib.Path, default=REPOSITORY / ".build/debug/notes")
    given = parser.parse_args()
    binary, notes = given.sealkit.resolve(), given.notes.resolve()
    for needed in (binary, notes):
        if not needed.exists():
            sys.exit(f"there is no {needed}: build it first (make demo)")
    if b"\nweb client " not in subprocess.run([str(binary), "--version"], capture_output=True, check=True).stdout:
        sys.exit(f"{binary} is built without the web client: run make web, and build it again (make demo)")

    def stop(number, _):
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sealkit-demo-"))
    demo = Demo(binary, notes, folder)
    status = 1
    try:
        demo.run()
        status = 0
    except Failure as failure:
        say(f"  ✗ {failure}")
    finally:
        demo.close()
        if os.environ.get("KEEP") == "1":
            say(f"\nKept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(status)


if __name__ == "__main__":
    main()
