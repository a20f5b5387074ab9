"""What goes wrong without anybody's bad will: answers that are lost, keys hit by mistake, people who go away or come back as somebody else."""

import contextlib
import json
import os
import subprocess
import time
import wave
from urllib.parse import quote

from playwright.sync_api import expect

from liar import Message
from world import Person, link_secret, seed_bytes, that, wide

from browser import add_authenticator

UNREACHABLE = "The server cannot be reached. Check your connection, and try again."


# Somebody who fills a zone, and changes one of its records, from a page of an app's.
FILL = """async ({ url, count }) => {
    const { default: CloudKit } = await import('./sealkit/library/sealkit.mjs');
    CloudKit.configure({ containers: [{ containerIdentifier: 'org.sealkit.notes', environment: 'development', server: new URL(url).origin }] });
    const container = CloudKit.getDefaultContainer();
    await container.createAccount({ recoveryKey: await container.newRecoveryKey() });
    const { results: [{ zoneID }] } = await container.acceptShares(url);
    const save = async records => {
        const answer = await container.sharedCloudDatabase.saveRecords(records, { zoneID });
        if (answer.hasErrors) throw answer.errors[0];
        return answer.records;
    };
    let last;
    for (let first = 0; first < count; first += 200) {
        const some = Array.from({ length: Math.min(200, count - first) }, (_, index) => ({ recordType: 'Note', encryptedFields: { title: `Entry ${first + index}.`, text: 'x'.repeat(100) } }));
        last = (await save(some)).at(-1);
    }
    window.rename = title => save([{ ...last, encryptedFields: { title } }]);
}"""
# How many records the page's worker has opened for each answer.
COUNTING = """self.opened = [];
self.Worker = class extends Worker {
    constructor(...started) {
        super(...started);
        this.addEventListener('message', ({ data: { value } }) => { if (Array.isArray(value)) opened.push(value.filter(one => one.fields).length); });
    }
};"""

# A second of red and a second of blue, as a browser records them: the bytes of its file.
RECORD_VIDEO = """async () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 64, height: 48 });
    const pen = canvas.getContext('2d');
    const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: 'video/webm;codecs=vp8' });
    const parts = [];
    recorder.addEventListener('dataavailable', ({ data }) => parts.push(data));
    const stopped = new Promise(resolve => recorder.addEventListener('stop', resolve));
    recorder.start();
    for (let count = 0; count < 40; count++) {
        pen.fillStyle = count < 20 ? 'red' : 'blue';
        pen.fillRect(0, 0, 64, 48);
        await new Promise(resolve => setTimeout(resolve, 50));
    }
    recorder.stop();
    await stopped;
    return [...new Uint8Array(await new Blob(parts).arrayBuffer())];
}"""
# The colour that is seen first, the one that is seen once it has ended, and how large it is.
PLAY_VIDEO = """async video => {
    const colour = () => {
        const pen = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d');
        pen.drawImage(video, 0, 0, 1, 1);
        return [...pen.getImageData(0, 0, 1, 1).data];
    };
    const ended = new Promise((resolve, reject) => {
        video.addEventListener('ended', resolve);
        video.addEventListener('error', () => reject(video.error));
    });
    if (video.readyState < 2) await new Promise(resolve => video.addEventListener('loadeddata', resolve));
    const first = colour();
    await video.play();
    await ended;
    return [first, colour(), [video.videoWidth, video.videoHeight]];
}"""


class Held:
    """Requests that wait until they are let go."""

    def __init__(self, guest, pattern, method):
        self.guest, self.waiting, self.pattern = guest, [], pattern
        guest.context.route(pattern, lambda route: self.waiting.append(route) if route.request.method == method else route.fallback())

    def wait(self):
        self.guest.until(lambda: self.waiting, f"nothing was asked of {self.pattern}")

    def let_go(self):
        for route in self.waiting:
            route.continue_()
        self.guest.context.unroute(self.pattern)

    def give_up(self):
        for route in self.waiting:
            route.abort()
        self.guest.context.unroute(self.pattern)


class MishapTests:
    def open_zone(self, zone, title, permission="readWrite"):
        """A share whose link is open to everybody."""
        self.ann("zone", "create", zone)
        self.ann.save("first", "--seal", "title=First", "--seal", "note=Old", "--asset", f"scan={self.world.folder / 'people/map.png'}", zone=zone)
        self.ann("share", "create", zone, "--title", title)
        self.ann("share", "public", zone, permission)
        url = self.ann("share", "url", zone)[0]["url"]
        self.world.canaries.secret(f"the public URL of {zone}, after the #", link_secret(url)[0])
        return url

    def update(self, zone, name, *arguments):
        self.ann("record", "save", "--zone", zone, "--type", "Note", "--name", name, "--update", *arguments)

    @contextlib.contextmanager
    def visitor(self, name, url, title):
        """Somebody who is in for one visit."""
        with self.guest(name) as guest:
            guest.open(url)
            guest.press("Only for this visit")
            guest.accept(title)
            yield guest

    def sent(self, guest, path):
        return len([one for one in guest.requests if one.url.endswith(path)])

    def test_after_a_visit_the_link_opens_again(self):
        url = self.open_zone("Bazaar", "Bazaar", "readOnly")
        with self.visitor("rita", url, "Bazaar") as rita:
            that("place" not in rita.storage(), "an account that has ended left something behind")
            rita.open("about:blank")
            rita.open(url)
            rita.heading("Somebody shares records with you")
            rita.use_recovery_key()
            rita.accept("Bazaar")
            # Somebody else at the same browser: the account that is known comes first, and another one may be made.
            rita.open("about:blank")
            rita.open(url)
            rita.heading("You were here before")
            expect(rita.page.get_by_text("It remembers what it has verified there")).to_be_visible()
            rita.shoot("22-back")
            rita.press("Unlock with your recovery key")
            rita.press("Back")
            rita.heading("You were here before")
            rita.press("Make a new account")
            rita.press("Only for this visit")
            rita.accept("Bazaar")
            that("recoveryKey" in rita.storage(), "a visit of somebody else's has changed how the account is unlocked")
            rita.open("about:blank")
            rita.open(url)
            rita.press("Forget this browser")
            # The link is at hand still.
            rita.heading("Somebody shares records with you")
            that("place" not in rita.storage() and "recoveryKey" not in rita.storage(), "the browser has not forgotten")

    def test_a_link_that_is_pasted_into_the_same_tab(self):
        url = self.ann.invite("stan@example.org")
        with self.guest("stan") as stan:
            stan.open(url[:-9])
            stan.heading("This link is incomplete")
            stan.open(url)
            stan.heading("Somebody shares records with you")
            self.check_no_secret(stan, url)
            stan.use_recovery_key()
            code = stan.prove("stan@example.org")
            # Once more, while the code is on its way: what was typed stays.
            stan.page.get_by_label("Code").fill(code[:3])
            stan.open(url)
            stan.page.wait_for_function("location.hash === ''")
            that(stan.page.get_by_label("Code").input_value() == code[:3], "what was typed is gone")
            stan.type_code(code)
            stan.heading("Trip to the coast")
            # Whoever has put it off opens it again, as they are told.
            stan.press("Not now")
            expect(stan.page.get_by_text("Nothing was accepted.")).to_be_visible()
            stan.open(url)
            stan.accept()
            stan.open(url)
            stan.page.wait_for_function("location.hash === ''")
            expect(stan.page.locator("#count")).to_be_visible()
            self.check_no_secret(stan, url)

    def test_a_link_that_is_pasted_after_the_share_was_left(self):
        url = self.open_zone("Pier", "Pier", "readOnly")
        with self.guest("stig") as stig:
            stig.open(url)
            stig.use_recovery_key()
            stig.accept("Pier")
            # Another account of this browser's, for one visit: what is known of the first one is not its own.
            stig.open("about:blank")
            stig.open(url)
            stig.press("Make a new account")
            stig.press("Only for this visit")
            stig.accept("Pier")
            account = stig.page.locator(".account summary").inner_text()
            stig.page.locator(".account summary").click()
            stig.press("Leave this share")
            stig.page.locator("dialog").get_by_role("button", name="Leave this share").click()
            expect(stig.page.get_by_text("You have left the share.")).to_be_visible()
            stig.open(url)
            stig.accept("Pier")
            that(stig.page.locator(".account summary").inner_text() == account, "another account was made")
            # The first one has left nothing: where its share is this browser knows as before.
            that("place" in stig.storage(), "an account of one visit has taken what another one had kept")
            stig.open("about:blank")
            stig.open(url.partition("#")[0])
            stig.heading("You were here before")

    def test_an_account_whose_making_nobody_heard_of(self):
        urls = [self.ann.invite(f"{name}@example.org") for name in ("tess", "tess-too", "tess-later")]
        open_to_all = self.open_zone("Arcade", "Arcade", "readOnly")
        word = self.world.canaries.word("a passphrase") + " sailing backwards"

        def choose(guest):
            guest.press("Use a passphrase")
            guest.page.get_by_label("Name").fill("tess@example.org")
            guest.page.get_by_label("Passphrase", exact=True).fill(word)
            guest.page.get_by_label("Passphrase once more").fill(word)
            guest.press("Continue")

        with self.guest("tess") as tess:
            lost = []

            def lose(route):
                lost.append(route.fetch().status)
                route.abort()

            tess.context.route("**/accounts/create", lose, times=1)
            tess.open(urls[0])
            choose(tess)
            expect(tess.page.get_by_text(UNREACHABLE)).to_be_visible()
            that(lost == [200], f"no account was made: {lost}")
            tess.press("Try again")
            tess.type_code(tess.prove("tess@example.org"))
            tess.accept()
            account = tess.page.locator(".account summary").inner_text()
        # At another browser, to a new link, as somebody who has forgotten that there is one.
        with self.guest("tess-too") as again:
            again.open(urls[1])
            choose(again)
            # It is in the share.
            expect(again.page.locator("#count")).to_be_visible(timeout=60_000)
            that(again.page.locator(".account summary").inner_text() == account, "a second account was made, or another one found")
        # And as somebody who was to keep the account of one visit first.
        with self.guest("tess-later") as later:
            later.open(urls[2])
            later.press("Only for this visit")
            later.type_code(later.prove("tess-later@example.org"))
            later.heading("Trip to the coast")
            later.press("Accept")
            later.heading("Keep your account first")
            # Who could not be asked for it has the account of the visit still, and what it has proven.
            later.context.route("**/accounts/recover", lambda route: route.abort(), times=1)
            choose(later)
            expect(later.page.get_by_text(UNREACHABLE)).to_be_visible(timeout=60_000)
            later.press("Back")
            later.heading("Keep your account first")
            choose(later)
            expect(later.page.locator("#count")).to_be_visible(timeout=60_000)
            that(later.page.locator(".account summary").inner_text() == account, "her own account is not the one that is kept")
        # Where another account has records already it stays, and is told what stands in the way.
        with self.visitor("tess-there", open_to_all, "Arcade") as there:
            there.page.locator(".account summary").click()
            there.press("Add a way to come back")
            choose(there)
            expect(there.page.get_by_text("Another account comes back by that already.")).to_be_visible(timeout=60_000)
            there.shoot("39-taken")
            there.press("Back")
            there.use_recovery_key()
            expect(there.page.get_by_text("Your account comes back by that as well.")).to_be_visible()

    def test_back_from_a_passkey_that_was_cancelled(self):
        """Whoever is keeping an account chooses another way for the same one."""
        url = self.ann.invite("frida@example.org")
        with self.guest("frida") as frida:
            frida.page = frida.context.new_page()
            add_authenticator(frida.page, isUserVerified=False)
            frida.open(url)
            frida.press("Only for this visit")
            frida.type_code(frida.prove("frida@example.org"))
            frida.heading("Trip to the coast")
            frida.press("Accept")
            frida.heading("Keep your account first")
            frida.press("Continue with a passkey")
            expect(frida.page.get_by_text("The passkey was not used.")).to_be_visible(timeout=90_000)
            frida.press("Back")
            frida.heading("Keep your account first")
            frida.use_recovery_key()
            expect(frida.page.locator("#count")).to_be_visible(timeout=30_000)
            that(self.sent(frida, "/accounts/create") == 1, "another account was made")
            # Nor does it lead out of the records of whoever adds a way.
            frida.page.locator(".account summary").click()
            frida.press("Add a way to come back")
            frida.press("Continue with a passkey")
            expect(frida.page.get_by_text("The passkey was not used.")).to_be_visible(timeout=90_000)
            frida.press("Back")
            frida.heading("Add a way to come back")
            frida.page.get_by_role("button", name="Back", exact=True).click()
            expect(frida.page.locator("#count")).to_be_visible()

    def test_a_clock_that_is_wrong(self):
        url = self.open_zone("Tower", "Tower", "readOnly")
        with self.guest("tilo") as tilo:
            refused = Message().add(1, b"notAuthenticated").add(2, b"The client's time is more than ten minutes away from the server's.").bytes
            tilo.context.route("**/accounts/create", lambda route: route.fulfill(status=401, body=refused, content_type="application/x-protobuf"), times=1)
            tilo.open(url)
            tilo.press("Only for this visit")
            expect(tilo.page.get_by_text("Check the clock of this device.")).to_be_visible()
            tilo.press("Try again")
            tilo.accept("Tower")

    def test_whoever_comes_back_hears_of_changes(self):
        """In the same tab, whose stream has ended with what went before."""
        url = self.open_zone("Quay", "Quay", "readOnly")
        with self.guest("nele") as nele:
            nele.open(url)
            key = nele.use_recovery_key()
            nele.accept("Quay")
            expect(nele.page.locator("#count")).to_have_text("1 record")
            other = self.world.person("nele-elsewhere")
            other("account", "recover", "--server", self.world.origin, text=key + "\n")
            self.world.canaries.secret("Nele's seed", seed_bytes(other.key_file))
            [browser] = [one for one in other("device", "list")[0]["devices"] if one["name"].startswith("Web browser")]
            other("device", "revoke", browser["id"])
            expect(nele.page.get_by_text("This browser was removed from your account.")).to_be_visible(timeout=60_000)
            nele.press("Back")
            nele.press("Unlock with your recovery key")
            nele.page.get_by_label("Recovery key").fill(key)
            nele.press("Continue")
            expect(nele.page.locator("#count")).to_have_text("1 record")
            for count in (2, 3):
                self.ann.save(f"late-{count}", "--seal", f"title=Late {count}", zone="Quay")
                expect(nele.page.locator("#count")).to_have_text(f"{count} records")

    def test_a_file_that_the_server_has_no_longer(self):
        """It was sent on another day than its record: without one a file stays for a day."""
        url = self.open_zone("Shed", "Shed")
        with self.visitor("ilja", url, "Shed") as ilja:
            dialog = ilja.page.locator("dialog")
            puts = lambda: len([one for one in ilja.requests if one.method == "PUT"])  # noqa: E731
            swept = Message().add(1, Message().add(3, Message().add(1, b"assetFileNotFound").bytes).bytes).bytes
            ilja.press("New record")
            dialog.get_by_role("button", name="Add a file").click()
            dialog.get_by_label("Name of the field").last.fill("scan")
            dialog.locator("input[type=file]").set_input_files(self.world.folder / "people/map.png")
            ilja.context.route("**/records/modify", lambda route: route.abort(), times=1)
            dialog.get_by_role("button", name="Save").click()
            expect(dialog.get_by_role("alert")).to_have_text(UNREACHABLE)
            once = puts()
            that(once > 0, "no file was sent")
            ilja.context.route("**/records/modify", lambda route: route.fulfill(body=swept, content_type="application/x-protobuf"), times=1)
            dialog.get_by_role("button", name="Save").click()
            expect(dialog).to_have_count(0)
            expect(ilja.page.locator("#count")).to_have_text("2 records")
            that(puts() == 2 * once, f"the file was sent in {puts()} requests, and {once} the first time")
            # A server that never has it is not given it without end.
            ilja.press("New record")
            dialog.get_by_role("button", name="Add a file").click()
            dialog.get_by_label("Name of the field").last.fill("scan")
            dialog.locator("input[type=file]").set_input_files(self.world.folder / "people/map.png")
            ilja.context.route("**/records/modify", lambda route: route.fulfill(body=swept, content_type="application/x-protobuf"))
            dialog.get_by_role("button", name="Save").click()
            expect(dialog.get_by_role("alert")).to_have_text("The server has refused that. Load the page again, and try once more.")
            that(puts() == 4 * once, f"the file was sent in {puts()} requests, and {once} the first time")
            dialog.get_by_role("button", name="Cancel").click()

    def test_a_code_of_which_nobody_has_heard(self):
        url = self.ann.invite("odo@example.org")
        with self.guest("odo") as odo:
            odo.open(url)
            odo.use_recovery_key()
            code = odo.prove("odo@example.org")
            # It has not arrived: it is as good as before.
            odo.page.locator("form").evaluate("form => { form.dataset.before = 'yes'; }")
            odo.context.route("**/verification/complete", lambda route: route.abort(), times=1)
            odo.type_code(code)
            odo.page.locator("form:not([data-before])").wait_for()
            odo.heading("Type the code")
            that(odo.page.get_by_text("tries are left").count() == 0, "a try was counted that was none")
            expect(odo.page.get_by_text(UNREACHABLE)).to_be_visible()
            # It has, and is used: the address is proven.
            lost = []

            def lose(route):
                lost.append(route.fetch().status)
                route.abort()

            odo.context.route("**/verification/complete", lose, times=1)
            odo.type_code(f"{wide(code[:4])} {code[4:]}")
            odo.accept()
            that(lost == [200], f"it was not taken: {lost}")

    def test_what_was_typed_survives_a_lost_line(self):
        url = self.open_zone("Ledger", "Ledger")
        with self.visitor("ugo", url, "Ledger") as ugo:
            dialog = ugo.page.locator("dialog")

            def change(title):
                ugo.press("first")
                dialog.get_by_role("button", name="Change").click()
                dialog.get_by_label("title").fill(title)

            # Both have changed the same field, and the line breaks while the choice is saved.
            change("Ugo's")
            self.update("Ledger", "first", "--seal", "title=Ann's")
            dialog.get_by_role("button", name="Save").click()
            dialog.get_by_role("radio", name="Yours").check()
            ugo.context.route("**/records/modify", lambda route: route.abort())
            dialog.get_by_role("button", name="Save").click()
            expect(dialog.get_by_role("alert")).to_have_text(UNREACHABLE)
            expect(dialog.get_by_role("radio", name="Yours")).to_be_checked()
            ugo.shoot("23-kept")
            ugo.context.unroute("**/records/modify")
            dialog.get_by_role("button", name="Save").click()
            expect(ugo.page.get_by_role("cell", name="Ugo's")).to_be_visible()
            # Each has changed a field of their own: both stay, also where the line breaks in between.
            change("Ugo's second")
            self.update("Ledger", "first", "--seal", "note=New")
            tried = []

            def second(route):
                tried.append(1)
                route.abort() if len(tried) == 2 else route.continue_()

            ugo.context.route("**/records/modify", second)
            dialog.get_by_role("button", name="Save").click()
            expect(dialog.get_by_role("alert")).to_have_text(UNREACHABLE)
            expect(dialog.get_by_text("Their changes and yours both stay.")).to_be_visible()
            dialog.get_by_role("button", name="Save").click()
            expect(ugo.page.get_by_role("cell", name="Ugo's second")).to_be_visible()
            ugo.context.unroute("**/records/modify")
            there = str(self.ann("record", "get", "first", "--zone", "Ledger")[0])
            that("Ugo's second" in there and "New" in there, f"the command line reads something else: {there}")

    def test_what_is_typed_goes_by_its_readers_word_alone(self):
        url = self.open_zone("Papers", "Papers")
        with self.visitor("vera", url, "Papers") as vera:
            dialog = vera.page.locator("dialog")
            vera.press("first")
            dialog.get_by_role("button", name="Change").click()
            dialog.get_by_label("title").fill("Second")
            vera.page.keyboard.press("Escape")
            expect(dialog.get_by_text("What you have typed here is not saved yet.")).to_be_visible()
            vera.shoot("24-discard")
            # The question goes as easily, and what was typed stays.
            vera.page.keyboard.press("Escape")
            expect(dialog).to_have_count(1)
            expect(dialog.get_by_label("title")).to_have_value("Second")
            # What is on its way cannot be given up.
            held = Held(vera, "**/records/modify", "POST")
            dialog.get_by_role("button", name="Save").click()
            held.wait()
            expect(dialog.get_by_role("button", name="Cancel")).to_be_disabled()
            # The button that was pressed is switched off, and soon has the focus no longer: the key then goes to no dialog.
            vera.page.evaluate("document.activeElement.blur()")
            vera.page.keyboard.press("Escape")
            vera.page.keyboard.press("Escape")
            vera.page.wait_for_timeout(300)
            expect(dialog).to_have_count(1)
            held.let_go()
            expect(vera.page.get_by_role("cell", name="Second")).to_be_visible()
            # What could not be saved leaves the focus where it was.
            vera.press("first")
            dialog.get_by_role("button", name="Change").click()
            dialog.get_by_label("title").fill("Third")
            vera.context.route("**/records/modify", lambda route: route.abort(), times=1)
            dialog.get_by_role("button", name="Save").click()
            expect(dialog.get_by_role("alert")).to_have_text(UNREACHABLE)
            expect(dialog.get_by_role("button", name="Save")).to_be_focused()
            dialog.get_by_role("button", name="Cancel").click()
            # A file is: nothing comes of the record.
            before = self.sent(vera, "/records/modify")
            vera.press("New record")
            dialog.get_by_role("button", name="Add a file").click()
            dialog.get_by_label("Name of the field").last.fill("scan")
            dialog.locator("input[type=file]").set_input_files(self.world.folder / "people/map.png")
            held = Held(vera, "**/assets/**", "PUT")
            dialog.get_by_role("button", name="Save").click()
            held.wait()
            dialog.get_by_role("button", name="Cancel").click()
            expect(dialog).to_have_count(0)
            held.let_go()
            vera.press("Look for changes")
            vera.page.wait_for_timeout(2000)
            that(self.sent(vera, "/records/modify") == before, "a record that was given up is stored")
            # Whoever is still asked whether to give it up is waited for, whatever has come of the file meanwhile.
            for answer in ("Discard changes", "Cancel"):
                vera.press("New record")
                dialog.get_by_role("button", name="Add a file").click()
                dialog.get_by_label("Name of the field").last.fill("scan")
                dialog.locator("input[type=file]").set_input_files(self.world.folder / "people/map.png")
                held = Held(vera, "**/assets/**", "PUT")
                dialog.get_by_role("button", name="Save").click()
                held.wait()
                vera.page.keyboard.press("Escape")
                expect(dialog.get_by_text("What you have typed here is not saved yet.")).to_be_visible()
                held.let_go()
                vera.page.wait_for_timeout(1000)
                that(self.sent(vera, "/records/modify") == before, "a record goes out while its reader is asked whether to give it up")
                dialog.last.get_by_role("button", name=answer).click()
                expect(dialog).to_have_count(0)
                expect(vera.page.locator("#count")).to_have_text("1 record" if answer == "Discard changes" else "2 records")

    def test_what_is_stored_is_not_offered_again(self):
        url = self.open_zone("Depot", "Depot")
        with self.visitor("dora", url, "Depot") as dora:
            dialog, count = dora.page.locator("dialog"), dora.page.locator("#count")

            @contextlib.contextmanager
            def unread():
                """A change is stored and told, and then the line breaks before the records are read once more."""
                modified, read = [], []

                def modify(route):
                    modified.append(1)
                    route.continue_()

                def changes(route):
                    if modified:
                        read.append(1)
                    route.abort() if len(read) > 1 else route.continue_()

                dora.context.route("**/records/modify", modify)
                dora.context.route("**/records/changes", changes)
                yield
                expect(dora.page.get_by_text(UNREACHABLE)).to_be_visible()
                dora.context.unroute("**/records/modify")
                dora.context.unroute("**/records/changes")
                dora.press("Try again")

            with unread():
                dora.press("New record")
                dialog.get_by_label("Name of the field").fill("title")
                dialog.get_by_label("Value").fill("Made once")
                dialog.get_by_role("button", name="Save").click()
            expect(dora.page.get_by_role("cell", name="Made once")).to_be_visible()
            expect(dialog).to_have_count(0)
            expect(count).to_have_text("2 records")
            with unread():
                dora.press("first")
                dialog.get_by_role("button", name="Delete").click()
                expect(dialog.get_by_text("It goes for everybody in the share.")).to_be_visible()
                dialog.get_by_role("button", name="Delete").click()
            expect(count).to_have_text("1 record")
            expect(dialog).to_have_count(0)

    def test_a_browser_forgets_what_is_on_its_way(self):
        url = self.open_zone("Attic", "Attic", "readOnly")
        with self.guest("nora") as nora:
            nora.open(url)
            key = nora.use_recovery_key()
            nora.accept("Attic")
            nora.open("about:blank")
            nora.open(url)
            nora.press("Unlock with your recovery key")
            nora.page.get_by_label("Recovery key").fill(key)
            metadata, logout = Held(nora, "**/share/metadata", "POST"), Held(nora, "**/accounts/logout", "POST")
            nora.press("Continue")
            metadata.wait()
            nora.page.locator(".account summary").click()
            nora.press("Forget this browser")
            logout.wait()
            # It is at the records by then, and has kept where they are and what was verified of them; the lock waits no longer than two seconds.
            metadata.let_go()
            nora.page.wait_for_timeout(1200)
            logout.let_go()
            nora.heading("This link is incomplete")
            stored = nora.storage()
            that("place" not in stored and "verified" not in stored, f"the browser has not forgotten: {stored}")

    def test_numbers_and_lists_as_people_write_them(self):
        url = self.open_zone("Scales", "Scales")
        self.ann.save("weight", "--seal", "kilograms:double=2.5", "--seal", "items:list-string=a\rb,c", zone="Scales")
        weight = lambda: self.ann("record", "get", "weight", "--zone", "Scales")[0]["record"]["fields"]["kilograms"]["value"]  # noqa: E731
        # By the reader's own keypad, whatever language the page speaks.
        for locale, typed, expected in (("de-DE", "1,5", 1.5), ("de-DE", "1.25", 1.25), ("es-MX", "1,5", None), ("en-GB", "1,5", None), ("en-GB", "0.75", 0.75)):
            with self.guest(f"{locale}-{typed}", locale) as guest:
                dialog, save = guest.page.locator("dialog"), guest.page.locator("dialog button[type=submit]")
                guest.open(url)
                guest.page.locator("main .button.plain").last.click()
                guest.heading("Scales")
                guest.page.locator("main .button.main").click()
                guest.page.get_by_role("button", name="weight", exact=True).click()
                dialog.locator(".button.main").click()
                dialog.get_by_label("kilograms").fill(typed)
                that(dialog.get_by_label("items").count() == 0, "a list that no form can show is offered to be changed")
                save.click()
                if expected is None:
                    expect(dialog.get_by_label("kilograms")).to_have_attribute("aria-invalid", "true")
                else:
                    expect(dialog).to_have_count(0)
                    that(weight() == expected, f"{typed} is {weight()} to {locale}")

    def test_a_file_that_nobody_waits_for(self):
        url = self.open_zone("Plans", "Plans")
        with self.guest("will") as will:
            # Each part of a page has an address of its own until it is given back.
            will.context.add_init_script("""self.fileCount = 0;
                const [make, end] = [URL.createObjectURL, URL.revokeObjectURL];
                URL.createObjectURL = blob => { fileCount += 1; return make.call(URL, blob); };
                URL.revokeObjectURL = url => { fileCount -= 1; end.call(URL, url); };""")
            will.open(url)
            will.press("Only for this visit")
            will.accept("Plans")
            dialog = will.page.locator("dialog")
            # It goes on while the record that it is of changes.
            held = Held(will, "**/assets/**", "GET")
            will.press("first")
            dialog.get_by_role("button", name="Open").click()
            held.wait()
            looks = self.sent(will, "/records/changes")
            self.update("Plans", "first", "--seal", "title=Changed meanwhile")
            will.until(lambda: self.sent(will, "/records/changes") > looks, "the page does not look for it")
            will.page.wait_for_timeout(500)
            expect(dialog.get_by_role("button", name="Opening")).to_be_visible()
            held.let_go()
            expect(dialog.get_by_role("link", name="Save")).to_be_visible()
            will.press("Close")
            expect(dialog).to_have_count(0)
            that(will.page.evaluate("fileCount") == 0, "a file that was closed is kept")
            expect(will.page.get_by_role("cell", name="Changed meanwhile")).to_be_visible()
            # And ends with the dialog.
            held = Held(will, "**/assets/**", "GET")
            will.press("first")
            dialog.get_by_role("button", name="Open").click()
            held.wait()
            will.press("Close")
            held.let_go()
            will.press("Look for changes")
            will.page.wait_for_timeout(2000)
            that(will.page.evaluate("fileCount") == 0, "a file that nobody waited for is kept")

    def test_a_page_that_is_left_locks_itself(self):
        url = self.ann.invite("xena@example.org", permission="readWrite")
        with self.guest("xena") as xena:
            page, dialog = xena.page, xena.page.locator("dialog")
            minutes = lambda count: page.clock.fast_forward(count * 60_000)  # noqa: E731
            page.clock.install()
            xena.open(url)
            xena.press("Continue with a passkey")
            # Before there are records there is nothing to lock, and a link to lose.
            code = xena.prove("xena@example.org")
            minutes(30)
            xena.heading("Type the code")
            xena.type_code(code)
            xena.accept()
            xena.doze()
            xena.shoot("25-idle")
            page.keyboard.press("Shift")
            expect(dialog).to_have_count(0)
            # Nothing that was typed goes with it.
            xena.press("hotel")
            dialog.get_by_role("button", name="Change").click()
            dialog.get_by_label("title").fill("Typed and left")
            for _ in range(3):
                minutes(14)
            expect(dialog.get_by_label("title")).to_have_value("Typed and left")
            looks = self.sent(xena, "/records/changes")
            dialog.get_by_role("button", name="Cancel").click()
            xena.until(lambda: self.sent(xena, "/records/changes") > looks, "the records are not shown again")
            # What the page looks for by itself is no work: a server that never answers keeps nothing open.
            held = Held(xena, "**/records/changes", "POST")
            page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
            held.wait()
            xena.doze()
            minutes(1)
            xena.heading("You were here before")
            held.give_up()
            that(self.sent(xena, "/accounts/logout") == 1, "the session goes on at the server")

    def test_a_machine_that_sleeps_does_not_stay_open(self):
        url = self.open_zone("Desk", "Desk", "readOnly")
        for wake in ("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))", "document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Shift', bubbles: true }))", ""):
            with self.guest("olaf") as olaf:
                olaf.page.clock.install()
                olaf.open(url)
                olaf.press("Only for this visit")
                olaf.accept("Desk")
                # Timers stand still meanwhile, and the time of day does not.
                olaf.page.clock.set_system_time(time.time() + 8 * 3600)
                olaf.page.wait_for_timeout(500)
                expect(olaf.page.locator("#count")).to_be_visible()
                # Or the next look of the page's own at the time.
                if wake:
                    olaf.page.evaluate(wake)
                else:
                    olaf.page.clock.fast_forward(60_000)
                olaf.heading("This link is incomplete")

    def test_a_way_back_for_where_no_passkey_is(self):
        url = self.ann.invite("yuri@example.org")
        with self.guest("yuri") as yuri:
            yuri.open(url)
            yuri.press("Continue with a passkey")
            yuri.type_code(yuri.prove("yuri@example.org"))
            yuri.accept()
            yuri.page.locator(".account summary").click()
            yuri.press("Add a way to come back")
            yuri.heading("Add a way to come back")
            yuri.shoot("26-way")
            key = yuri.use_recovery_key()
            expect(yuri.page.get_by_text("Your account comes back by that as well.")).to_be_visible()
            yuri.press("Continue")
            expect(yuri.page.locator("#count")).to_be_visible()
            yuri.page.locator(".account summary").click()
            yuri.press("Lock")
            # The passkey is the first way still.
            yuri.heading("You were here before")
            that("passkey" in yuri.page.get_by_role("button").first.inner_text(), "another way comes first")
        back = self.world.person("yuri-cli")
        back("account", "recover", "--server", self.world.origin, text=key + "\n")
        that("hotel" in json.dumps(back("record", "list", "--zone", "Trip", "--owner", self.ann.user)), "the command line reads nothing by that account")

    def test_a_link_that_an_app_is_given(self):
        app = "https://app.example.org/open"
        with self.server("server-app", "--fallback-url", f"org.example.notes={app}") as origin, self.guest("alma") as alma:
            owner = Person(self.world, "alba")
            owner("account", "create", "--server", origin)
            owner("zone", "create", "Fair")
            owner("share", "create", "Fair", "--title", "The fair")
            owner("share", "public", "Fair", "readOnly")
            url = owner("share", "url", "Fair")[0]["url"]
            give = alma.page.get_by_role("button", name="Open in the app")
            # A link that was cut is given to nobody.
            alma.open(url[:-9])
            alma.heading("This link is incomplete")
            expect(alma.page.get_by_role("link", name="org.example.notes")).to_be_visible()
            expect(give).to_have_count(0)
            alma.open(url)
            alma.heading("Somebody shares records with you")
            # What asks first is loaded by then, or not.
            alma.context.route("**/afterwards.mjs", lambda route: route.abort())
            give.click()
            expect(alma.page.get_by_text(UNREACHABLE)).to_be_visible()
            alma.context.unroute("**/afterwards.mjs")
            dialog = alma.page.locator("dialog")
            give.click()
            dialog.get_by_role("button", name="Cancel").click()
            that(alma.page.url.startswith(origin), "an app was given the link unasked")
            alma.context.route(f"{app}**", lambda route: route.fulfill(body="<title>An app</title>", content_type="text/html"))
            give.click()
            expect(dialog.get_by_text("The whole link goes along")).to_be_visible()
            alma.shoot("27-app")
            dialog.get_by_role("button", name="Open in the app").click()
            alma.page.wait_for_url(f"{app}**")
            that(alma.page.url == f"{app}#sealkit-share={quote(url, safe='')}", f"the app was given {alma.page.url}")
            # Its server was given nothing.
            that(not any("sealkit-share" in request.url or link_secret(url)[0].decode() in str(request.headers) for request in alma.requests), "the key went out")

    def test_by_keyboard_alone(self):
        """From the link to an edited record, and nothing is ever clicked."""
        url = self.ann.invite("quentin@example.org", permission="readWrite")
        self.ann.save("keys", "--seal", "title=Before")
        with self.guest("quentin") as guest:
            keyboard = guest.page.keyboard
            focus = "(document.activeElement?.labels?.[0] ?? document.activeElement)?.textContent ?? ''"

            def to(text):
                for _ in range(60):
                    if guest.page.evaluate(focus).strip().startswith(text):
                        that(guest.page.evaluate("document.activeElement.matches(':focus-visible')"), f"nobody sees that {text} has the focus")
                        return
                    keyboard.press("Tab")
                that(False, f"the Tab key does not come to {text}")

            def press(text):
                to(text)
                keyboard.press("Enter")

            def write(label, text):
                to(label)
                keyboard.press("Control+A")
                keyboard.type(text)

            guest.open(url)
            guest.heading("Somebody shares records with you")
            press("Use a recovery key")
            guest.heading("Your recovery key")
            write("Type or paste it once more", "-".join(guest.page.locator("#recovery-key li").all_inner_texts()))
            press("Continue")
            guest.heading("Where were you invited?")
            before = self.mails("quentin@example.org")
            write("E-mail address", "quentin@example.org")
            keyboard.press("Enter")
            guest.heading("Type the code")
            write("Code", self.world.code("quentin@example.org", before))
            keyboard.press("Enter")
            guest.heading("Trip to the coast")
            press("Accept")
            expect(guest.page.locator("#count")).to_be_visible(timeout=60_000)
            press("keys")
            press("Change")
            expect(guest.page.get_by_label("title")).to_be_visible()
            write("title", "By the keyboard")
            press("Save")
            expect(guest.page.get_by_role("cell", name="By the keyboard")).to_be_visible()
            # What was looked at goes by one key, and its reader is where they were.
            press("keys")
            expect(guest.page.locator("dialog")).to_be_visible()
            keyboard.press("Escape")
            expect(guest.page.locator("dialog")).to_have_count(0)
            that(guest.page.evaluate(focus) == "keys", "the focus is gone")
        self.ann("record", "delete", "keys", "--zone", "Trip")

    def test_the_focus_comes_back_to_a_row_that_was_drawn_anew(self):
        url = self.open_zone("Wharf", "Wharf")
        with self.visitor("wim", url, "Wharf") as wim:
            dialog, row = wim.page.locator("dialog"), wim.page.get_by_role("button", name="first", exact=True)
            wim.press("first")
            self.update("Wharf", "first", "--seal", "note=Newer")
            expect(dialog.get_by_text("Newer")).to_be_visible()
            wim.page.keyboard.press("Escape")
            expect(row).to_be_focused()
            wim.press("first")
            dialog.get_by_role("button", name="Change").click()
            expect(dialog.get_by_label("title")).to_be_visible()
            self.update("Wharf", "first", "--seal", "note=Newest")
            wim.page.locator("td").get_by_text("Newest").wait_for(state="attached")
            dialog.get_by_role("button", name="Cancel").click()
            expect(row).to_be_focused()

    def test_a_share_of_many_records(self):
        """RECORDS=10000 is the size that it is to be shown at."""
        count = int(os.environ.get("RECORDS", "250"))
        with self.app() as (_, site, origin, owner), self.guest("ines") as writer, self.guest("jon") as reader:
            owner("zone", "create", "Many")
            owner("share", "create", "Many", "--title", "Many")
            owner("share", "public", "Many", "readWrite")
            url = owner("share", "url", "Many")[0]["url"]
            writer.page.goto(site)
            writer.page.evaluate(FILL, {"url": url, "count": count})
            reader.context.add_init_script(COUNTING)
            reader.open(url)
            reader.press("Only for this visit")
            reader.heading("Many")
            begun = time.monotonic()
            reader.press("Accept")
            expect(reader.page.locator("#count")).to_have_text(f"{count} records", timeout=600_000)
            print(f"    {count} records are shown after {time.monotonic() - begun:.1f} s", flush=True)
            row = reader.page.get_by_role("row")
            expect(row).to_have_count(201)
            reader.press("Show more")
            expect(row).to_have_count(min(count, 400) + 1)
            reader.page.get_by_label("Search").fill(f"Entry {count - 1}.")
            expect(row).to_have_count(2)
            reader.page.get_by_label("Search").fill("")
            that(reader.page.evaluate("opened.reduce((sum, one) => sum + one, 0)") == count, "they are opened more than once")
            # What others change is opened, and nothing else.
            begun = time.monotonic()
            writer.page.evaluate("rename('Changed by somebody else')")
            reader.page.get_by_label("Search").fill("Changed by somebody else")
            expect(reader.page.get_by_role("cell", name="Changed by somebody else")).to_be_visible(timeout=60_000)
            print(f"    a change is shown after {time.monotonic() - begun:.1f} s", flush=True)
            that(reader.page.evaluate("opened.reduce((sum, one) => sum + one, 0)") == count + 1, f"more than what has changed was opened: {reader.page.evaluate('opened')}")

    def test_the_digits_that_were_compared(self):
        self.ann("zone", "create", "Second")
        self.ann("share", "create", "Second", "--title", "The second")
        urls = [self.ann.invite("gina@example.org"), self.ann.invite("gina@example.org", zone="Second")]
        with self.guest("gina") as gina:
            gina.open(urls[0])
            key = gina.use_recovery_key()
            gina.type_code(gina.prove("gina@example.org"))
            gina.heading("Trip to the coast")
            gina.page.get_by_text("Compare safety numbers").click()
            gina.press("We see the same digits")
            expect(gina.page.get_by_text("You have compared these digits with the owner.")).to_be_visible()
            gina.accept()

            def again():
                gina.open("about:blank")
                gina.open(urls[1])
                gina.press("Unlock with your recovery key")
                gina.page.get_by_label("Recovery key").fill(key)
                gina.press("Continue")
                gina.page.get_by_role("heading", name="The second").or_(gina.page.get_by_role("heading", name="Where were you invited?")).wait_for()
                if gina.page.get_by_role("heading", name="Where were you invited?").is_visible():
                    gina.type_code(gina.prove("gina@example.org"))
                gina.heading("The second")

            # The next share of the same owner's is known by them, and one that shows others is not.
            again()
            expect(gina.page.get_by_text("You have compared these digits with the owner.")).to_be_visible()
            gina.page.evaluate("""() => new Promise((resolve, reject) => {
                const asked = indexedDB.open('sealkit');
                asked.onsuccess = () => {
                    const change = asked.result.transaction('kept', 'readwrite');
                    const cursor = change.objectStore('kept').openCursor(IDBKeyRange.bound('compared ', 'compared ~'));
                    cursor.onsuccess = () => cursor.result.update('0'.repeat(60));
                    change.oncomplete = () => { asked.result.close(); resolve(); };
                    change.onerror = reject;
                };
            })""")
            again()
            other = gina.page.get_by_text("These are other digits than those that you have compared with this owner.")
            expect(other).to_be_visible()
            gina.shoot("28-other-digits")
            # By whatever name the server calls the account.
            gina.context.route("**/accounts/login", lambda route: route.fulfill(
                body=Message(route.fetch().body()).set(3, b"somebody-else").bytes, content_type="application/x-protobuf"))
            again()
            that("somebody" in gina.page.locator(".account summary").inner_text(), "the account is called as before")
            expect(other).to_be_visible()
            # And those that an older page kept, by that name.
            gina.page.evaluate("""() => new Promise((resolve, reject) => {
                const asked = indexedDB.open('sealkit');
                asked.onsuccess = () => {
                    const change = asked.result.transaction('kept', 'readwrite');
                    const store = change.objectStore('kept');
                    const cursor = store.openCursor(IDBKeyRange.bound('compared ', 'compared ~'));
                    cursor.onsuccess = () => {
                        const { key, value } = cursor.result;
                        store.delete(key);
                        store.put(value, `compared somebody-else ${key.split(' ').at(-1)}`);
                    };
                    change.oncomplete = () => { asked.result.close(); resolve(); };
                    change.onerror = reject;
                };
            })""")
            again()
            expect(other).to_be_visible()

    def test_a_passkey_that_is_none(self):
        url = self.ann.invite("hedda@example.org")
        for name, other, said in (("cannot", {"hasPrf": False}, "cannot keep keys"), ("refused", {"isUserVerified": False}, "The passkey was not used.")):
            with self.guest(f"passkey-{name}") as guest:
                guest.page = guest.context.new_page()
                add_authenticator(guest.page, **other)
                guest.open(url)
                guest.press("Continue with a passkey")
                expect(guest.page.get_by_text(said)).to_be_visible(timeout=90_000)
                guest.shoot(f"29-passkey-{name}")
                guest.press("Back")
                guest.use_recovery_key()
                guest.heading("Where were you invited?")

    def test_a_server_that_makes_accounts_by_invitation(self):
        with self.server("server-invite", "--registration", "invite", "--operator", "127.0.0.1:0") as origin, self.guest("ilse") as ilse:
            def code():
                done = subprocess.run([self.world.binary, "admin", "invite", "--data", self.world.folder / "server-invite", "--quiet"], capture_output=True,
                                      text=True, env=self.world.environment())
                that(done.returncode == 0, done.stderr)
                return done.stdout.strip()

            owner = Person(self.world, "ingo")
            owner("account", "create", "--server", origin, "--registration-code", code())
            owner("zone", "create", "Fair")
            owner("share", "create", "Fair", "--title", "The fair")
            owner("share", "public", "Fair", "readOnly")
            ilse.open(owner("share", "url", "Fair")[0]["url"])
            ilse.use_recovery_key()
            ilse.heading("Registration code")
            ilse.shoot("30-registration")
            ilse.page.get_by_label("Registration code").fill("none")
            ilse.press("Continue")
            expect(ilse.page.get_by_text("The code is not good, or no longer.")).to_be_visible()
            # The account is made, by a code that is used from then on, and nobody hears of it.
            lost = []

            def lose(route):
                lost.append(route.fetch().status)
                route.abort()

            ilse.context.route("**/accounts/create", lose, times=1)
            ilse.page.get_by_label("Registration code").fill(code())
            ilse.press("Continue")
            expect(ilse.page.get_by_text(UNREACHABLE)).to_be_visible()
            that(lost == [200], f"no account was made: {lost}")
            ilse.press("Try again")
            ilse.accept("The fair")

    def test_sound_that_plays_goes_on(self):
        sound = self.world.folder / "people/sound.wav"
        with wave.open(str(sound), "wb") as out:
            out.setnchannels(1)
            out.setsampwidth(1)
            out.setframerate(8000)
            out.writeframes(bytes(128 + index % 40 for index in range(16_000)))
        url = self.open_zone("Songs", "Songs")
        self.ann.save("song", "--seal", "title=A song", "--asset", f"sound={sound}", zone="Songs")
        with self.guest("jens") as jens:
            jens.page.clock.install()
            jens.open(url)
            jens.press("Only for this visit")
            jens.accept("Songs")
            jens.press("song")
            jens.press("Open")
            audio = jens.page.locator("dialog audio")
            expect(audio).to_be_visible()
            that(audio.evaluate("audio => { audio.loop = true; return audio.play().then(() => audio.duration); }") == 2, "another sound is played")
            for _ in range(3):
                jens.page.clock.fast_forward(14 * 60_000)
            expect(audio).to_be_visible()
            expect(jens.page.get_by_text("In a minute it locks itself.")).to_have_count(0)
            audio.evaluate("audio => audio.pause()")
            jens.doze()

    def test_a_video_is_played(self):
        """Recorded by the browser itself: half red, then blue, so that its end is another picture than its beginning."""
        video = self.world.folder / "people/film.webm"
        url = self.open_zone("Reels", "Reels")
        with self.guest("vito") as vito:
            vito.open(url)
            recorded = vito.page.evaluate(RECORD_VIDEO)
            video.write_bytes(bytes(recorded))
            self.ann.save("reel", "--seal", "title=A reel", "--asset", f"film={video}", zone="Reels")
            vito.press("Only for this visit")
            vito.accept("Reels")
            vito.press("reel")
            vito.press("Open")
            player = vito.page.locator("dialog video")
            expect(player).to_be_visible()
            first, last, size = player.evaluate(PLAY_VIDEO)
            that(size == [64, 48], f"another film is played: {size}")
            that(first[0] > 150 > 100 > first[2] and last[2] > 150 > 100 > last[0], f"it is played from {first} to {last}")
            with vito.page.expect_download() as download:
                vito.page.locator("dialog").get_by_role("link", name="Save").click()
            that(download.value.path().read_bytes() == video.read_bytes(), "the saved film is another")

    def test_a_table_is_one_at_any_width(self):
        url = self.open_zone("Stalls", "Stalls", "readOnly")
        with self.visitor("zoe", url, "Stalls") as zoe:
            zoe.page.set_viewport_size({"width": 320, "height": 800})
            nodes = zoe.page.context.new_cdp_session(zoe.page).send("Accessibility.getFullAXTree")["nodes"]
            roles = [node["role"]["value"] for node in nodes if not node.get("ignored")]
            # By its style alone this browser would leave out the group, and others all of it.
            that({"table", "rowgroup", "row", "cell"} <= set(roles), f"it is none: {sorted(set(roles))}")
            # What is written from right to left is shown so, also where the page is not.
            self.ann.save("greeting", "--seal", "title=שלום!", zone="Stalls")
            text = zoe.page.locator("td .clip", has_text="שלום!")
            text.wait_for()
            first, last = text.evaluate("""element => [0, 4].map(place => {
                const range = new Range();
                range.setStart(element.firstChild, place);
                range.setEnd(element.firstChild, place + 1);
                return range.getBoundingClientRect().left;
            })""")
            that(last < first, "its end stands on the right")
            zoe.page.get_by_label("Search").fill("nobody has that")
            expect(zoe.page.get_by_role("status").filter(has_text="Nothing matches.")).to_be_visible()
