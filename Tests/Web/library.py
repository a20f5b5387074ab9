"""The library for web apps, as Web/pack packs it: in node, in a page of another origin, and in the examples."""

import contextlib
import functools
import http.server
import json
import shutil
import subprocess
import threading

from playwright.sync_api import expect

from world import REPOSITORY, Person, that

EXAMPLES = REPOSITORY / "Examples/web"


class LibraryTests:
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

        site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=str(folder)))
        threading.Thread(target=site.serve_forever, daemon=True).start()
        try:
            yield f"http://localhost:{site.server_address[1]}"
        finally:
            site.shutdown()
            site.server_close()

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
                "library": str(self.package), "server": origin, "shy": "http://localhost:1", "owner": owner.user,
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
            xeno.page.get_by_label("Link").fill(url)
            xeno.page.get_by_label("Name").fill("Xeno")
            xeno.page.get_by_label("Passphrase").fill("correct horse battery staple")
            xeno.press("Make an account")
            notes = xeno.page.get_by_label("Note", exact=True)
            expect(xeno.page.get_by_role("heading", name="Our notes")).to_be_visible(timeout=60_000)
            expect(notes).to_have_count(1)
            expect(notes.first).to_have_value("Buy bread")
            xeno.page.get_by_label("New note").fill("Water the plants")
            xeno.press("Add")
            expect(notes).to_have_count(2)
            expect(xeno.page.locator("#problem")).to_be_empty()
            notes.first.fill("Buy two breads")
            notes.first.press("Enter")
            expect(notes.first).to_have_value("Buy two breads")
            that("Buy two breads" in str(owner("record", "get", "bread", "--zone", "Notes")), "the command line reads something else")
            # What others do is there without being asked for.
            owner.save("tea", "--seal", "title=Drink tea", zone="Notes")
            expect(notes).to_have_count(3, timeout=20_000)
            # What was changed meanwhile is not gone over.
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
