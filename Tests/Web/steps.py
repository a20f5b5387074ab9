"""Random steps in one zone: somebody presses the buttons of the share's page, another one has the library, the owner a command line."""

import collections
import os
import random
import time

from playwright.sync_api import expect

from world import that

SHORT = 24
# A client in a page: what it has seen, and steps from there.
CLIENT = """async url => {
    const { default: CloudKit } = await import('./sealkit/library/sealkit.mjs');
    CloudKit.configure({ containers: [{ containerIdentifier: 'org.sealkit.notes', environment: 'development', server: new URL(url).origin }] });
    const container = CloudKit.getDefaultContainer();
    if (!await container.isInWorker) throw new Error('all is done on the thread of the page');
    await container.createAccount({ recoveryKey: await container.newRecoveryKey() });
    const { results: [{ zoneID }], errors } = await container.acceptShares(url);
    if (errors.length > 0) throw errors[0];
    const database = container.sharedCloudDatabase;
    let seen = new Map();
    const all = async () => {
        const { records, errors } = await database.fetchRecordZoneChanges({ zoneID });
        if (errors.length > 0) throw errors[0];
        return new Map(records.map(record => [record.recordName, record]));
    };
    window.look = async () => {
        seen = await all();
        return Object.fromEntries([...seen].map(([name, { encryptedFields }]) => [name, encryptedFields.title.value]));
    };
    window.change = async ({ op, name, title }) => {
        const recordChangeTag = seen.get(name)?.recordChangeTag ?? 'unseen';
        const outcome = op === 'delete' ? await database.deleteRecords({ recordName: name, recordChangeTag }, { zoneID })
            : await database.saveRecords(op === 'create' ? { recordType: 'Note', encryptedFields: { title } }
                : { recordName: name, recordChangeTag, encryptedFields: { title } }, { zoneID });
        if (!outcome.hasErrors) {
            const [record] = outcome.records;
            if (op === 'delete') seen.delete(name); else seen.set(record.recordName, record);
            return { code: '', name: record.recordName };
        }
        const now = (await all()).get(name)?.recordChangeTag;
        return { code: outcome.errors[0].ckErrorCode, server: outcome.errors[0].serverErrorCode, wasStale: now !== recordChangeTag };
    };
    await look();
}"""

# What the page shows, by the names of the records.
ROWS = """() => Object.fromEntries([...document.querySelectorAll('button.open')].map(one =>
    [one.dataset.record, one.closest('tr').querySelector('[data-label=title]')?.textContent ?? '']))"""
DELETED, CHANGED = "The record was deleted meanwhile. Nothing was saved.", "Look at it first; nothing was deleted."


class Reader:
    """Somebody at the share's page: whatever it shows is answered, and what became of a step is what it says."""

    def __init__(self, guest):
        self.guest, self.page, self.dialog = guest, guest.page, guest.page.locator("dialog")
        self.count = guest.page.locator("#count")

    def press(self, name):
        self.dialog.get_by_role("button", name=name, exact=True).click()

    def rows(self):
        return self.page.evaluate(ROWS)

    def shows(self, name):
        """What others have made of the zone it shows by itself."""
        row = self.page.locator(f"button.open[data-record='{name}']")
        expect(row).to_be_visible(timeout=60_000)
        return row

    def look(self):
        self.guest.press("Look for changes")
        expect(self.count).to_be_visible()

    def begin(self, name, title):
        """The form, with something typed."""
        self.shows(name).click()
        self.press("Change")
        self.dialog.get_by_label("title", exact=True).fill(title)

    def end(self, mine):
        """Gives whether what was typed is stored: "stored", "theirs" or "deleted", and whether its reader had to choose."""
        self.press("Save")
        choice = self.dialog.get_by_role("radio", name="Yours" if mine else "Theirs")
        deleted = self.page.get_by_text(DELETED)
        gone = lambda: self.dialog.count() == 0 and self.count.is_visible()  # noqa: E731
        self.guest.until(lambda: gone() or choice.count() > 0 or deleted.count() > 0, "nothing came of what was saved")
        if deleted.count() > 0:
            self.guest.press("Continue")
            return "deleted", True
        if choice.count() == 0:
            return "stored", False
        choice.check()
        self.press("Save")
        self.guest.until(gone, "nothing came of what was chosen")
        return "stored" if mine else "theirs", True

    def create(self, title):
        """Gives the name that the record got."""
        self.guest.press("New record")
        self.dialog.get_by_label("Type of the record").fill("Note")
        self.dialog.get_by_label("Name of the field").fill("title")
        self.dialog.get_by_label("Value").fill(title)
        self.press("Save")
        expect(self.dialog).to_have_count(0)
        expect(self.page.get_by_role("cell", name=title, exact=True)).to_be_visible()
        [name] = [name for name, shown in self.rows().items() if shown == title]
        return name

    def delete(self, name):
        """Gives whether it is; what was changed since it was looked at is not."""
        self.shows(name).click()
        self.press("Delete")
        changed, sure = self.page.get_by_text(CHANGED), self.page.get_by_text("It goes for everybody in the share.")
        self.guest.until(lambda: changed.count() + sure.count() > 0, "nobody is asked")
        if changed.count() == 0:
            self.press("Delete")
            gone = self.page.locator(f"button.open[data-record='{name}']")
            self.guest.until(lambda: changed.count() > 0 or self.dialog.count() + gone.count() == 0 and self.count.is_visible(), "nothing came of the deletion")
        if changed.count() > 0:
            self.guest.press("Continue")
            expect(self.count).to_be_visible()
            return False
        return True


class StepTests:
    def test_two_browsers_and_a_command_line_edit_one_zone(self):
        """Random steps, some of them at once; SEED repeats a run, MINUTES makes it longer than its short form."""
        seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
        minutes = float(os.environ.get("MINUTES") or 0)
        print(f"    SEED={seed}", flush=True)
        draw = random.Random(seed)
        with self.app() as (_, site, _, owner), self.guest("zoe") as zoe, self.guest("zac") as zac:
            owner("share", "public", "Notes", "readWrite")
            url = owner("share", "url", "Notes")[0]["url"]
            zoe.page.goto(site)
            zoe.page.evaluate(CLIENT, url)
            zac.open(url)
            zac.press("Only for this visit")
            zac.accept("Our notes")
            reader = Reader(zac)
            library = lambda op, name, title=None: zoe.page.evaluate("step => change(step)", {"op": op, "name": name, "title": title})  # noqa: E731
            # What was stored last of each note.
            model = {"bread": "Buy bread"}
            begun, steps, counts, outcomes = time.monotonic(), 0, collections.Counter(), collections.Counter()

            def kinds():
                yield from (("page creates", 2), ("library creates", 1))
                if model:
                    yield from (("page changes", 3), ("library changes", 2), ("command line changes", 2), ("library looks", 2), ("page looks", 1))
                    yield from (("both, the page last", 3), ("both, the library last", 2), ("command line first", 2), ("deleted while it is changed", 1))
                    more = 3 if len(model) > 20 else 1
                    yield from (("page deletes", more), ("library deletes", more), ("command line deletes", more))

            while steps < SHORT if minutes == 0 else time.monotonic() - begun < 60 * minutes:
                steps += 1
                title, name = f"Note {steps} {draw.randrange(1000)}", draw.choice(sorted(model)) if model else None
                kind = draw.choices(*zip(*kinds()))[0]
                mine = draw.random() < 0.5
                counts[kind] += 1
                where = f"step {steps} of {seed}, {kind}"

                def told(outcome, hasChosen=None):
                    outcomes[outcome] += 1
                    if outcome == "stored":
                        model[name] = title
                    that(outcome != "deleted" or name not in model, f"{where}: the page says that {name} was deleted")
                    return hasChosen

                def by_library(op, text=title):
                    """Only what it had not seen yet stands in its way, and then it changed nothing."""
                    answer = library(op, name, text)
                    if answer["code"] == "":
                        if op == "delete":
                            del model[name]
                        else:
                            model[answer["name"]] = text
                        return True
                    that(op != "create" and answer["code"] in ("CONFLICT", "NOT_FOUND") and answer["wasStale"], f"{where}: {answer}")
                    outcomes["library: " + answer["code"]] += 1
                    return False

                if kind == "page creates":
                    model[reader.create(title)] = title
                elif kind == "page changes":
                    reader.begin(name, title)
                    told(*reader.end(mine))
                elif kind == "page deletes":
                    if reader.delete(name):
                        del model[name]
                    else:
                        outcomes["page: not deleted"] += 1
                elif kind == "page looks":
                    reader.look()
                elif kind == "library looks":
                    zoe.page.evaluate("() => look()")
                elif kind == "command line changes":
                    owner.save(name, "--update", "--seal", f"title={title}", zone="Notes")
                    model[name] = title
                elif kind == "command line deletes":
                    owner("record", "delete", name, "--zone", "Notes")
                    del model[name]
                elif kind == "both, the library last":
                    zoe.page.evaluate("() => look()")
                    reader.begin(name, title)
                    told(*reader.end(mine))
                    # Where the page's reader took what was there, nothing stands in the library's way.
                    that(by_library("change", title + "b") == (model[name] != title), f"{where}: both, or neither, are stored")
                elif kind in ("both, the page last", "command line first", "deleted while it is changed"):
                    reader.begin(name, title)
                    if kind == "both, the page last":
                        zoe.page.evaluate("() => look()")
                        that(by_library("change", title + "b"), f"{where}: it had seen all there is")
                    elif kind == "command line first":
                        owner.save(name, "--update", "--seal", f"title={title}c", zone="Notes")
                        model[name] = title + "c"
                    else:
                        owner("record", "delete", name, "--zone", "Notes")
                        del model[name]
                    outcome, hasChosen = reader.end(mine)
                    told(outcome)
                    that(hasChosen, f"{where}: what was typed is stored over what came meanwhile")
                    that(outcome == ("deleted" if name not in model else "stored" if mine else "theirs"), f"{where}: {outcome}")
                else:
                    by_library(kind.split()[1].removesuffix("s"), title)
            # What the page shows it shows by itself.
            zac.until(lambda: reader.rows() == model, f"SEED={seed}: after {steps} steps the page has not {model}")
            listed = [line["record"] for line in owner("record", "list", "--zone", "Notes") if "record" in line]
            views = {"the library": zoe.page.evaluate("() => look()"),
                     "the command line": {record["recordName"]: record["fields"]["title"]["value"] for record in listed if record["recordType"] == "Note"}}
            for who, view in views.items():
                that(view == model, f"SEED={seed}: after {steps} steps {who} has {view}, and not {model}")
            print(f"    {steps} steps, {len(model)} notes in the end: {dict(counts)}, {dict(outcomes)}", flush=True)
            for guest in (zoe, zac):
                self.check_no_secret(guest, url, may_fail=("404", "409"))
