"""What is not there when somebody opens a share's page, or has it open: scripts that do not come, and a share that is theirs no more."""

from playwright.sync_api import expect

from hostile import FAILED
from liar import Message
from mishaps import Held
from world import that

GONE = "You are no longer in this share."
NO_ROOM = "The server has no more room for this."
BUSY = "The server has too much to do. Try again in a moment."
RELOAD = "The server has refused that. Load the page again, and try once more."
PLAIN = "This is a SealKit share link"
WELCOME = "Somebody shares records with you"
# What the browser keeps opens so late that the core's worker has failed before anything is asked of it.
SLOW_STORAGE = """{
    const { open } = IDBFactory.prototype;
    IDBFactory.prototype.open = function (...named) {
        const request = open.apply(this, named);
        const set = act => request.addEventListener('success', event => setTimeout(() => act.call(request, event), 2000));
        Object.defineProperty(request, 'onsuccess', { set });
        return request;
    };
}"""


class MissingTests:
    def test_a_share_that_somebody_was_taken_out_of(self):
        self.shared(self.ann, "Club", "The club", ("rules", "--seal", "title=Be kind"))
        url = self.ann.invite("lena@example.org", zone="Club", permission="readWrite")
        with self.guest("lena") as lena:
            lena.open(url)
            key = lena.use_recovery_key()
            lena.type_code(lena.prove("lena@example.org"))
            lena.accept("The club")
            dialog = lena.page.locator("dialog")
            full = Message().add(1, b"storageFull").add(2, b"The disk is full.").bytes
            lena.context.route("**/records/modify", lambda route: route.fulfill(status=507, body=full, content_type="application/x-protobuf"), times=1)
            lena.press("rules")
            dialog.get_by_role("button", name="Change").click()
            dialog.get_by_label("title").fill("Be kinder")
            dialog.get_by_role("button", name="Save").click()
            expect(dialog.get_by_role("alert")).to_have_text(NO_ROOM)
            dialog.get_by_role("button", name="Cancel").click()
            # Her page is open, and hears that something has changed.
            [member] = [one["userRecordName"] for one in self.ann("share", "show", "Club")[0]["participants"] if one["role"] != "owner"]
            self.ann("share", "remove", "Club", member)
            lena.heading(FAILED)
            expect(lena.page.get_by_text(GONE)).to_be_visible()
            # And at the next visit.
            lena.open("about:blank")
            lena.open(url)
            lena.press("Unlock with your recovery key")
            lena.page.get_by_label("Recovery key").fill(key)
            lena.press("Continue")
            lena.heading(FAILED)
            expect(lena.page.get_by_text(GONE)).to_be_visible()

    def test_a_core_that_does_not_come(self):
        url = self.open_zone("Quay", "Quay", "readOnly")
        with self.guest("quay") as guest:
            held = Held(guest, "**/core.worker.mjs", "GET")
            guest.open(url)
            # What is asked of it by now is answered, too.
            expect(guest.page.get_by_text("Opening…")).to_be_visible()
            held.wait()
            held.give_up()
            guest.heading(FAILED)
            guest.press("Try again")
            guest.heading(WELCOME)
            guest.press("Only for this visit")
            guest.accept("Quay")
        with self.guest("quay-late") as guest:
            guest.context.add_init_script(SLOW_STORAGE)
            guest.context.route("**/core.worker.mjs", lambda route: route.abort(), times=1)
            guest.open(url)
            guest.heading(WELCOME)
        with self.guest("quay-busy") as guest:
            guest.context.route("**/core.worker.mjs", lambda route: route.fulfill(status=503))
            guest.open(url)
            expect(guest.page.get_by_text(BUSY)).to_be_visible()
            guest.context.unroute("**/core.worker.mjs")
            guest.press("Try again")
            guest.heading(WELCOME)
            that("#" not in guest.page.url, f"it is at {guest.page.url}")
        with self.guest("quay-gone") as guest:
            for script in ("core", "passphrase"):
                guest.context.route(f"**/{script}.worker.mjs", lambda route: route.fulfill(status=404))
            guest.open(url)
            expect(guest.page.get_by_text(RELOAD)).to_be_visible()
            # Whoever does as told has the link still.
            guest.context.unroute("**/core.worker.mjs")
            guest.page.reload()
            guest.heading(WELCOME)
            that("#" not in guest.page.url, f"it is at {guest.page.url}")
            guest.press("Use a passphrase")
            guest.page.get_by_label("Name").fill("somebody")
            for label in ("Passphrase", "Passphrase once more"):
                guest.page.get_by_label(label, exact=True).fill("no passphrase of anybody's")
            guest.press("Continue")
            expect(guest.page.get_by_text(RELOAD)).to_be_visible()

    def test_a_page_that_does_not_come(self):
        url = self.open_zone("Pier", "Pier", "readOnly")
        for script in ("share.mjs", "texts.en.mjs"):
            with self.guest(f"pier-{script}") as guest:
                plain = guest.page.get_by_role("heading", name=PLAIN)
                guest.context.route(f"**/{script}", lambda route: route.abort())
                guest.open(url)
                that(not plain.is_visible(), "what is for browsers without scripts is shown to one that has them")
                expect(plain).to_be_visible(timeout=20_000)
                guest.shoot(f"37-no-{script.split('.')[0]}")
                # The link is whole still: it is there to be copied, and to be loaded again.
                that(guest.page.url == url, f"it is at {guest.page.url}")
                guest.context.unroute(f"**/{script}")
                guest.page.reload()
                guest.heading(WELCOME)
                expect(plain).to_be_hidden()
                self.check_no_secret(guest, url, may_fail=("ERR_FAILED", "Failed to fetch"))

    def test_a_page_that_is_older_than_its_server(self):
        url = self.open_zone("Dock", "Dock")
        with self.visitor("dirk", url, "Dock") as dirk:
            dialog = dirk.page.locator("dialog")
            dirk.context.route("**/changes.mjs", lambda route: route.fulfill(status=404))
            dirk.press("first")
            dialog.get_by_role("button", name="Change").click()
            expect(dirk.page.get_by_text(RELOAD)).to_be_visible()
            # The old one's script is there again: what was asked for goes on.
            dirk.context.unroute("**/changes.mjs")
            dirk.press("Try again")
            expect(dialog.get_by_label("title")).to_have_value("First")
