"""The server that lies, played through the page: SECURITY.md's lines on what it may show a guest, each with the lie and what is seen."""

import contextlib
import itertools
import json
import os
import queue

from playwright.sync_api import expect

from liar import Liar, Message, flip
from world import link_secret, seed_bytes, that

# Numbers of fields (Sources/SealWire/sealkit.proto).
RECORDS, TOKEN, MORE, SCOPES = 1, 2, 3, 4
NAME, CHANGE_TAG, FIELDS, STATEMENT, PROOF, DELETED = 1, 3, 6, 7, 8, 10
REFUSED = "This record does not verify, and nothing of it is shown."
UNUSABLE = "What the server showed does not verify, and nothing of it is used."
FAILED = "That did not work"


class HostileTests:
    @contextlib.contextmanager
    def liar(self):
        """Between the browsers and the server for as long as it lasts."""
        liar = Liar(self.world.server_port)
        self.world.proxy.target = liar.port
        try:
            yield liar
        finally:
            self.world.proxy.target = self.world.server_port
            liar.close()

    @contextlib.contextmanager
    def fair(self, name, title="Village fair"):
        """A guest of a share that is open to everybody, before its invitation is shown; the zone is named as the guest."""
        zone = f"Fair {name}"
        self.ann("zone", "create", zone)
        self.ann.save("stand", "--seal", "title=Stand 12", "--set", "row=north", zone=zone, kind="Stand")
        self.ann("share", "create", zone, "--title", title)
        self.ann("share", "public", zone, "readWrite")
        url = self.ann("share", "url", zone)[0]["url"]
        self.world.canaries.secret(f"the public URL of {zone}, after the #", link_secret(url)[0])
        with self.liar() as liar, self.guest(name) as guest:
            guest.open(url)
            guest.heading("Somebody shares records with you")
            yield guest, liar, zone

    def save(self, zone, name, title):
        self.ann.save(name, "--seal", f"title={title}", "--set", "row=north", zone=zone, kind="Stand")

    def test_hostile_records(self):
        def statement(record):
            return record.set(STATEMENT, flip(record.get(STATEMENT)))

        def proof(record):
            return record.edit(PROOF, lambda proof: proof.set(1, flip(proof.get(1))))

        def sealed(record):
            return record.edit(FIELDS, lambda field: field.edit(3, lambda value: value.set(2, flip(value.get(2)))))

        def plain(record):
            return record.edit(FIELDS, lambda field: field.edit(2, lambda value: value.set(1, b"south")))

        def fewer(record):
            return record.edit(FIELDS, lambda field: None if field.get(1) == b"row" else field)

        def more(record):
            return record.add(FIELDS, Message().add(1, b"extra").add(2, Message().add(1, b"made up").bytes).bytes)

        def exchanged(record):
            """What another record has, under this one's name."""
            return Message(others["stand"]).set(NAME, record.get(NAME))

        lies = [statement, proof, sealed, plain, fewer, more, exchanged]
        others = {}

        def changed(lie, name):
            def change(_, ask):
                answer = Message(ask())
                for record in answer.all(RECORDS):
                    others[Message(record).get(NAME).decode()] = record
                return answer.edit(RECORDS, lambda record: lie(record) if record.get(NAME).decode() == name else record).bytes
            return change

        with self.fair("hostile-records") as (guest, liar, zone):
            guest.press("Only for this visit")
            with liar.lie("records/changes", changed(lambda record: record, "")):
                guest.accept("Village fair")
            that("stand" in others, "nothing went through the one that lies")
            for number, lie in enumerate(lies, 1):
                name = f"{lie.__name__}-stand"
                self.save(zone, name, f"Stand of {lie.__name__}")
                with liar.lie("records/changes", changed(lie, name)):
                    guest.press("Look for changes")
                    expect(guest.page.get_by_role("row", name=name)).to_contain_text(REFUSED)
                # Told, not opened, and not offered to be changed.
                that(guest.page.get_by_text(f"Stand of {lie.__name__}").count() == 0, f"{lie.__name__}: something of it is shown")
                that(guest.page.get_by_role("button", name=name).count() == 0, f"{lie.__name__}: it is offered to be opened")
                self.ann("record", "save", "--zone", zone, "--type", "Stand", "--name", name, "--update", "--seal", f"title=Good {number}")
                guest.press("Look for changes")
                expect(guest.page.get_by_role("cell", name=f"Good {number}")).to_be_visible()
            # An older version of a record after a newer one, with another place in the feed.
            old = others["stand"]
            self.ann("record", "save", "--zone", zone, "--type", "Stand", "--name", "stand", "--update", "--seal", "title=Stand 13")
            guest.press("Look for changes")
            expect(guest.page.get_by_role("cell", name="Stand 13")).to_be_visible()
            self.save(zone, "next", "Next")
            with liar.lie("records/changes", lambda _, ask: Message(ask()).add(RECORDS, old).bytes):
                guest.press("Look for changes")
                expect(guest.page.get_by_role("row", name="stand", exact=True).or_(guest.page.get_by_role("row").filter(has_text=REFUSED))).to_contain_text(REFUSED)
            that(guest.page.get_by_text("Stand 12").count() == 0, "an older version is shown")
            # The feed from its beginning once more, without a record that was shown.
            asked = []

            def begun_anew(_, ask):
                asked.append(1)
                if len(asked) == 1:
                    return 400, Message().add(1, b"changeTokenExpired").bytes
                return Message(ask()).edit(RECORDS, lambda record: None if record.get(NAME) == b"next" else record).bytes

            with liar.lie("records/changes", begun_anew):
                guest.press("Look for changes")
                expect(guest.page.get_by_role("row").filter(has_text="next")).to_contain_text(REFUSED)
            that(len(asked) == 3, f"the feed was asked for {len(asked)} times")
            # The same without a record that is deleted, as a feed is whose old deletions are gone: what it does not bring is asked for by name.
            self.ann("record", "delete", "fewer-stand", "--zone", zone)
            asked.clear()

            def compacted(_, ask):
                asked.append(1)
                if len(asked) == 1:
                    return 400, Message().add(1, b"changeTokenExpired").bytes
                return Message(ask()).edit(RECORDS, lambda record: None if record.get(NAME) == b"fewer-stand" else record).bytes

            with liar.lie("records/changes", compacted):
                guest.press("Look for changes")
                expect(guest.page.get_by_role("row").filter(has_text="fewer-stand")).to_have_count(0)
            expect(guest.page.get_by_role("row").filter(has_text="more-stand")).to_have_count(1)
            # And one that is asked for by name, and that the server says it has never had.
            asked.clear()

            def without(_, ask):
                asked.append(1)
                if len(asked) == 1:
                    return 400, Message().add(1, b"changeTokenExpired").bytes
                return Message(ask()).edit(RECORDS, lambda record: None if record.get(NAME) == b"more-stand" else record).bytes

            def unheard(_, ask):
                return Message(ask()).edit(1, lambda result: Message().add(1, result.get(1)).add(3, Message().add(1, b"unknownItem").bytes)).bytes

            with liar.lie("records/changes", without), liar.lie("records/lookup", unheard):
                guest.press("Look for changes")
                expect(guest.page.get_by_role("row").filter(has_text="more-stand")).to_contain_text(REFUSED)
            # A deletion that nobody has signed: nothing of the answer counts.
            self.save(zone, "last", "Last")
            with liar.lie("records/changes", changed(lambda record: record.set(DELETED, 1), "last")):
                guest.press("Look for changes")
                guest.heading(FAILED)
                expect(guest.page.get_by_text(UNUSABLE)).to_be_visible()
            guest.press("Try again")
            expect(guest.page.get_by_role("cell", name="Last", exact=True)).to_be_visible()

    def test_hostile_answers_without_end(self):
        def endless(*_):
            return itertools.repeat(b"\0" * 65_536)

        def pages(_, ask):
            """Records that nobody has signed, more and more of them, each page at a place of its own."""
            counter[0] += 1
            if counter[0] == 1:
                honest.extend(Message(ask()).all(4))
            answer = Message()
            for index in range(400):
                made = f"{counter[0]}-{index}".encode()
                answer.add(RECORDS, Message().add(NAME, made).add(2, b"Stand").add(STATEMENT, made.ljust(64)).bytes)
            answer.add(TOKEN, b"%d" % counter[0]).add(MORE, 1)
            for scope in honest:
                answer.add(4, scope)
            return answer.bytes

        counter, honest = [0], []
        with self.fair("hostile-answers") as (guest, liar, zone):
            guest.press("Only for this visit")
            guest.accept("Village fair")
            for lie, route in ((endless, "records/changes"), (lambda _, ask: b"\x0a\x00" * (4 << 20), "records/changes"), (pages, "records/changes")):
                with liar.lie(route, lie):
                    guest.press("Look for changes")
                    guest.heading(FAILED)
                    expect(guest.page.get_by_text(UNUSABLE)).to_be_visible()
                guest.press("Try again")
                expect(guest.page.locator("#count")).to_have_text("1 record")
            that(0 < liar.sent < 64 << 20, f"{liar.sent} bytes of an answer without end were taken")
            that(20 <= counter[0] <= 30, f"{counter[0]} pages without end were taken")
            # A refusal without end, too.
            with liar.lie("rosters/fetch", lambda *_: (500, endless())):
                guest.press("stand")
                guest.page.locator("dialog").get_by_role("button", name="Change").click()
                guest.page.locator("dialog").get_by_label("title").fill("Stand 14")
                guest.page.locator("dialog").get_by_role("button", name="Save").click()
                expect(guest.page.locator("dialog").get_by_role("alert")).to_contain_text(UNUSABLE)
            guest.page.locator("dialog").get_by_role("button", name="Save").click()
            expect(guest.page.get_by_role("cell", name="Stand 14")).to_be_visible()

    def test_hostile_assets(self):
        with self.fair("hostile-assets") as (guest, liar, zone):
            file = self.world.folder / "people/asset.bin"
            file.write_bytes(bytes(range(256)) * 1024)
            for name in ("one", "two"):
                self.ann.save(name, "--seal", f"title=File {name}", "--asset", f"scan={file}", zone=zone, kind="Stand")
            guest.press("Only for this visit")
            guest.accept("Village fair")
            kept = []

            def keep(_, ask):
                kept.append(ask())
                return kept[-1]

            dialog = guest.page.locator("dialog")
            with liar.lie("/assets/", keep):
                guest.press("one")
                dialog.get_by_role("button", name="Open").click()
                expect(dialog.get_by_role("link", name="Save")).to_be_visible()
                guest.press("Close")
            guest.page.get_by_role("button", name="two", exact=True).click()
            lies = (
                lambda _, ask: flip(ask(), 1000), lambda _, ask: flip(ask(), -1), lambda _, ask: ask()[:-1], lambda _, ask: ask() + b"\0",
                lambda _, ask: kept[0], lambda *_: itertools.repeat(b"\0" * 65_536))
            for number, lie in enumerate(lies):
                with liar.lie("/assets/", lie):
                    dialog.get_by_role("button", name="Open").click()
                    expect(dialog.get_by_role("alert")).to_have_count(number + 1)
                    expect(dialog.get_by_role("alert").last).to_contain_text(UNUSABLE)
                that(dialog.get_by_role("link", name="Save").count() == 0, f"lie {number} is offered to be saved")
            # What lies in the buffers between the two counts as well.
            that(liar.sent < 32 << 20, f"{liar.sent} bytes of an asset of 256 KiB were taken")
            dialog.get_by_role("button", name="Open").click()
            with guest.page.expect_download() as download:
                dialog.get_by_role("link", name="Save").click()
            with open(download.value.path(), "rb") as saved:
                that(saved.read() == file.read_bytes(), "the saved file is another")

    def test_hostile_rosters(self):
        def entries(change):
            return lambda _, ask: Message(ask()).edit(1, lambda tail: tail.edit(3, change)).bytes

        def tails(change):
            return lambda _, ask: Message(ask()).edit(1, change).bytes

        lies = {
            "an entry that is altered": entries(lambda entry: entry.set(1, flip(entry.get(1), 40))),
            "a signature that is altered": entries(lambda entry: entry.set(2, flip(entry.get(2)))),
            "entries that are left out": entries(lambda entry: None),
            "entries that come twice": tails(lambda tail: [tail.add(3, entry) for entry in tail.all(3)] and tail),
            "more of it without end": tails(lambda tail: tail.set(3, None).set(204, 1)),
            "another share's": tails(lambda tail: tail.set(2, b"share-of-somebody")),
            "none": lambda _, ask: ask() and b"",
        }
        with self.fair("hostile-rosters") as (guest, liar, zone):
            guest.press("Only for this visit")
            guest.accept("Village fair")
            for number, (what, lie) in enumerate(lies.items()):
                # The roster goes on, and the zone with it.
                self.ann("zone", "rotate", zone)
                self.save(zone, f"after-{number}", f"After {number}")
                with liar.lie("rosters/fetch", lie):
                    guest.press("Look for changes")
                    guest.heading(FAILED)
                that(guest.page.get_by_text(f"After {number}").count() == 0, f"{what}: a record is shown by it")
                guest.press("Try again")
                expect(guest.page.get_by_role("cell", name=f"After {number}", exact=True)).to_be_visible()
            # Records by the list of before, which the page knows better by now, and by two at once.
            heads = []

            def heard(_, ask):
                answer = Message(ask())
                heads.append(answer.get(SCOPES))
                return answer.bytes

            def old(_, ask):
                return Message(ask()).set(SCOPES, heads[0]).bytes

            def two(_, ask):
                answer = Message(ask())
                return answer.add(SCOPES, answer.get(SCOPES)).bytes

            self.save(zone, "before", "Before")
            with liar.lie("records/changes", heard):
                guest.press("Look for changes")
                expect(guest.page.get_by_role("cell", name="Before", exact=True)).to_be_visible()
            self.ann("zone", "rotate", zone)
            self.save(zone, "rotated", "Rotated")
            guest.press("Look for changes")
            expect(guest.page.get_by_role("cell", name="Rotated", exact=True)).to_be_visible()
            for lie in [old, two]:
                self.save(zone, f"by-{lie.__name__}", f"By {lie.__name__}")
                with liar.lie("records/changes", lie):
                    guest.press("Look for changes")
                    guest.heading(FAILED)
                that(guest.page.get_by_text(f"By {lie.__name__}").count() == 0, f"{lie.__name__}: a record is shown by it")
                guest.press("Try again")
                expect(guest.page.get_by_role("cell", name=f"By {lie.__name__}", exact=True)).to_be_visible()

    def test_hostile_invitations(self):
        """What is shown of a share before it is accepted."""
        with self.fair("hostile-invitations") as (guest, liar, zone):
            other, kept = f"{zone} of another", []

            def keep(_, ask):
                kept.append(ask())
                return kept[-1]

            with liar.lie("share/metadata", keep):
                guest.press("Only for this visit")
                guest.heading("Village fair")
            # The same person's other share, whose answer comes in place of this one's.
            self.ann("zone", "create", other)
            self.ann("share", "create", other, "--title", "Another one")
            self.ann("share", "public", other, "readOnly")
            url = self.ann("share", "url", other)[0]["url"]
            lies = {
                "another share's": lambda *_: kept[0],
                "no entries": lambda _, ask: Message(ask()).set(6, None).bytes,
                "an altered entry": lambda _, ask: Message(ask()).edit(6, lambda entry: entry.set(1, flip(entry.get(1), 40))).bytes,
                "more without end": lambda _, ask: Message(ask()).set(6, None).set(10, 1).bytes,
                "another zone": lambda _, ask: Message(ask()).edit(3, lambda zone: zone.set(1, b"Elsewhere")).bytes,
                "an altered preview": lambda _, ask: (lambda answer: answer.set(8, flip(answer.get(8))).bytes)(Message(ask())),
                "another container": lambda _, ask: Message(ask()).set(1, b"org.example.other").bytes,
            }
            for what, lie in lies.items():
                with liar.lie("share/metadata", lie), self.guest("hostile-invited") as invited:
                    invited.open(url)
                    invited.press("Only for this visit")
                    invited.heading(FAILED)
                    that(invited.page.get_by_text("Another one").count() == 0, f"{what}: a title is shown")
                    that(invited.page.get_by_role("button", name="Accept").count() == 0, f"{what}: it is offered to be accepted")

    def test_hostile_answers_to_a_change(self):
        def stored(body, _):
            """As if it were stored, which it is not."""
            return kept[-1]

        def missing(body, _):
            name = Message(Message(body).get(4)).get(NAME)
            failure = Message().add(1, b"unknownItem").add(2, b"There is no such record.")
            return Message().add(1, Message().add(1, name).add(3, failure.bytes).bytes).bytes

        kept = []

        def keep(_, ask):
            kept.append(ask())
            return kept[-1]

        with self.fair("hostile-changes") as (guest, liar, zone):
            guest.press("Only for this visit")
            guest.accept("Village fair")
            dialog = guest.page.locator("dialog")

            def change(title):
                guest.page.get_by_role("button", name="stand", exact=True).click()
                dialog.get_by_role("button", name="Change").click()
                dialog.get_by_label("title").fill(title)
                dialog.get_by_role("button", name="Save").click()

            with liar.lie("records/modify", keep):
                change("Stand 20")
                expect(guest.page.get_by_role("cell", name="Stand 20")).to_be_visible()
            for lie in (stored, missing):
                with liar.lie("records/modify", lie):
                    change("Stand 21")
                    expect(dialog.get_by_role("alert")).to_contain_text("The server hides what it has shown before.")
                    dialog.get_by_role("button", name="Cancel").click()
            that("Stand 20" in str(self.ann("record", "get", "stand", "--zone", zone)), "it was stored")
            # A record that is new, said to be stored, and never shown.
            def made_up(body, _):
                record = Message(body).get(4)
                name = Message(record).get(NAME)
                return Message(kept[-1]).edit(1, lambda result: result.set(1, name).set(2, record)).bytes

            with liar.lie("records/modify", made_up):
                guest.press("New record")
                dialog.get_by_label("Name of the field").fill("title")
                dialog.get_by_label("Value").fill("Stand that is nowhere")
                dialog.get_by_role("button", name="Save").click()
                expect(dialog.get_by_role("alert")).to_contain_text("The server hides what it has shown before.")
                dialog.get_by_role("button", name="Cancel").click()
            that("nowhere" not in str(self.ann("record", "list", "--zone", zone)), "it was stored")
            # Of another record, of none, of two, and bytes that are nothing.
            for lie in (lambda *_: b"", lambda *_: kept[0] + kept[0], lambda *_: b"\xff" * 64):
                with liar.lie("records/modify", lie):
                    change("Stand 22")
                    expect(dialog.get_by_role("alert")).to_contain_text(UNUSABLE)
                    dialog.get_by_role("button", name="Cancel").click()
            change("Stand 23")
            expect(guest.page.get_by_role("cell", name="Stand 23")).to_be_visible()
            self.check_no_secret(guest, guest.url)

    def test_hostile_stream(self):
        """What the stream tells is a hint: nothing of it is shown, and what is fetched for it is judged as ever."""
        opened = []

        def stream(*_):
            events = queue.Queue()
            opened.append(events)
            while True:
                yield events.get()

        def say(event, stream=1):
            guest.until(lambda: len(opened) >= stream, f"there is no stream {stream}")
            opened[-1].put(event)

        def notification(zone, name="<b>made up</b>"):
            told = {"subscriptionId": name, "kind": 1, "database": "shared", "zone": {"zoneName": zone, "ownerName": self.ann.user}, "recordName": name}
            return f"event: notification\nid: 2\ndata: {json.dumps(told)}\n\n".encode()

        def forged(_, ask):
            return Message(ask()).edit(RECORDS, lambda record: record.set(STATEMENT, flip(record.get(STATEMENT)))).bytes

        ready = b"event: ready\nid: 1\ndata: {}\n\n"
        with self.fair("hostile-stream") as (guest, liar, zone), liar.lie("/development/notifications", stream):
            looks = lambda: len([one for one in guest.requests if one.url.endswith("/records/changes")])  # noqa: E731
            guest.press("Only for this visit")
            guest.accept("Village fair")
            self.save(zone, "told", "Told")
            say(ready)
            expect(guest.page.get_by_role("cell", name="Told", exact=True)).to_be_visible()
            say(notification(zone))
            # Of as many as it likes to tell at once the page makes a look or two.
            before = looks()
            say(notification(zone) * 10_000)
            self.save(zone, "later", "Later")
            say(notification(zone))
            expect(guest.page.get_by_role("cell", name="Later", exact=True)).to_be_visible()
            guest.page.wait_for_timeout(1000)
            that(looks() - before < 50, f"{looks() - before} looks for one flood")
            with liar.lie("records/changes", forged):
                self.save(zone, "forged", "Forged")
                say(notification(zone))
                expect(guest.page.get_by_role("row", name="forged")).to_contain_text(REFUSED)
            that(guest.page.get_by_text("made up").count() == 0, "what the stream says is shown")
            # What is no event ends that stream and no other, and so does one without end.
            for number, nonsense in enumerate((b"event: notification\ndata: {\n\n", b"event: notification\ndata: null\n\n", b"data: " + b"x" * (3 << 20)), 2):
                say(nonsense)
                say(ready, number)
            self.save(zone, "after", "After all")
            say(b"event: reset\nid: 9\ndata: {}\n\n")
            expect(guest.page.get_by_role("cell", name="After all", exact=True)).to_be_visible()
            self.check_no_secret(guest, guest.url)

    def test_hostile_leaving(self):
        """A share is left by the roster that verifies, or not at all."""
        def altered(_, ask):
            return Message(ask()).edit(1, lambda tail: tail.edit(3, lambda entry: entry.set(1, flip(entry.get(1), 40)))).bytes

        with self.fair("hostile-leaving") as (guest, liar, zone):
            guest.press("Only for this visit")
            guest.accept("Village fair")
            sent = lambda: len([one for one in guest.requests if one.url.endswith("/rosters/append")])  # noqa: E731

            def leave():
                guest.press("Leave this share")
                guest.page.locator("dialog").get_by_role("button", name="Leave this share").click()

            guest.page.locator(".account summary").click()
            self.ann("zone", "rotate", zone)
            with liar.lie("rosters/fetch", altered):
                leave()
                guest.heading(FAILED)
                expect(guest.page.get_by_text("Nothing of it is believed")).to_be_visible()
            that(sent() == 0, "an entry was signed by a roster that does not verify")
            # Somebody else is always first.
            with liar.lie("rosters/append", lambda *_: (409, Message().add(1, b"rosterChanged").bytes)):
                leave()
                guest.until(lambda: sent() == 8, "it gives up early")
                guest.heading(FAILED)
            that(sent() == 8, f"{sent()} entries for one leaving")
            people = lambda: str(self.ann("share", "show", zone)).count("accepted")  # noqa: E731
            before = people()
            leave()
            expect(guest.page.get_by_text("You have left the share.")).to_be_visible()
            that(people() == before - 1, "the owner still sees the guest")

    def test_hostile_enrolment(self):
        """Between the browser and the device that hands an account over."""
        answer, sealed = 1, 3
        url = self.ann.invite("rosa@example.org")
        with self.guest("rosa") as first:
            first.open(url)
            key = first.use_recovery_key()
            first.type_code(first.prove("rosa@example.org"))
            first.accept()
        rosa = self.world.person("rosa")
        rosa("account", "recover", "--server", self.world.origin, text=key + "\n")
        self.world.canaries.secret("Rosa's seed", seed_bytes(rosa.key_file))
        states = []

        def altered(number, later=False):
            def change(_, ask):
                state = Message(ask())
                states.append(1) if state.get(answer) else None
                return (state.set(number, flip(state.get(number))) if state.get(number) and (len(states) > 1 or not later) else state).bytes
            return change

        with self.liar() as liar, self.guest("rosa-again") as again:
            again.open(url)
            again.heading("There is no free place behind this link")

            def begin():
                again.press("From another device")
                again.heading("Bring your account here")
                old = rosa.approving(again.page.locator(".invitation").inner_text())
                again.heading("Compare the digits")
                return old, again.page.locator(".sixdigits").inner_text(), json.loads(old.stdout.readline())["code"]

            def end(old, code):
                old.stdin.write(f"{code}\n")
                old.stdin.close()
                return old.wait(60)

            # Another answer than the device's: the two show other digits.
            with liar.lie("/devices/enrol/state", altered(answer)):
                old, shown, code = begin()
                that(shown != code, "the digits of another device are the same")
                for _ in range(3):
                    again.page.get_by_label("The six digits").fill(code)
                    again.press("Continue")
                expect(again.page.get_by_text("Nothing was taken over.")).to_be_visible()
            that(end(old, code) != 0, "the device has handed the account over")
            again.press("Back")
            # Another account than the one that was handed over.
            with liar.lie("/devices/enrol/state", altered(sealed)):
                old, shown, code = begin()
                that(shown == code, "the digits differ")
                again.page.get_by_label("The six digits").fill(code)
                again.press("Continue")
                that(end(old, code) == 0, "the device has not handed the account over")
                again.heading(FAILED)
                expect(again.page.get_by_text(UNUSABLE)).to_be_visible()
            that(not [one for one in again.requests if one.url.endswith("/accounts/login")], "something was taken over")
            again.press("Back")
            # Another answer once the digits are shown: the first one counts.
            states.clear()
            with liar.lie("/devices/enrol/state", altered(answer, later=True)):
                old, shown, code = begin()
                that(shown == code, "the digits differ")
                again.page.get_by_label("The six digits").fill(code)
                again.press("Continue")
                that(end(old, code) == 0, "the device has not handed the account over")
                expect(again.page.locator("#count")).to_be_visible()
            self.check_no_secret(again, url)

    def test_hostile_uploads(self):
        """A file in parts, of which the server gets what is sealed, as what it is sealed for."""
        content_bytes, part_chunks = 1, 2
        marker = self.world.canaries.word("a file that a guest sends").encode()
        file = self.world.folder / "people/parts.bin"
        file.write_bytes(marker + os.urandom(9 << 20) + marker)
        with self.fair("hostile-uploads") as (guest, liar, zone):
            guest.press("Only for this visit")
            guest.accept("Village fair")
            dialog = guest.page.locator("dialog")
            sent = lambda: len([one for one in guest.requests if "/parts/" in one.url])  # noqa: E731
            guest.press("New record")
            dialog.get_by_role("button", name="Add a file").click()
            dialog.get_by_label("Name of the field").last.fill("film")
            dialog.locator("input[type=file]").set_input_files(file)
            save = lambda: dialog.get_by_role("button", name="Save").click()  # noqa: E731
            lies = (
                lambda _, ask: Message(ask()).set(part_chunks, 64).bytes, lambda _, ask: Message(ask()).set(content_bytes, 1 << 20).bytes,
                lambda _, ask: ask() and b"", lambda *_: b"\xff" * 64, lambda *_: itertools.repeat(b"\0" * 65_536))
            for lie in lies:
                with liar.lie("/begin", lie):
                    save()
                    expect(dialog.get_by_role("alert")).to_contain_text(UNUSABLE)
            that(sent() == 0, "a part was sent to a server that takes others")
            # A line that breaks when the server has the part: what goes again is the same, and nothing is sealed twice.
            bodies = []

            def broken(body, ask):
                bodies.append(body)
                taken = ask()
                if len(bodies) == 1:
                    raise ConnectionError
                return taken

            with liar.lie("/parts/", broken):
                save()
                expect(dialog).to_have_count(0, timeout=60_000)
            that(len(bodies) >= 3 and len(set(bodies)) == 2, f"{len(bodies)} parts were sent, {len(set(bodies))} of them different")
            that(not any(marker in body for body in bodies), "a part holds what is in the file")
            rows = self.ann("record", "list", "--zone", zone)
            [made] = [row["record"]["recordName"] for row in rows if row.get("record", {}).get("recordName") not in (None, "stand")
                      and not row["record"]["recordName"].startswith("cloudkit.")]
            back = self.world.folder / "people/parts-back.bin"
            self.ann("record", "asset", made, "film", "--zone", zone, "--output", str(back))
            that(back.read_bytes() == file.read_bytes(), "the file that was sent is another")
            back.unlink()
        file.unlink()

    def test_hostile_module(self):
        """A module that is altered on its way does not run."""
        with self.liar() as liar:
            url = self.ann.invite("hostile@example.org")
            with liar.lie("/core.wasm", lambda _, ask: flip(ask(), 5000)), self.guest("hostile-module") as guest:
                guest.open(url)
                guest.heading(FAILED)
                expect(guest.page.get_by_text("Something went wrong on this page.")).to_be_visible()
                that(not [one for one in guest.requests if "/1/" in one.url], "calls were made without a core")
