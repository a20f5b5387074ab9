"""Other ways to a share than by mail over plain HTTP: TLS by an authority, an address that is a telephone's, a picture on the invitation."""

import contextlib
import http.server
import json
import re
import socket
import ssl
import subprocess
import threading

from playwright.sync_api import Error, expect

from world import Person, that

from authority import Authority
from browser import launch
from processes import serving


class Impostor:
    """Answers TLS in the place of a server, and keeps what it is sent."""

    def __init__(self, port, certificate, key):
        self.got, self.tries, self.refused = b"", 0, 0
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.context.set_alpn_protocols(["h2", "http/1.1"])
        self.listener = socket.create_server(("127.0.0.1", port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self.tries += 1
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            with self.context.wrap_socket(connection, server_side=True) as secured:
                self.got += secured.recv(1 << 16)
        except OSError:
            self.refused += 1

    def close(self):
        self.listener.close()


class WayTests:
    @contextlib.contextmanager
    def trusting(self, name, authority):
        """A browser of somebody who has this authority among those that they trust."""
        home = self.world.folder / f"home-{name}"
        database = home / ".pki/nssdb"
        database.mkdir(parents=True)
        for arguments in (("-N", "--empty-password"), ("-A", "-n", "an authority of tests", "-t", "C,,", "-i", str(authority.certificate))):
            subprocess.run(["certutil", "-d", f"sql:{database}", *arguments], check=True, capture_output=True, timeout=120)
        browser = launch(self.playwright, home)
        try:
            yield browser
        finally:
            browser.close()

    def test_over_tls_by_an_authority(self):
        authority, unknown = (Authority(self.world.folder / name) for name in ("authority", "unknown"))
        certificate, key = authority.sign("server")
        other = unknown.sign("server")
        mail = ("--smtp-url", f"smtp://127.0.0.1:{self.world.mailbox.port}", "--smtp-from", "codes@example.org", "--smtp-starttls", "off")
        with contextlib.ExitStack() as ends:
            running = ends.enter_context(contextlib.ExitStack())
            origin = running.enter_context(self.server("server-tls", "--tls-certificate", certificate, "--tls-key", key, *mail, scheme="https"))
            owner = Person(self.world, "tilda", "--ca-file", authority.certificate)
            owner.user = owner("account", "create", "--server", origin)[0]["userRecordName"]
            self.shared(owner, "Trip", "The trip", ("tickets", "--seal", "title=Two by night train"))
            url = owner.invite("tove@example.org", permission="readWrite")
            that(url.startswith("https://"), url)
            tove = ends.enter_context(self.guest("tove", browser=ends.enter_context(self.trusting("tove", authority))))
            tove.open(url)
            tove.press("Continue with a passkey")
            tove.type_code(tove.prove("tove@example.org"))
            tove.accept("The trip")
            tove.press("tickets")
            dialog = tove.page.locator("dialog")
            dialog.get_by_role("button", name="Change").click()
            dialog.get_by_label("title").fill("Three by night train")
            dialog.get_by_role("button", name="Save").click()
            expect(tove.page.get_by_role("cell", name="Three by night train")).to_be_visible()
            that("Three by night" in str(owner("record", "get", "tickets", "--zone", "Trip")), "the command line reads something else")
            protocols = """performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource')).filter(one => one.transferSize > 0)
                .map(one => one.nextHopProtocol)"""
            spoken = tove.page.evaluate(protocols) + [one for worker in tove.page.workers for one in worker.evaluate(protocols)]
            that(len(spoken) > 10 and set(spoken) == {"h2"}, f"it is spoken {spoken}")
            self.check_no_secret(tove, url)
            tove.page.reload()
            tove.press("Unlock with your passkey")
            expect(tove.page.locator("#count")).to_have_text("1 record")

            # Somebody else in the server's place is told nothing by a page that was open.
            running.close()
            impostor = Impostor(int(origin.rsplit(":", 1)[1]), *other)
            ends.callback(impostor.close)
            tove.press("Look for changes")
            expect(tove.page.get_by_text("The server cannot be reached.")).to_be_visible(timeout=60_000)
            tove.until(lambda: impostor.refused > 0, "nobody has come to the impostor")
            # And a browser that does not know the authority opens no page.
            with self.guest("tove-elsewhere") as elsewhere:
                with contextlib.suppress(Error):
                    elsewhere.open(url)
                    that(False, "a page by a certificate of nobody's is opened")
                that(elsewhere.page.get_by_role("heading", name="Somebody shares").count() == 0, "it shows something")
            that(impostor.got == b"", f"somebody in the server's place is told {impostor.got[:200]}")

    def test_an_invitation_to_a_telephone(self):
        texts = []

        class Gateway(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                texts.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

        number = "+493012345678"
        with serving(Gateway) as gateway, self.server("server-sms", "--sms-webhook", f"{gateway}/send") as origin, self.guest("theo", "de-AT") as theo:
            owner = Person(self.world, "tom")
            owner.user = owner("account", "create", "--server", origin)[0]["userRecordName"]
            self.shared(owner, "Trip", "The trip", ("tickets", "--seal", "title=Two by night train"))
            theo.open(owner.invite(number))
            theo.press("Wiederherstellungsschlüssel")
            theo.page.locator("#recovery-key").wait_for()
            typed = "-".join(theo.page.locator("#recovery-key li").all_inner_texts())
            theo.page.get_by_role("textbox").fill(typed)
            theo.press("Weiter")
            address = theo.page.get_by_role("textbox")
            expect(address).to_have_attribute("id", "field-address")
            theo.shoot("31-telephone")
            # As people write it.
            address.fill("+49 30 123456-78")
            theo.page.locator("main button").first.click()
            theo.until(lambda: texts, "no text message was sent")
            that(texts[0]["recipient"] == number and texts[0]["language"] == "de", f"{texts}")
            # The message is there before the page has its answer, and until then the box is the address's.
            theo.heading("Code eingeben")
            theo.page.get_by_role("textbox").fill(re.search(r"[0-9]{8}", texts[0]["text"])[0])
            theo.press("Weiter")
            theo.heading("The trip")
            theo.press("Annehmen")
            expect(theo.page.get_by_role("cell", name="Two by night train")).to_be_visible()

    def test_a_picture_on_an_invitation(self):
        for zone, picture, is_shown in (("Pictured", self.world.folder / "people/map.png", True), ("Scripted", self.world.folder / "people/page.html", False)):
            self.ann("zone", "create", zone)
            self.ann("share", "create", zone, "--title", zone, "--thumbnail", str(picture))
            self.ann("share", "public", zone, "readOnly")
            with self.guest(f"picture-{zone.lower()}") as guest:
                guest.open(self.ann("share", "url", zone)[0]["url"])
                guest.press("Only for this visit")
                guest.heading(zone)
                shown = guest.page.locator("main canvas")
                expect(shown).to_have_count(1 if is_shown else 0)
                if is_shown:
                    red = shown.evaluate("canvas => [...canvas.getContext('2d').getImageData(50, 30, 1, 1).data]")
                    that((shown.get_attribute("width"), red) == ("96", [90, 150, 90, 255]), f"another picture is shown: {red}")
                    guest.shoot("32-picture")
                # What is no picture is shown as none, and nothing of it runs.
                that(guest.page.title() != "pwned", "the picture ran")
