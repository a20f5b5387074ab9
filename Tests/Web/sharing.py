"""<seal-share>: a zone's owner shares it in a page, and others take their seats at the command line."""

import contextlib
import subprocess

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from console import RULES
from looks import looks
from world import Person, that

# Where its texts cannot be loaded.
SPEECHLESS = """async () => {
    const element = document.createElement('seal-share');
    element.lang = 'de';
    document.body.append(element);
    const failed = new Promise(resolve => element.addEventListener('sealshare-error', ({ detail }) => resolve(detail.message)));
    Object.assign(element, { container: { share: async () => { throw new Error('none'); } }, zoneID: { zoneName: 'Trip' } });
    return [await failed, element.shadowRoot.querySelector('[role=alert]').textContent];
}"""
# Where it cannot be read: it is tried again by its button, and by whoever calls refresh.
UNREAD = """async () => {
    const element = document.createElement('seal-share');
    element.lang = 'en';
    document.body.append(element);
    let tries = 0;
    const failed = () => new Promise(resolve => element.addEventListener('sealshare-error', resolve, { once: true }));
    const first = failed();
    Object.assign(element, { container: { share: async () => { tries++; throw new Error('none'); } }, zoneID: { zoneName: 'Trip' } });
    await first;
    const second = failed();
    element.shadowRoot.querySelector('[data-key=again]').click();
    await second;
    await Promise.all([failed(), element.refresh()]);
    return [tries, element.shadowRoot.querySelector('[data-key=again]').textContent];
}"""
LANGUAGES = ("de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt")


class SharingTests:
    def person(self, origin, name):
        one = Person(self.world, name)
        one.user = one("account", "create", "--server", origin)[0]["userRecordName"]
        return one

    def sign_in(self, guest, site, origin, person, owner=""):
        guest.page.goto(f"{site}/sharing.html")
        guest.page.get_by_label("Server").fill(origin)
        guest.page.get_by_label("Recovery key").fill(person("account", "recovery-key")[0]["recoveryKey"])
        guest.page.get_by_label("Whose").fill(owner)
        guest.press("Sign in")
        return guest.page.locator("seal-share")

    def look_at(self, guest, name):
        found = Axe().run(guest.page, options=RULES).response["violations"]
        that(not found, f"{name}: {[(one['id'], one['nodes'][0]['html'][:160]) for one in found]}")
        for scheme, _ in looks(guest.page, name, self.screenshots):
            if scheme == "dark":
                dark = Axe().run(guest.page, options=RULES).response["violations"]
                that(not dark, f"{name}, dark: {[(one['id'], one['nodes'][0]['html'][:160]) for one in dark]}")
        guest.page.emulate_media(color_scheme="light")
        guest.page.set_viewport_size({"width": 1280, "height": 800})

    def seat(self, share, text):
        return share.locator("li", has_text=text)

    def read_code(self, share, name):
        """What a telephone would read off the picture."""
        picture = self.world.folder / f"{name}.png"
        share.locator("svg.qr").screenshot(path=picture)
        return subprocess.run(["zbarimg", "--quiet", "--raw", str(picture)], check=True, capture_output=True, text=True).stdout.strip()

    def test_a_share_is_looked_after_in_a_page(self):
        with self.app() as (_, site, origin, _), self.guest("sam") as sam:
            sam.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site)
            owner, ben, cleo, dora = (self.person(origin, name) for name in ("sam", "ben", "cleo", "dora"))
            owner("zone", "create", "Notes")
            owner.save("bread", "--seal", "title=Buy bread", zone="Notes")
            share = self.sign_in(sam, site, origin, owner)
            expect(share.get_by_text("Only you can open this.")).to_be_visible(timeout=60_000)
            self.look_at(sam, "share-0-unshared")
            that(share.evaluate("share => share.container.isInWorker"), "under its policy the page starts no worker")
            share.get_by_label("Title").fill("Our notes")
            share.get_by_role("button", name="Share", exact=True).click()
            expect(share.get_by_role("heading", name="Our notes")).to_be_visible(timeout=30_000)
            expect(share.get_by_text("Nobody but you so far")).to_be_visible()
            that(owner("share", "show", "Notes")[0]["title"] == "Our notes", "the command line sees another share")
            # Another zone and this one again, while it is busy with the first.
            share.evaluate("share => { const zone = share.zoneID; share.zoneID = { ...zone, zoneName: 'Elsewhere' }; share.zoneID = zone; }")
            expect(share.get_by_text("Nobody but you so far")).to_be_visible(timeout=30_000)
            refused = share.evaluate("""async element => {
                const share = await element.container.share(element.zoneID);
                return share.invite({ expirationDate: new Date(0) }).then(() => 'nobody', error => error.message);
            }""")
            that("a time to come" in refused, f"an invitation that ends in 1970 was made, or refused otherwise: {refused}")

            # What is said is in one place that stays, so that it is read out.
            said = share.evaluate_handle("share => ['status', 'alert'].map(role => share.shadowRoot.querySelector(`[role=${role}]`))")

            # By address, of somebody who is not known: only the proof of it opens the seat.
            share.get_by_label("E-mail address").fill("ben@example.org")
            share.get_by_label("Permission", exact=True).select_option("READ_WRITE")
            share.get_by_role("button", name="Invite", exact=True).click()
            row = self.seat(share, "ben@example.org")
            expect(row).to_contain_text("Invited", timeout=30_000)
            expect(share.get_by_label("E-mail address")).to_have_value("")
            row.get_by_role("button", name="Copy link").click()
            expect(share.get_by_text("The link is copied.")).to_be_visible()
            stays = share.evaluate("(share, said) => said.map(one => one.isConnected && one === share.shadowRoot.querySelector(`[role=${one.role}]`) && !one.closest('[aria-busy]'))", said)
            that(stays == [True, True], f"what is said comes into the page with its text: {stays}")
            url = sam.page.evaluate("navigator.clipboard.readText()")
            row.get_by_role("button", name="Show QR code").click()
            that(self.read_code(share, "ben") == url, "the picture leads elsewhere")
            self.look_at(sam, "share-1-invited")
            ben("share", "accept", "-", "--email", "ben@example.org", "--code-command", self.world.mailbox.command("ben@example.org"), text=url + "\n")
            ben.save("milk", "--seal", "title=Buy milk", "--owner", owner.user, zone="Notes")

            # A link for one person, and somebody by user name with the share's own.
            share.get_by_role("button", name="Link for one person").click()
            anybody = self.seat(share, "Whoever has the link")
            expect(anybody).to_be_visible(timeout=30_000)
            anybody.get_by_role("button", name="Copy link").click()
            cleo("share", "accept", "-", text=sam.page.evaluate("navigator.clipboard.readText()") + "\n")
            share.get_by_label("E-mail address").fill(dora.user)
            share.get_by_role("button", name="Invite", exact=True).click()
            named = self.seat(share, dora.user[:9])
            expect(named).to_be_visible(timeout=30_000)
            expect(self.seat(share, cleo.user[:9])).to_contain_text("Has joined")
            named.get_by_role("button", name="Copy link").click()
            dora("share", "accept", "-", text=sam.page.evaluate("navigator.clipboard.readText()") + "\n")
            share.get_by_label("E-mail address").fill(dora.user)
            share.get_by_role("button", name="Invite", exact=True).click()
            expect(share.get_by_role("alert")).to_have_text("That person is in the share already, or invited.", timeout=30_000)

            # The numbers are those that the others see.
            self.seat(share, "ben@example.org").get_by_text("Safety number").click()
            digits = "".join(self.seat(share, "ben@example.org").locator(".digits span").all_inner_texts())
            said = "".join(ben("contact", "show", owner.user)[0]["safetyNumber"].split())
            that(len(digits) == 60 and digits == said, f"{digits} is not {said}")

            # Rights go and people go, and with each of them the keys.
            rights = self.seat(share, "ben@example.org").get_by_role("combobox")
            entries = lambda: len([one for one in sam.requests if one.url.endswith("/rosters/append")])  # noqa: E731
            asked = entries()
            rights.focus()
            sam.page.keyboard.press("ArrowUp")
            expect(rights).to_have_value("READ_ONLY")
            # An arrow key has chosen: nothing comes of it yet.
            sam.page.wait_for_timeout(1000)
            that(entries() == asked and share.get_by_text("One moment").count() == 0, "what was only looked at is done")
            self.look_at(sam, "share-1-chosen")
            sam.page.keyboard.press("Tab")
            sam.page.keyboard.press("Enter")
            expect(share.get_by_text("It is changed.")).to_be_visible(timeout=30_000)
            that(entries() > asked, "what was chosen is not done")
            refused = self.refused(ben, "record", "save", "--zone", "Notes", "--owner", owner.user, "--type", "Note", "--name", "more", "--seal", "title=No")
            that("permissionFailure" in refused, refused)
            row = self.seat(share, cleo.user[:9])
            row.get_by_role("button", name="Remove").click()
            self.look_at(sam, "share-2-asked")
            that(share.evaluate("one => one.shadowRoot.activeElement.textContent") == "Remove", "the question takes no keys")
            sam.page.keyboard.press("Escape")
            expect(row.get_by_role("button", name="Cancel")).to_have_count(0)
            row.get_by_role("button", name="Remove").click()
            sam.page.keyboard.press("Enter")
            expect(row).to_have_count(0, timeout=30_000)
            that(self.refused(cleo, "record", "list", "--zone", "Notes", "--owner", owner.user), "whoever is removed reads on")

            # Open to everybody, and closed again.
            share.get_by_label("What anybody with the link may do").select_option("READ_ONLY")
            expect(share.get_by_text("While the link is open nobody is invited by name.")).to_have_count(0)
            share.locator(".link").get_by_role("button", name="Save").click()
            expect(share.get_by_text("While the link is open nobody is invited by name.")).to_be_visible(timeout=30_000)
            share.locator(".link").get_by_role("button", name="Copy link").click()
            public = sam.page.evaluate("navigator.clipboard.readText()")
            cleo("share", "accept", "-", text=public + "\n")
            self.look_at(sam, "share-3-open")
            share.get_by_label("What anybody with the link may do").select_option("NONE")
            share.locator(".link").get_by_role("button", name="Save").click()
            expect(share.get_by_label("E-mail address")).to_be_visible(timeout=30_000)
            expect(self.seat(share, cleo.user[:9])).to_have_count(0)

            share.get_by_role("button", name="Stop sharing").click()
            share.get_by_role("button", name="Stop sharing").click()
            expect(share.get_by_text("Only you can open this.")).to_be_visible(timeout=30_000)
            that(self.refused(ben, "record", "list", "--zone", "Notes", "--owner", owner.user), "a share that was stopped is read on")
            that(len(owner("record", "list", "--zone", "Notes")) > 0, "the records went with the share")
            # Shared again, as if nothing had been.
            share.get_by_role("button", name="Share", exact=True).click()
            expect(share.get_by_text("Nobody but you so far")).to_be_visible(timeout=30_000)
            that(not [line for line in sam.console if "Content Security Policy" in line or "Trusted" in line], f"the policy is broken: {sam.console}")

    def refused(self, person, *arguments):
        """What a call of somebody's ends with, which must not work."""
        done = subprocess.run([str(self.world.binary), *arguments, "--json", "--key-file", str(person.key_file)], capture_output=True, env=self.world.environment(), timeout=120)
        that(done.returncode != 0, f"sealkit {' '.join(arguments[:2])} of somebody who may not works")
        return done.stderr.decode(errors="replace") + done.stdout.decode(errors="replace")

    def test_a_participant_sees_a_share_and_leaves_it(self):
        with self.app() as (_, site, origin, owner), self.guest("finn") as finn:
            finn_ = self.person(origin, "finn")
            owner("share", "public", "Notes", "readOnly")
            url = owner("share", "url", "Notes")[0]["url"]
            finn_("share", "accept", "-", text=url + "\n")
            share = self.sign_in(finn, site, origin, finn_, owner.user)
            expect(share.get_by_role("heading", name="Our notes")).to_be_visible(timeout=60_000)
            expect(self.seat(share, "By the open link")).to_contain_text("You")
            expect(self.seat(share, "Owner")).to_contain_text(owner.user[:9])
            that(share.get_by_label("E-mail address").count() == 0 and share.get_by_role("button", name="Remove").count() == 0, "a participant is offered what it may not")
            self.look_at(finn, "share-4-participant")
            # Each language has its place in the element, and none sticks out.
            for language in LANGUAGES:
                share.evaluate("(one, language) => { one.lang = language; }", language)
                expect(share.locator(f"[part=share][lang={language}]")).to_be_visible()
            self.look_at(finn, "share-5-portuguese")
            with contextlib.closing(finn.context.new_page()) as other:
                other.route("**/share-texts.de.mjs", lambda route: route.abort())
                other.goto(f"{site}/sharing.html")
                that((told := other.evaluate(SPEECHLESS)) == ["none", "That did not work. none"], f"without texts it says {told}")
                that((told := other.evaluate(UNREAD)) == [3, "Try again"], f"what could not be read is not tried again: {told}")
            share.evaluate("one => { one.lang = 'en'; }")
            finn.press("As a sheet")
            sheet = finn.page.get_by_role("dialog")
            expect(sheet.get_by_role("heading", name="Our notes")).to_be_visible()
            finn.page.keyboard.press("Escape")
            expect(sheet).to_have_count(0)
            share.get_by_role("button", name="Leave").click()
            share.get_by_role("button", name="Leave").click()
            expect(share.get_by_text("You have left the share.")).to_be_visible(timeout=30_000)
            that(self.refused(finn_, "record", "list", "--zone", "Notes", "--owner", owner.user), "whoever has left reads on")
