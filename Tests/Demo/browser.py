"""Somebody with a browser and nothing else: Debian's Chromium, a passkey, and all that it sends written down."""

import os

from playwright.sync_api import expect, sync_playwright

CHROMIUM = "/usr/bin/chromium"
# One with a passkey's pseudo-random function, whose owner touches it.
AUTHENTICATOR = {
    "protocol": "ctap2", "ctap2Version": "ctap2_1", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "hasPrf": True, "isUserVerified": True, "automaticPresenceSimulation": True}


def launch(playwright, home=None):
    """`home` is where it looks for authorities that are trusted besides its own."""
    return playwright.chromium.launch(
        executable_path=CHROMIUM, args=["--no-sandbox"] if os.getuid() == 0 else [], env={**os.environ, **({"HOME": str(home)} if home else {})})


def add_authenticator(page, **other):
    """It belongs to a page."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", {"options": {**AUTHENTICATOR, **other}})


def kept(page):
    """All that a browser keeps of the page, as text."""
    return page.evaluate("""async () => {
        const text = value => JSON.stringify(value, (_, v) => v instanceof Uint8Array ? [...v].map(b => b.toString(16).padStart(2, '0')).join('')
            : typeof v === 'bigint' ? String(v) : v);
        const out = [text({ ...localStorage }), text({ ...sessionStorage }), document.cookie];
        for (const { name } of await indexedDB.databases()) {
            const database = await new Promise((ok, no) => { const r = indexedDB.open(name); r.onsuccess = () => ok(r.result); r.onerror = no });
            for (const store of database.objectStoreNames) {
                const objects = database.transaction(store).objectStore(store);
                for (const ask of [objects.getAllKeys(), objects.getAll()])
                    out.push(text(await new Promise((ok, no) => { ask.onsuccess = () => ok(ask.result); ask.onerror = no })));
            }
            database.close();
        }
        for (const name of await caches.keys()) out.push(name);
        return out.join('\\n');
    }""")


class Browser:
    """A browser that knows nobody."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.playwright = sync_playwright().start()
        self.chromium = launch(self.playwright)
        self.context = self.chromium.new_context(locale="en-GB")
        self.count = 0
        self.errors = []
        self.context.on("request", self._sent)
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        add_authenticator(self.page)
        expect.set_options(timeout=60_000)

    def _sent(self, request):
        """As the browser says it itself: what the network's copy shows, before any connection."""
        self.count += 1
        head = f"{request.method} {request.url}\n" + "".join(f"{name}: {value}\n" for name, value in request.headers.items())
        (self.folder / f"{self.count:05d}").write_bytes(head.encode() + (request.post_data_buffer or b""))

    def keeps(self):
        """All that it keeps of the page, into a file."""
        found = self.page.url + "\n" + kept(self.page)
        (self.folder / "kept").write_text(found)
        return found

    def open(self, url):
        self.page.goto(url)

    def heading(self, text):
        expect(self.page.get_by_role("heading", level=1)).to_have_text(text)

    def press(self, text, within=None):
        (within or self.page).get_by_role("button", name=text).first.click()

    def close(self):
        self.chromium.close()
        self.playwright.stop()
