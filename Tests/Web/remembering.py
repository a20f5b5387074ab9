"""Web apps that come back to a server which goes back, or shows something else, between two visits: the library knows what it had verified."""

import contextlib

from hostile import NAME, RECORDS
from liar import Message
from returning import KEPT
from world import that

# A visit: the account that the key brings back, or a new one.
BEGIN = """async ({ server, key }) => {
    const { default: CloudKit } = await import('./sealkit/library/sealkit.mjs');
    CloudKit.configure({ containers: [{ containerIdentifier: 'org.sealkit.notes', environment: 'development', server }] });
    const container = CloudKit.getDefaultContainer();
    const all = { shared: container.sharedCloudDatabase, private: container.privateCloudDatabase };
    const said = error => `${error.ckErrorCode} ${error.serverErrorCode}`;
    const told = ({ results, zones, errors }) => (results ?? zones).length > 0 ? 'done' : said(errors[0]);
    Object.assign(window, {
        read: async (scope, zoneID) => {
            try {
                const { records, errors } = await all[scope].fetchRecordZoneChanges({ zoneID });
                const titles = records.flatMap(({ encryptedFields: { title } }) => title?.value ?? []);
                return { titles: titles.sort(), not: errors.map(({ recordName }) => recordName).sort(), why: errors.map(said) };
            } catch (error) {
                return said(error);
            }
        },
        look: async url => told(await container.fetchRecordInfos(url)),
        accept: async url => told(await container.acceptShares(url)),
        make: async zoneName => told(await all.private.saveRecordZones({ zoneName })),
        remove: async zoneName => told(await all.private.deleteRecordZones({ zoneName })),
        forget: async zoneID => { await container.forgetVerified(zoneID); },
        leave: () => container.signOut(),
    });
    if (key) {
        await container.signIn({ recoveryKey: key });
        return key;
    }
    const made = await container.newRecoveryKey();
    await container.createAccount({ recoveryKey: made });
    return made;
}"""
SHORTENED, FORKED, DAMAGED = "INTEGRITY_ERROR shortened", "INTEGRITY_ERROR forked", "INTEGRITY_ERROR memoryDamaged"


class App:
    """A web app in somebody's browser."""

    def __init__(self, guest, site, server):
        self.guest, self.site, self.server, self.key = guest, site, server, None

    def visit(self, page=None):
        """Anew, with nothing that a script had before."""
        self.page = page or self.guest.page
        self.page.goto(self.site)
        self.key = self.page.evaluate(BEGIN, {"server": self.server, "key": self.key})

    def joins(self, owner, *titles):
        """At the first visit. Returns the zone."""
        zone = {"zoneName": "Fair", "ownerRecordName": owner.user}
        self.visit()
        self.says("done", "accept", owner.url)
        self.shows(*titles, zone=zone)
        return zone

    def call(self, name, *arguments):
        return self.page.evaluate("([name, given]) => window[name](...given)", [name, arguments])

    def shows(self, *titles, scope="shared", zone, but=()):
        read = self.call("read", scope, zone)
        that(isinstance(read, dict) and (read["titles"], read["not"]) == (sorted(titles), sorted(but)), f"it reads {read}")
        that(all(why.startswith("INTEGRITY_ERROR ") for why in read["why"]), f"{read}")

    def says(self, what, *call):
        said = self.call(*call)
        that(said == what, f"{call[0]}: {said}")


class RememberingTests:
    @contextlib.contextmanager
    def remembered(self, name):
        with self.pages(self.app_folder()) as site, self.past(name, "--web-origin", site) as past, self.guest(name) as guest:
            yield past, App(guest, site, past.origin)

    def test_a_web_app_returns_to_a_roster_that_went_back(self):
        with self.remembered("app-rosters") as (past, app):
            owner = past.owner()
            zone = {"zoneName": "Fair", "ownerRecordName": owner.user}
            app.visit()
            app.says("done", "look", owner.url)
            past.keep("before")
            app.says("done", "accept", owner.url)
            app.shows("Stand 1", zone=zone)
            past.keep("then")
            twin = past.twin(owner)
            owner("zone", "rotate", "Fair")
            owner.save("late", "--seal", "title=Stand 2", zone="Fair")
            app.visit()
            app.shows("Stand 1", "Stand 2", zone=zone)
            app.call("leave")
            that(len(app.page.evaluate(KEPT, "")) == 1, "what was verified is not kept, or goes with a sign-out")

            for when in ("then", "before"):
                past.go(when)
                app.visit()
                app.says(SHORTENED, "look", owner.url)
                app.says(SHORTENED, "accept", owner.url)
            past.go("then")
            app.visit()
            app.says(SHORTENED, "read", "shared", zone)
            for number in (3, 4):
                twin("zone", "rotate", "Fair")
                twin.save(f"other-{number}", "--seal", f"title=Stand {number}", zone="Fair")
            app.visit()
            app.says(FORKED, "read", "shared", zone)
            # What was refused takes nothing from what is known.
            past.go("now")
            app.visit()
            app.shows("Stand 1", "Stand 2", zone=zone)
            # Another account in this browser knows nothing of it.
            past.go("then")
            other = App(app.guest, app.site, app.server)
            other.visit()
            other.says("done", "accept", owner.url)
            other.shows("Stand 1", "Stand 3", "Stand 4", zone=zone)
            # Forgotten, it is held against nothing, and from then on it is the other one that is known.
            app.visit()
            app.says(FORKED, "read", "shared", zone)
            app.call("forget", zone)
            app.shows("Stand 1", "Stand 3", "Stand 4", zone=zone)
            past.go("now")
            app.visit()
            app.says(SHORTENED, "read", "shared", zone)

    def test_a_web_app_returns_to_its_own_zone_whose_roster_was_given_up(self):
        """By a log that is shorter than what was seen: by which keys its owner would have to say so is not known to a browser."""
        with self.remembered("app-own") as (past, app):
            owner = past.owner()
            app.key = owner("account", "recovery-key")[0]["recoveryKey"]
            past.keep("then")
            twin = past.twin(owner)
            for _ in range(4):
                owner("zone", "rotate", "Fair")
            zone = {"zoneName": "Fair"}
            app.visit()
            app.shows("Stand 1", scope="private", zone=zone)
            past.go("then")
            twin("zone", "rotate", "Fair")
            app.visit()
            app.says(SHORTENED, "read", "private", zone)
            owner("zone", "end-fork", "Fair", "--yes")
            app.visit()
            app.says(FORKED, "read", "private", zone)
            # What was refused takes nothing from what is known.
            past.go("now")
            app.visit()
            app.shows("Stand 1", scope="private", zone=zone)

    def test_a_web_app_returns_to_records_that_went_back(self):
        with self.remembered("app-records") as (past, app):
            owner = past.owner()
            for name in ("second", "gone"):
                owner.save(name, "--seal", f"title=The {name}", zone="Fair")
            zone = app.joins(owner, "Stand 1", "The second", "The gone")
            past.keep("then")
            owner.save("stand", "--update", "--seal", "title=Stand 1b", zone="Fair")
            owner("record", "delete", "gone", "--zone", "Fair")
            owner.save("late", "--seal", "title=Stand 2", zone="Fair")
            app.visit()
            app.shows("Stand 1b", "The second", "Stand 2", zone=zone)
            past.go("then")
            app.visit()
            app.shows("The second", zone=zone, but=("stand", "gone", "late"))
            past.go("now")
            app.visit()
            app.shows("Stand 1b", "The second", "Stand 2", zone=zone)
            with past.liar.lie("records/changes", lambda _, ask: Message(ask()).edit(RECORDS, lambda record: None if record.get(NAME) == b"second" else record).bytes):
                app.visit()
                app.shows("Stand 1b", "Stand 2", zone=zone, but=("second",))

    def test_a_web_app_returns_to_what_is_damaged(self):
        with self.remembered("app-damaged") as (past, app):
            owner = past.owner()
            zone = app.joins(owner, "Stand 1")
            for change in ("flip", "cut"):
                that(len(app.page.evaluate(KEPT, change)) == 1, "nothing was kept")
                for _ in range(2):
                    app.visit()
                    app.says(DAMAGED, "read", "shared", zone)
                app.says(DAMAGED, "look", owner.url)
                app.call("forget", zone)
                app.shows("Stand 1", zone=zone)
                app.visit()
                app.shows("Stand 1", zone=zone)
            # While it is read, too, before more is kept.
            app.page.evaluate(KEPT, "flip")
            owner.save("more", "--seal", "title=Stand 2", zone="Fair")
            app.says(DAMAGED, "read", "shared", zone)
            app.call("forget", zone)
            app.shows("Stand 1", "Stand 2", zone=zone)

    def test_a_web_app_in_two_tabs(self):
        with self.remembered("app-tabs") as (past, app):
            owner = past.owner()
            zone = app.joins(owner, "Stand 1")
            first, second = app.page, app.guest.tab()
            app.visit(second)
            app.shows("Stand 1", zone=zone)
            # The second tab is shown what it was shown before.
            answers = {}

            def stale(body, ask):
                answers.setdefault("changes", ask())
                ask()
                return answers["changes"]

            with past.liar.lie("records/changes", stale):
                app.shows("Stand 1", zone=zone)
            before = first.evaluate(KEPT, "")
            owner("zone", "rotate", "Fair")
            owner.save("stand", "--update", "--seal", "title=Stand 1b", zone="Fair")
            owner.save("late", "--seal", "title=Stand 2", zone="Fair")
            app.page = first
            app.shows("Stand 1b", "Stand 2", zone=zone)
            newest = first.evaluate(KEPT, "")
            that(newest != before, "what was verified is not kept")
            app.page = second
            with past.liar.lie("records/changes", stale):
                app.call("read", "shared", zone)
                that(first.evaluate(KEPT, "") == newest, "an older state was written over a newer one")
                # What it hears of by the other tab is not left at that: what goes by fewer people than it knows of is not read.
                app.says(SHORTENED, "read", "shared", zone)
            app.shows("Stand 1b", "Stand 2", zone=zone)

    def test_a_web_app_begins_no_zone_a_second_time(self):
        """Whatever the server says there is, at a visit or after one."""
        with self.remembered("app-zones") as (past, app):
            app.visit()
            app.says("done", "make", "Own")
            zone, own = {"zoneName": "Own"}, {"scope": "private"}
            app.shows(zone=zone, **own)
            app.says("done", "make", "Own")
            sent = []
            app.page.on("request", lambda request: sent.append(request.url) if request.url.endswith("/zones/modify") else None)
            with past.liar.lie("rosters/fetch", lambda _, ask: (ask(), b"")[1]):
                app.says("INTEGRITY_ERROR withheld", "make", "Own")
                app.visit()
                app.says("INTEGRITY_ERROR withheld", "make", "Own")
            that(sent == [], "the zone was begun a second time")
            # An honest server goes on, and what was deleted begins anew behind what it was.
            app.shows(zone=zone, **own)
            app.says("done", "remove", "Own")
            app.visit()
            app.says("done", "make", "Own")
            app.says("done", "remove", "Own")
            app.says("done", "make", "Own")
            app.shows(zone=zone, **own)
            that(len(sent) == 4, f"{len(sent)} changes of zones were sent")
