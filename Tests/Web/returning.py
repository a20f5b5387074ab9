"""Visits one after the other, between which a server goes back, or shows something else: what was verified at one is known at the next."""

import contextlib
import shutil
import subprocess

from playwright.sync_api import expect

from hostile import FAILED, NAME, RECORDS, REFUSED
from liar import Liar, Message
from world import Person, link_secret, that

from processes import stop

SHORTENED = "The server has lost a part of the list of people."
FORKED = "The server shows another list of people than it has shown before."
DAMAGED = "What this browser has kept of the share is damaged."
FIRST_SEEN = "This browser has not seen this share before, or has forgotten it"
# What the browser has kept of what was verified: how often, and each as text.
KEPT = """change => new Promise((resolve, reject) => {
    const request = indexedDB.open('sealkit');
    request.onerror = reject;
    // There is none: it is not made either.
    request.onupgradeneeded = () => {
        request.onerror = () => resolve([]);
        request.transaction.abort();
    };
    request.onsuccess = () => {
        const store = request.result.transaction('kept', 'readwrite').objectStore('kept');
        const found = [];
        store.openCursor().onsuccess = ({ target: { result } }) => {
            if (!result) {
                request.result.close();
                return resolve(found);
            }
            if (result.key.startsWith('verified ')) {
                found.push([...result.value].join(' '));
                if (change === 'flip') result.update(result.value.map((byte, index) => index === 40 ? byte ^ 1 : byte));
                if (change === 'cut') result.update(result.value.slice(0, -1));
                if (change === 'empty') result.update(new Uint8Array(0));
            }
            result.continue();
        };
    };
})"""


class Past:
    """A server at one address, which can be as it was: an older copy of all that it had, run in its place."""

    def __init__(self, world, name, more):
        self.world, self.name, self.more, self.process, self.liar = world, name, more, None, Liar(0)
        self.origin = f"http://localhost:{self.liar.port}"
        self.go("now")

    def _data(self, when):
        return self.world.folder / f"{self.name}-{when}"

    def go(self, when):
        if self.process:
            stop(self.process)
        self.process = subprocess.Popen(
            [str(self.world.binary), "serve", "--data", str(self._data(when)), "--listen", "127.0.0.1:0", "--origin", self.origin, *self.more],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.world.log.open("ab"), env=self.world.environment(), start_new_session=True)
        line = self.process.stdout.readline().decode().strip()
        that(line.startswith("listening on http://"), f"the server does not start as of {when}")
        self.liar.target = int(line.rsplit(":", 1)[1])

    def keep(self, when):
        """As it is now, to go back to."""
        stop(self.process)
        for end in ("", ".secrets"):
            shutil.copytree(f"{self._data('now')}{end}", f"{self._data(when)}{end}")
        self.go("now")

    def owner(self):
        owner = Person(self.world, f"{self.name}-owner")
        owner.user = owner("account", "create", "--server", self.origin)[0]["userRecordName"]
        owner("zone", "create", "Fair")
        owner.save("stand", "--seal", "title=Stand 1", zone="Fair")
        owner("share", "create", "Fair", "--title", "The fair")
        owner("share", "public", "Fair", "readWrite")
        owner.url = owner("share", "url", "Fair")[0]["url"]
        self.world.canaries.secret(f"the URL of {self.name}, after the #", link_secret(owner.url)[0])
        return owner

    def twin(self, owner):
        """Whoever the owner is by now, on another device."""
        twin = Person(self.world, f"{owner.key_file.parent.name}-twin")
        shutil.copytree(owner.key_file.parent, twin.key_file.parent, dirs_exist_ok=True)
        return twin

    def close(self):
        stop(self.process)
        self.liar.close()


class ReturningTests:
    @contextlib.contextmanager
    def past(self, name, *more):
        past = Past(self.world, name, more)
        try:
            yield past
        finally:
            past.close()

    def comes_back(self, guest):
        """The next visit, without the link."""
        guest.page.reload()
        guest.heading("You were here before")
        guest.press("Unlock with your passkey")

    def shows(self, guest, count, *titles):
        expect(guest.page.locator("#count")).to_have_text(f"{count} record" + ("" if count == 1 else "s"))
        for title in titles:
            expect(guest.page.get_by_role("cell", name=title, exact=True)).to_be_visible()

    def nothing_shown(self, guest, why):
        guest.heading(FAILED)
        expect(guest.page.get_by_text(why)).to_be_visible()
        that(guest.page.get_by_role("cell").count() == 0, "something of it is shown")

    def test_returning_to_a_roster_that_went_back(self):
        with self.past("rosters") as past, self.guest("vic") as vic:
            owner = past.owner()
            vic.open(owner.url)
            vic.press("Continue with a passkey")
            vic.heading("The fair")
            past.keep("before")
            vic.accept("The fair")
            that(vic.page.get_by_text(FIRST_SEEN).count() == 0, "a share that was just accepted is said to have been forgotten")
            past.keep("then")
            twin = past.twin(owner)
            owner("zone", "rotate", "Fair")
            owner.save("late", "--seal", "title=Stand 2", zone="Fair")
            self.comes_back(vic)
            self.shows(vic, 2, "Stand 2")
            that(vic.page.get_by_text(FIRST_SEEN).count() == 0, "it does not know the share")
            that(len(vic.page.evaluate(KEPT, "")) == 1, "what was verified is not kept")

            # The server as it was before: nothing of it is shown, with the link or without, nor is it accepted once more.
            past.go("then")
            self.comes_back(vic)
            self.nothing_shown(vic, SHORTENED)
            vic.shoot("33-went-back")
            vic.open("about:blank")
            vic.open(owner.url)
            vic.press("Unlock with your passkey")
            self.nothing_shown(vic, SHORTENED)
            past.go("before")
            vic.open("about:blank")
            vic.open(owner.url)
            vic.press("Unlock with your passkey")
            self.nothing_shown(vic, SHORTENED)
            that(vic.page.get_by_role("button", name="Accept").count() == 0, "it is offered to be accepted again")

            # From there it goes on in another way, past what was seen.
            past.go("then")
            for number in (3, 4):
                twin("zone", "rotate", "Fair")
                twin.save(f"other-{number}", "--seal", f"title=Stand {number}", zone="Fair")
            for _ in range(5):
                twin("zone", "rotate", "Fair")
            self.comes_back(vic)
            self.nothing_shown(vic, FORKED)
            # What was refused takes nothing from what is known: the server as it is goes on.
            past.go("now")
            self.comes_back(vic)
            self.shows(vic, 2, "Stand 2")
            that(vic.page.get_by_text(FIRST_SEEN).count() == 0, "it does not know the share")

            # Forgotten, it is nobody's: what the server shows now is held against nothing.
            past.go("then")
            vic.open("about:blank")
            vic.open(owner.url)
            vic.press("Forget this browser")
            vic.heading("Somebody shares records with you")
            that(vic.page.evaluate(KEPT, "") == [], "what was verified is not forgotten")
            vic.press("I have an account here")
            vic.press("Unlock with your passkey")
            self.shows(vic, 3, "Stand 4")
            expect(vic.page.get_by_text(FIRST_SEEN)).to_be_visible()
            vic.shoot("34-first-seen")
            # And from then on it is the other one that is known, which has more.
            past.go("now")
            self.comes_back(vic)
            self.nothing_shown(vic, SHORTENED)
            # Nor is it less where the owner gives it up, and has less there: by which keys they would have to say so is not known here.
            twin("zone", "end-fork", "Fair", "--yes")
            self.comes_back(vic)
            self.nothing_shown(vic, FORKED)
            # With the link it is the same, then and once they have more there than was seen.
            twin("share", "create", "Fair", "--title", "The fair")
            twin("share", "public", "Fair", "readWrite")
            url = twin("share", "url", "Fair")[0]["url"]
            for rotations in (0, 8):
                for _ in range(rotations):
                    twin("zone", "rotate", "Fair")
                vic.open("about:blank")
                vic.open(url)
                vic.press("Unlock with your passkey")
                self.nothing_shown(vic, FORKED)
                that(vic.page.get_by_role("button", name="Accept").count() == 0, "what the owner has given up is offered to be accepted anew")

    def disbelieved(self, guest, *names):
        """The records that are not believed, and no others."""
        rows = guest.page.get_by_role("row").filter(has_text=REFUSED)
        expect(rows).to_have_count(len(names))
        for name in names:
            expect(rows.filter(has_text=name)).to_have_count(1)

    def test_returning_to_records_that_went_back(self):
        with self.past("records") as past, self.guest("yul") as yul:
            owner = past.owner()
            for name in ("second", "gone"):
                owner.save(name, "--seal", f"title=The {name}", zone="Fair")
            yul.open(owner.url)
            yul.press("Continue with a passkey")
            yul.accept("The fair")
            self.shows(yul, 3, "Stand 1", "The second", "The gone")
            past.keep("then")
            owner.save("stand", "--update", "--seal", "title=Stand 1b", zone="Fair")
            owner("record", "delete", "gone", "--zone", "Fair")
            owner.save("late", "--seal", "title=Stand 2", zone="Fair")
            self.comes_back(yul)
            self.shows(yul, 3, "Stand 1b", "The second", "Stand 2")
            self.disbelieved(yul)
            # The list of people is the same. One record is older, one was deleted since, one is gone without a word.
            past.go("then")
            self.comes_back(yul)
            self.shows(yul, 4, "The second")
            self.disbelieved(yul, "stand", "gone", "late")
            for title in ("Stand 1", "The gone", "Stand 2"):
                that(yul.page.get_by_text(title, exact=True).count() == 0, f"{title} is shown")
            yul.shoot("36-records-went-back")
            # What was refused takes nothing from what is known.
            past.go("now")
            self.comes_back(yul)
            self.shows(yul, 3, "Stand 1b", "The second", "Stand 2")
            self.disbelieved(yul)
            # A record that is there, and that the feed leaves out.
            with past.liar.lie("records/changes", lambda _, ask: Message(ask()).edit(RECORDS, lambda record: None if record.get(NAME) == b"second" else record).bytes):
                self.comes_back(yul)
                self.shows(yul, 3, "Stand 1b", "Stand 2")
                self.disbelieved(yul, "second")

            # A record of before the last key that is hidden once is not refused for good: who knows nothing of it is as one who comes anew.
            owner.save("shy", "--seal", "title=Stand 0", zone="Fair")
            owner("zone", "rotate", "Fair")
            owner.save("after", "--seal", "title=Stand 3", zone="Fair")
            with past.liar.lie("records/changes", lambda _, ask: Message(ask()).edit(RECORDS, lambda record: None if record.get(NAME) == b"shy" else record).bytes):
                self.comes_back(yul)
                self.shows(yul, 4, "Stand 3")
                self.disbelieved(yul)
            self.comes_back(yul)
            self.shows(yul, 5, "Stand 0", "Stand 3")
            self.disbelieved(yul)

    def test_returning_after_an_absence(self):
        """Whoever was out meanwhile is not told that what went then is withheld."""
        with self.past("absence") as past, self.guest("zack") as zack:
            owner = past.owner()
            owner.save("gone", "--seal", "title=The gone", zone="Fair")
            zack.open(owner.url)
            zack.press("Continue with a passkey")
            zack.accept("The fair")
            self.shows(zack, 2, "The gone")
            [other] = [one["userRecordName"] for one in owner("share", "show", "Fair")[0]["participants"] if one["role"] != "owner"]
            owner("share", "remove", "Fair", other)
            owner("record", "delete", "gone", "--zone", "Fair")
            zack.press("Look for changes")
            zack.heading(FAILED)
            url = owner("share", "url", "Fair")[0]["url"]
            zack.open("about:blank")
            zack.open(url)
            zack.press("Unlock with your passkey")

            def without(_, ask):
                return Message(ask()).edit(RECORDS, lambda record: None if record.get(NAME) == b"gone" else record).bytes

            def unheard(_, ask):
                return Message(ask()).edit(1, lambda result: Message().add(1, result.get(1)).add(3, Message().add(1, b"unknownItem").bytes)).bytes

            # How it went no server has to show to whoever was out, and an honest one may not be able to.
            with past.liar.lie("records/changes", without), past.liar.lie("records/lookup", unheard):
                zack.accept("The fair")
                self.shows(zack, 1, "Stand 1")
                self.disbelieved(zack)
                self.comes_back(zack)
                self.shows(zack, 1, "Stand 1")
                self.disbelieved(zack)

    def test_returning_to_what_is_damaged(self):
        with self.past("damaged") as past, self.guest("wes") as wes:
            owner = past.owner()
            wes.open(owner.url)
            wes.press("Continue with a passkey")
            wes.accept("The fair")
            for change in ("flip", "cut"):
                that(len(wes.page.evaluate(KEPT, change)) == 1, "nothing was kept")
                self.comes_back(wes)
                self.nothing_shown(wes, DAMAGED)
                # It stays as it is until its reader says so.
                self.comes_back(wes)
                self.nothing_shown(wes, DAMAGED)
                wes.shoot("35-damaged")
                wes.press("Begin anew")
                self.shows(wes, 1, "Stand 1")
                expect(wes.page.get_by_text(FIRST_SEEN)).to_be_visible()
                self.comes_back(wes)
                self.shows(wes, 1, "Stand 1")
                that(wes.page.get_by_text(FIRST_SEEN).count() == 0, "it was not kept anew")
            # While the share is open, too, before more is kept.
            wes.page.evaluate(KEPT, "flip")
            owner.save("more", "--seal", "title=Stand 2", zone="Fair")
            wes.press("Look for changes")
            self.nothing_shown(wes, DAMAGED)
            wes.press("Begin anew")
            self.shows(wes, 2, "Stand 2")
            # An account of one visit leaves nothing, and another account's is not what is known here.
            with self.guest("wes-once") as once:
                once.open(owner.url)
                once.press("Only for this visit")
                once.accept("The fair")
                that(once.page.evaluate(KEPT, "") == [], "an account of one visit has left something")
            kept = wes.page.evaluate(KEPT, "")
            wes.open("about:blank")
            wes.open(owner.url)
            wes.press("Make a new account")
            wes.press("Use a passphrase")
            wes.page.get_by_label("Name").fill("somebody else")
            word = self.world.canaries.word("another passphrase") + " at this browser"
            for label in ("Passphrase", "Passphrase once more"):
                wes.page.get_by_label(label, exact=True).fill(word)
            wes.press("Continue")
            wes.accept("The fair")
            after = wes.page.evaluate(KEPT, "")
            that(len(after) == 2 and kept[0] in after, "what another account knows was changed")

    def test_returning_as_a_device_that_was_removed(self):
        with self.past("removed") as past, self.guest("nora") as nora:
            owner = past.owner()
            nora.open(owner.url)
            key = nora.use_recovery_key()
            nora.accept("The fair")
            other = Person(self.world, "nora-elsewhere")
            other("account", "recover", "--server", past.origin, text=key + "\n")
            for time in ("open", "locked"):
                [browser] = [one for one in other("device", "list")[0]["devices"] if one["name"].startswith("Web browser")]
                other("device", "revoke", browser["id"])
                if time == "open":
                    nora.page.evaluate("dispatchEvent(new Event('visibilitychange'))")
                    expect(nora.page.get_by_text("This browser was removed from your account.")).to_be_visible(timeout=60_000)
                    nora.shoot("38-removed")
                    nora.press("Back")
                else:
                    nora.page.reload()
                # Whoever has the account's key comes back, as another device, and what was verified here is known.
                nora.heading("You were here before")
                nora.press("Unlock with your recovery key")
                nora.page.get_by_label("Recovery key").fill(key)
                nora.press("Continue")
                self.shows(nora, 1, "Stand 1")
                that(nora.page.get_by_text(FIRST_SEEN).count() == 0, "it does not know the share")
            [again] = [one for one in other("device", "list")[0]["devices"] if one["name"].startswith("Web browser")]
            nora.page.reload()
            nora.press("Unlock with your recovery key")
            nora.page.get_by_label("Recovery key").fill(key)
            nora.press("Continue")
            self.shows(nora, 1, "Stand 1")
            browsers = [one["id"] for one in other("device", "list")[0]["devices"] if one["name"].startswith("Web browser")]
            that(browsers == [again["id"]], f"it is another device at each visit: {browsers}")

    def test_returning_in_two_tabs(self):
        """What one tab keeps the other one goes by, and writes nothing older over it."""
        with self.past("tabs") as past, self.guest("xia") as xia:
            owner = past.owner()
            xia.open(owner.url)
            key = xia.use_recovery_key()
            xia.accept("The fair")
            first, xia.page = xia.page, xia.tab()
            xia.open(owner.url)
            xia.press("Unlock with your recovery key")
            xia.page.get_by_label("Recovery key").fill(key)
            xia.press("Continue")
            self.shows(xia, 1, "Stand 1")
            second = xia.page
            # The second tab is shown what it was shown before.
            answers = {}

            def stale(route):
                name = route.request.url.rsplit("/", 1)[1]
                answers[name] = answers.get(name) or route.fetch().body()
                route.fulfill(body=answers[name], content_type="application/x-protobuf")

            second.route("**/records/changes", stale)
            xia.press("Look for changes")
            self.shows(xia, 1)
            before = first.evaluate(KEPT, "")
            owner("zone", "rotate", "Fair")
            owner.save("stand", "--update", "--seal", "title=Stand 1b", zone="Fair")
            owner.save("late", "--seal", "title=Stand 2", zone="Fair")
            xia.page = first
            xia.press("Look for changes")
            self.shows(xia, 2, "Stand 1b", "Stand 2")
            newest = first.evaluate(KEPT, "")
            that(newest != before, "what was verified is not kept")
            xia.page = second
            xia.press("Look for changes")
            self.shows(xia, 1)
            that(first.evaluate(KEPT, "") == newest, "an older state was written over a newer one")
            # What it hears of by the other one is not left at that: what goes by fewer people than it knows of is not read.
            xia.press("Look for changes")
            self.nothing_shown(xia, SHORTENED)
            that(second.get_by_text("Stand 1", exact=True).count() == 0, "an older state goes on being shown")
            second.unroute("**/records/changes")
            xia.press("Try again")
            self.shows(xia, 2, "Stand 1b", "Stand 2")
            # A tab that was open when all was forgotten keeps nothing of it.
            first.locator(".account summary").click()
            xia.page = first
            xia.press("Forget this browser")
            xia.heading("This link is incomplete")
            xia.page = second
            owner.save("later", "--seal", "title=Stand 3", zone="Fair")
            xia.press("Look for changes")
            self.shows(xia, 3, "Stand 3")
            that(first.evaluate(KEPT, "") == [], "what was forgotten is kept again")
