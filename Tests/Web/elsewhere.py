"""The web client that does not come from the server: `sealkit web verify`, `open` and `export`."""

import contextlib
import http.client
import http.server
import json
import subprocess

from playwright.sync_api import expect

from liar import Liar, flip
from world import Person, that
from processes import free_port, serving

NO_PASSKEY = "Passkeys work at a server’s own name only"


class ElsewhereTests:
    def web(self, *arguments, status=0, text=""):
        done = subprocess.run([str(self.world.binary), "web", *map(str, arguments), "--json"], input=text.encode(), capture_output=True,
                              env=self.world.environment(), timeout=120)
        that(done.returncode == status, f"sealkit web {arguments[0]} ended with {done.returncode}, not {status}: {done.stderr.decode()}")
        return json.loads(done.stdout if status == 0 else done.stderr.decode().splitlines()[-1])

    def test_verify_finds_what_is_altered(self):
        told = self.web("verify", self.world.origin)
        that(told["files"] > 15 and len(told["webClient"]) == 64, f"{told}")
        bundle = self.world.folder / "bundle"

        def without(name):
            return lambda headers: [(key, value) for key, value in headers if key.lower() != name]

        def weaker(headers):
            return [(key, value.replace("script-src 'self'", "script-src *")) for key, value in headers]

        def only(form):
            """A file that is altered in one of its forms."""
            def change(_, ask):
                data = ask()
                found = "gzip" if data.startswith(b"\x1f\x8b") else "the file" if data.startswith(b"const modules = ") else "br"
                return flip(data, 100) if found == form else data
            return change

        same = lambda _, ask: ask()  # noqa: E731
        alterations = {
            "a byte of the page": ("/s/", lambda _, ask: ask().replace(b"SealKit", b"SealK1t", 1), None),
            "a script more": ("/s/", lambda _, ask: ask().replace(b"</body>", b"<script src=/w/x.mjs></script></body>"), None),
            "a script among the apps": ("/s/", lambda _, ask: ask().replace(b'<div id="apps">', b'<div id="apps"><script src=/w/x.mjs></script>'), None),
            "another web client": ("/s/", lambda _, ask: ask().replace(told["webClient"].encode(), b"0" * 64), None),
            "a byte of the module": ("/core.wasm", lambda _, ask: flip(ask(), 5000), None),
            "a byte of a script": ("/core.worker.mjs", lambda _, ask: flip(ask(), 100), None),
            "no file": ("/afterwards.mjs", lambda *_: (404, b""), None),
            "no policy": ("/s/", same, without("content-security-policy")),
            "a weaker policy": ("/s/", same, weaker),
            # Swift has it for the same text, and a browser for one directive that it does not know.
            "a policy with other semicolons": ("/s/", same, lambda headers: [
                (key, value.replace(";", "\xcd\xbe") if key.lower() == "content-security-policy" else value) for key, value in headers]),
            "a weaker policy of a worker": ("/core.worker.mjs", same, weaker),
            "another type": ("/icon.svg", same, lambda headers: [*without("content-type")(headers), ("Content-Type", "text/html")]),
            "a cookie": ("/s/", same, lambda headers: [*headers, ("Set-Cookie", "who=you")]),
            "another page next": ("/s/", same, lambda headers: [*headers, ("Refresh", "0; url=https://example.com")]),
            "a page that may be kept": ("/s/", same, lambda headers: [*without("cache-control")(headers), ("Cache-Control", "max-age=60")]),
        }
        with self.liar() as liar:
            self.web("verify", self.world.origin)
            for what, (route, change, headers) in alterations.items():
                with liar.lie(route, change, headers or (lambda headers: headers)):
                    error = self.web("verify", self.world.origin, status=76)["error"]
                that("/s/" in error["reason"] or "/w/" in error["reason"], f"{what}: {error}")
            # A page that is altered for whoever asks as browsers do, and one for a share that exists: its path is asked for, and not the secret.
            altered = lambda _, ask: ask().replace(b"SealKit", b"SealK1t", 1)  # noqa: E731
            with liar.lie("/s/", altered, to=lambda headers: headers.get("sec-fetch-mode") == "navigate" and "br" in headers["accept-encoding"]):
                self.web("verify", self.world.origin, status=76)
            url = self.ann.invite("verify@example.org")
            with liar.lie(url.split("#")[0].removeprefix(self.world.origin), altered):
                self.web("verify", self.world.origin)
                error = self.web("verify", self.world.origin, "--share", "-", status=76, text=url + "\n")["error"]
            that(error["reason"].endswith("the page is another one than the bundle's"), f"{error}")
            for form in ("br", "gzip", "the file"):
                with liar.lie("/share.mjs", only(form)):
                    error = self.web("verify", self.world.origin, status=76)["error"]
                that(error["reason"].endswith(f"/share.mjs: {form} has other bytes than the bundle's"), f"{form}: {error}")
        bundle.write_bytes(b"no bundle")
        self.web("verify", self.world.origin, "--bundle", bundle, status=65)
        self.web("verify", self.world.origin, "--bundle", bundle / "none", status=66)
        self.web("verify", "http://example.org", status=65)
        self.web("verify", "http://localhost:1", status=69)

    @contextlib.contextmanager
    def opened(self, url, *arguments):
        """`sealkit web open`, and what it prints."""
        process = subprocess.Popen([str(self.world.binary), "web", "open", "-", "--json", *arguments], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.world.environment())
        try:
            process.stdin.write(url.encode() + b"\n")
            process.stdin.close()
            line = process.stdout.readline()
            that(line, f"sealkit web open: {process.stderr.read().decode() if process.poll() is not None else 'nothing came'}")
            yield json.loads(line)["url"]
        finally:
            process.terminate()
            that(process.wait(30) is not None, "it does not end")

    def visit_without_passkey(self, guest, url, address):
        guest.open(url)
        guest.heading("Somebody shares records with you")
        expect(guest.page.get_by_text(NO_PASSKEY)).to_be_visible()
        that(guest.page.get_by_role("button", name="Continue with a passkey").count() == 0, "a passkey is offered")
        expect(guest.page.get_by_text("by a script that does not come from that server")).to_be_visible()
        expect(guest.page.locator(".host")).to_have_text(self.world.origin.split("//")[1])
        key = guest.use_recovery_key()
        guest.type_code(guest.prove(address))
        guest.accept()
        that({one.url.split("/")[2] for one in guest.requests} == {url.split("/")[2]}, "something was asked of another host")
        return key

    def test_open_takes_no_script_from_the_server(self):
        url = self.ann.invite("oda@example.org", permission="readWrite")
        self.ann.save("opened", "--seal", "title=Before")
        evil = lambda *_: b"document.title = 'pwned'"  # noqa: E731
        with self.liar() as liar, liar.lie("/s/", evil), liar.lie("/w/", evil), self.opened(url) as local, self.guest("oda") as oda:
            that(local.startswith("http://localhost:") and local.split("/s/")[1] == url.split("/s/")[1], f"it is opened at {local}")
            key = self.visit_without_passkey(oda, local, "oda@example.org")
            dialog = oda.page.locator("dialog")
            oda.page.get_by_role("button", name="opened", exact=True).click()
            dialog.get_by_role("button", name="Change").click()
            dialog.get_by_label("title").fill("From loopback")
            dialog.get_by_role("button", name="Save").click()
            expect(oda.page.get_by_role("cell", name="From loopback")).to_be_visible()
            that("From loopback" in str(self.ann("record", "get", "opened", "--zone", "Trip")), "the command line reads something else")
            self.check_no_secret(oda, local)
            # Whoever leads a browser here by another name, or from another page, is answered nothing.
            port = int(local.split(":")[2].split("/")[0])
            for headers, path, expected in (
                    ({"host": "example.org"}, "/s/x", 421), ({"host": f"localhost:{port}", "origin": "https://example.org"}, "/1/limits", 421),
                    ({"host": f"localhost:{port}"}, "/metrics", 404), ({"host": f"localhost:{port}"}, "/1/limits", 200)):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                connection.request("GET", path, headers=headers)
                answer = connection.getresponse()
                that(answer.status == expected, f"{path} with {headers} is answered {answer.status}")
                connection.close()
            # Led to one of the server's answers, a browser is shown nothing that it would run.
            html = lambda *_: b"<script>document.title = 'pwned'</script>"  # noqa: E731
            with liar.lie("/1/limits", html, headers=lambda _: [("content-type", "text/html")]):
                page = oda.tab()
                page.goto(f"http://localhost:{port}/1/limits")
                that(page.title() != "pwned", "a script of the server ran at the page's origin")
                page.close()
        # The same account, by the same key, at the server's own page.
        with self.guest("oda-there") as there:
            there.open(url)
            there.press("recovery key")
            there.page.get_by_label("Recovery key").fill(key)
            there.press("Continue")
            expect(there.page.locator("#count")).to_be_visible(timeout=30_000)
        self.ann("record", "delete", "opened", "--zone", "Trip")
        self.web("open", url[:-5], status=65)
        self.web("open", url, "--listen", "0.0.0.0:0", status=65)

    @contextlib.contextmanager
    def site(self, folder, passes_on=False):
        """What `sealkit web export` wrote, at an origin of its own; one that passes calls on does so to the world's server."""
        port = self.world.server_port
        types = {"mjs": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml", "wasm": "application/wasm"}

        class Site(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_all(self):
                body, sent = Liar._body(self), {}
                if passes_on and self.path.startswith(("/1/", "/database/")):
                    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                    connection.request(self.command, self.path, body or None, {
                        name: value for name, value in self.headers.items() if name.lower() not in ("connection", "content-length", "host")})
                    answer = connection.getresponse()
                    status, kind, data = answer.status, answer.headers.get("content-type", ""), answer.read()
                    connection.close()
                else:
                    is_page = self.path.startswith("/s/")
                    file = folder / ("share.html" if is_page else self.path[1:])
                    sent["Cache-Control"] = "no-store" if is_page else "public, max-age=31536000, immutable"
                    found, accepted = file, self.headers.get("accept-encoding", "")
                    for name, ending in (("br", ".br"), ("gzip", ".gz")):
                        if not is_page and name in accepted:
                            found = file.parent / (file.name + ending)
                            sent["Content-Encoding"] = name
                            break
                    status, data = (200, found.read_bytes()) if found.is_file() else (404, b"")
                    if self.path == "/plain":
                        status, data, sent = 200, b"<title>plain</title>", {}
                    kind = types.get(file.suffix[1:], "text/html; charset=utf-8")
                # One page is somebody's who writes no policy.
                headers = () if self.path == "/plain" else (line.split(": ", 1) for line in (folder / "headers.txt").read_text().splitlines())
                self.send_response(status)
                for name, value in {**dict(headers), **sent, "Content-Type": kind, "Content-Length": str(len(data))}.items():
                    self.send_header(name, value)
                self.end_headers()
                # Of a page that is left, nobody waits for the rest.
                with contextlib.suppress(ConnectionError):
                    self.wfile.write(data)

            do_GET = do_POST = handle_all

        with serving(Site) as origin:
            yield origin

    @contextlib.contextmanager
    def server(self, name, *arguments, scheme="http"):
        """Another server than the world's; gives its origin."""
        # Somebody else may have taken a port meanwhile that was free.
        for _ in range(5):
            port = free_port()
            origin = f"{scheme}://localhost:{port}"
            process = subprocess.Popen(
                [str(self.world.binary), "serve", "--data", str(self.world.folder / name), "--listen", f"127.0.0.1:{port}", "--origin", origin, *map(str, arguments)],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.world.log.open("ab"), env=self.world.environment())
            is_listening = process.stdout.readline().startswith(b"listening")
            if is_listening or process.wait(40) == 0:
                break
        try:
            that(is_listening, "the server does not start")
            yield origin
        finally:
            process.terminate()
            that(process.wait(40) == 0, "the server does not end")

    def test_the_client_of_another_origin_calls_the_server(self):
        folder = self.world.folder / "site-at"
        with self.site(folder) as site, self.server("server-at", "--web-at", site) as origin, self.server("server-shy") as shy:
            self.web("export", folder, "--server", origin)
            that(f"connect-src 'self' {origin};" in (folder / "headers.txt").read_text(), "the page may not call the server")
            owner = Person(self.world, "uma")
            owner("account", "create", "--server", origin)
            owner("zone", "create", "Fair")
            owner.save("stall", "--seal", "title=Second to the left", zone="Fair")
            owner("share", "create", "Fair", "--title", "The fair")
            owner("share", "public", "Fair", "readOnly")
            url = owner("share", "url", "Fair")[0]["url"]
            that(url.startswith(origin), f"{url}")
            with self.guest("quin") as quin:
                # The browser takes what follows the # along; the page takes it out of the address.
                quin.open(url)
                quin.heading("Somebody shares records with you")
                that(quin.page.url == site + url[len(origin):].split("#")[0], f"it is at {quin.page.url}")
                expect(quin.page.get_by_text(NO_PASSKEY)).to_be_visible()
                that(quin.page.get_by_role("button", name="Continue with a passkey").count() == 0, "a passkey is offered")
                quin.press("Only for this visit")
                quin.accept("The fair")
                expect(quin.page.get_by_role("cell", name="Second to the left")).to_be_visible()
                that(any(one.url.startswith(origin + "/database/") for one in quin.requests), "the server was not called")
                that(not any("/w/" in one.url for one in quin.requests if one.url.startswith(origin)), "a script came from the server")
                self.check_no_secret(quin, url)
            # A page of an origin that a server has not named reads nothing of what it answers.
            with self.guest("rex") as rex:
                rex.open(site + "/plain")
                for there, answered in ((origin, "200"), (shy, "refused")):
                    found = rex.page.evaluate("""there => fetch(there + '/1/limits', { headers: { 'sealkit-wire-version': '1' } })
                        .then(answer => String(answer.status), () => 'refused')""", there)
                    that(found == answered, f"{there} answers a page with {found}")
                rex.console.clear()
            that(self.web("verify", site, "--server", origin)["files"] > 15, "the page at the other origin is another one")
            self.web("verify", site, status=76)
            error = self.web("verify", origin, status=76)["error"]
            that(f"it sends browsers to {site}/s/" in error["reason"], f"{error}")
            self.web("verify", site, "--passed-on", status=65)

    def test_export_is_the_client_for_another_origin(self):
        folder = self.world.folder / "site"
        told = self.web("export", folder, "--server", self.world.origin, "--passed-on")
        self.web("export", folder, "--server", self.world.origin, status=65)
        self.web("export", folder / "share.html" / "below", "--server", self.world.origin, status=73)
        policy = dict(line.split(": ", 1) for line in (folder / "headers.txt").read_text().splitlines())
        that("script-src 'self' 'wasm-unsafe-eval'" in policy["Content-Security-Policy"], f"{policy}")
        with self.site(folder, passes_on=True) as site:
            url = self.ann.invite("pia@example.org")
            there = site + url[len(self.world.origin):]
            that(told["server"] == self.world.origin, f"{told}")
            with self.guest("pia") as pia:
                self.visit_without_passkey(pia, there, "pia@example.org")
                self.check_no_secret(pia, there)
