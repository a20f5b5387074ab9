#!/usr/bin/env python3
"""What an operator does at the console: in Chromium without JavaScript, and each page once more by axe, for WCAG 2.2 AA.

    Tests/Web/run                runs it after the guests' stories; SCREENSHOTS=FOLDER keeps a picture of each page
    make console-pictures        runs it alone, and makes those anew that Console.md shows
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Demo"))

from browser import launch  # noqa: E402
from looks import WIDTHS, looks  # noqa: E402
from mailbox import Mailbox  # noqa: E402
from outcome import failure  # noqa: E402
from processes import environment, free_port, stop  # noqa: E402

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], "resultTypes": ["violations"]}

MANUAL = pathlib.Path(__file__).resolve().parents[2] / "Sources/SealServer/Documentation.docc"
# A page of the manual shows no more of one of the console's.
TALLEST = 1400

SCHEMA = """
DEFINE SCHEMA RECORD TYPE Place ("___recordID" REFERENCE QUERYABLE, title STRING QUERYABLE, size INT64 QUERYABLE SORTABLE,
    GRANT READ TO "_world", GRANT CREATE, WRITE TO "_icloud");
"""


def that(condition, text):
    if not condition:
        raise AssertionError(text)


class World:
    """A server with a console, and people at a command line who have done something."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        (folder / "home").mkdir()
        (folder / "mail").mkdir()
        self.mailbox = Mailbox(folder / "mail")
        self.data, self.log = folder / "server/data", folder / "server.log"
        console, operators = (free_port() for _ in range(2))
        self.console = f"http://127.0.0.1:{console}"
        self.server = subprocess.Popen(
            [str(binary), "serve", "--data", str(self.data), "--listen", "127.0.0.1:0", "--console", f"127.0.0.1:{console}",
             "--operator", f"127.0.0.1:{operators}", "--smtp-url", f"smtp://127.0.0.1:{self.mailbox.port}", "--smtp-from", "codes@example.org",
             "--smtp-starttls", "off"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log.open("ab"), env=self.environment(), start_new_session=True)
        line = self.server.stdout.readline().decode().strip()
        that(line.startswith("listening on http"), f"the server did not start: {self.log.read_text()[-500:]}")
        self.clients = line.split()[-1]
        self.management = next((folder / "server").glob("data.secrets/management.token")).read_text().strip()
        self.token = next((folder / "server").glob("data.secrets/operator.token")).read_text().strip()

    def environment(self):
        return environment(self.folder / "home", self.folder)

    def sealkit(self, person, *arguments, code=0, text=""):
        done = subprocess.run(
            [str(self.binary), *arguments, "--json", "--key-file", str(self.folder / f"{person}.json")], input=text.encode(), capture_output=True,
            env=self.environment(), timeout=120)
        that(done.returncode == code, f"sealkit {' '.join(arguments[:2])} ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
        return [json.loads(line) for line in done.stdout.decode().splitlines()]

    def prepare(self):
        for person in ("anna", "bert"):
            self.sealkit(person, "account", "create", "--server", self.clients)
        self.sealkit(
            "anna", "schema", "import", "--server", self.clients, "--file", "-", "--management-token-file",
            str(self.folder / "server/data.secrets/management.token"), text=SCHEMA)
        self.sealkit("anna", "zone", "create", "Trip")
        for index in range(3):
            self.sealkit("anna", "record", "save", "--zone", "Trip", "--type", "Note", "--name", f"n{index}", "--seal", "title=x", "--set", "tag=y")
        self.sealkit("anna", "record", "get", "nothing", "--zone", "Trip", code=66)
        for name, title in (("berlin", "The <b>town</b>"), ("<i>oslo</i>", "=1+1")):
            self.sealkit(
                "anna", "record", "save", "--database", "public", "--type", "Place", "--name", name, "--set", f"title={title}", "--set",
                "size:int=3")
        self.sealkit("anna", "subscription", "create", "places", "--records-of", "Place", "--database", "public")
        # A zone that bert comes into.
        self.sealkit("anna", "zone", "create", "Shared")
        self.sealkit("anna", "share", "create", "Shared")
        bert = self.sealkit("bert", "account", "whoami")[0]["userRecordName"]
        url = self.sealkit("anna", "share", "invite", "Shared", bert, "--permission", "readWrite")[0]["url"]
        self.sealkit("bert", "share", "accept", url)
        # The console's key: anna's, who has to let it change what she has made.
        keys = self.folder / "server/data.secrets/console-keys"
        keys.mkdir(mode=0o700)
        self.sealkit("anna", "server-key", "create", "--name", "desk", "--output", str(keys / "desk.json"))

    def close(self):
        stop(self.server)
        self.mailbox.close()


class Operator:
    def __init__(self, world, browser, screenshots):
        self.world, self.browser, self.screenshots = world, browser, screenshots
        # Names of pages, as the manual cites their pictures; none where these are not to be made.
        self.shown = set()
        # What an operator has: no script at all.
        self.context = browser.new_context(java_script_enabled=False, accept_downloads=True)
        self.page = self.context.new_page()
        # Who checks the same pages needs a script of his own, which the pages' policy would not let in.
        self.checked = browser.new_context(bypass_csp=True)
        self.checker = self.checked.new_page()
        self.axe = Axe()
        self.pages = 0
        self.faults = []

    def beside(self):
        """Somebody else, in a browser of their own."""
        other = Operator(self.world, self.browser, self.screenshots)
        other.shown = self.shown
        return other

    def open(self, path):
        answer = self.page.goto(self.world.console + path)
        return answer.status

    def sign_in(self, page, token):
        page.goto(self.world.console + "/sign-in")
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Sign in").click()

    def press(self, text, scope=None):
        (scope or self.page).get_by_role("button", name=text, exact=True).click()

    def says(self, text):
        expect(self.page.locator("main")).to_contain_text(text)

    def check(self, name, since=None):
        """The page that is shown (its picture in the manual begins at a heading, where one is given): by axe, and in both sizes and schemes, where nothing sticks out at the side. As it is here, and not asked for
        again: what a form has led to is shown once."""
        url, html = self.page.url, self.page.content()
        self.checker.route(lambda asked: asked == url, lambda route: route.fulfill(content_type="text/html; charset=utf-8", body=html), times=1)
        self.checker.goto(url)
        expect(self.checker.get_by_role("heading", level=1)).to_have_text(self.page.get_by_role("heading", level=1).inner_text())
        self.pages += 1
        for scheme, width in looks(self.checker, f"console-{name}", self.screenshots):
            # Columns are as wide as their words: what has no room is scrolled to.
            tall = self.checker.evaluate("Math.max(0, ...[...document.querySelectorAll('tr')].map(row => row.offsetHeight))")
            that(tall <= 400, f"{name}: a row of {tall} pixels at {width}")
            if name in self.shown and (scheme, width) == ("light", WIDTHS[-1]):
                top = self.checker.get_by_role("heading", name=since, exact=True).bounding_box()["y"] - 16 if since else 0
                high = min(TALLEST, self.checker.evaluate("document.documentElement.scrollHeight") - top)
                self.checker.screenshot(
                    path=MANUAL / f"Resources/console-{name}.png", full_page=True,
                    clip={"x": 0, "y": top, "width": width, "height": high})
                self.shown.discard(name)
            if width == WIDTHS[-1]:
                found = self.axe.run(self.checker, options=RULES)
                faults = [f"{one['id']} ({one['impact']}): {node['html'][:160]}" for one in found.response["violations"] for node in one["nodes"][:2]]
                self.faults += [f"{name}, {scheme}: {fault}" for fault in faults]
        scripts = self.checker.evaluate("document.scripts.length")
        that(scripts == 0, f"{name} has a script")


class Stories:
    def __init__(self, world, operator):
        self.world, self.operator = world, operator

    def test_1_signing_in(self):
        operator = self.operator
        operator.open("/accounts")
        that(operator.page.url.endswith("/sign-in"), "a page is shown to somebody who has not signed in")
        operator.check("sign-in")
        operator.sign_in(operator.page, "wrong")
        expect(operator.page.get_by_role("alert")).to_contain_text("token")
        operator.check("wrong-token")
        that(operator.open("/") == 200 and operator.page.url.endswith("/sign-in"), "a wrong token signs in")
        operator.sign_in(operator.page, self.world.token)
        expect(operator.page.get_by_role("heading", level=1)).to_have_text("Overview")
        operator.sign_in(operator.checker, self.world.token)

    def test_2_every_page(self):
        operator = self.operator
        # Numbers are written once a minute at most.
        deadline = time.monotonic() + 180
        counted = operator.page.get_by_role("region", name="Requests by container").get_by_role("link", name="org.sealkit.notes")
        while time.monotonic() < deadline:
            operator.open("/")
            if counted.count():
                break
            time.sleep(2)
        that(counted.count() == 1, "nothing was counted within three minutes")
        names = operator.page.locator("nav a").all_inner_texts()
        that(len(names) >= 12, f"pages: {names}")
        for name in names:
            operator.page.locator("nav").get_by_role("link", name=name, exact=True).click()
            expect(operator.page.get_by_role("heading", level=1)).to_have_text(name)
            operator.check(name.lower())

    def test_3_an_account_is_suspended_and_let_in_again(self):
        operator = self.operator
        operator.open("/accounts")
        rows = operator.page.locator("tbody tr")
        that(rows.count() == 2, f"{rows.count()} accounts")
        user = self.world.sealkit("bert", "account", "whoami")[0]["userRecordName"]
        row = rows.filter(has_text=user)
        row.get_by_label("Reason").fill("Invoice <b>4711</b> is unpaid")
        operator.press("Suspend", row)
        operator.says("suspended")
        operator.says("Invoice <b>4711</b> is unpaid")
        operator.check("suspended")
        self.world.sealkit("bert", "zone", "list", code=77)
        operator.press("Unsuspend")
        self.world.sealkit("bert", "zone", "list")
        row = operator.page.locator("tbody tr").filter(has_text=user)
        row.get_by_label("Bytes, none or default").fill("much")
        operator.press("Set", row)
        operator.says("That is no quota.")
        operator.page.go_back()
        row.get_by_label("Bytes, none or default").fill("1048576")
        operator.press("Set", row)
        operator.says("its own")

    def test_4_an_alert_is_added_tested_and_removed(self):
        operator = self.operator
        operator.open("/alerts")
        operator.page.get_by_label("Name", exact=True).fill("too many failures")
        operator.page.get_by_label("Threshold").fill("3")
        operator.page.get_by_label("Mail to").fill("ops@example.org")
        operator.press("Watch")
        operator.says("too many failures")
        operator.check("alert")
        operator.press("Test")
        operator.says("was tested")
        operator.says("taken")
        that(any(path.name.endswith("ops@example.org") for path in (self.world.folder / "mail").iterdir()), "no mail came")
        operator.open("/alerts")
        operator.press("Remove")
        operator.says("Nothing is watched yet.")

    def test_5_the_log_is_searched_kept_and_taken_along(self):
        operator = self.operator
        operator.open("/logs")
        operator.page.get_by_label("Text", exact=True).fill("records")
        operator.press("Search")
        operator.says("records/")
        operator.page.get_by_label("Keep this one as").fill("records & <more>")
        operator.press("Keep")
        kept = operator.page.get_by_role("link", name="records & <more>")
        expect(kept).to_be_visible()
        kept.click()
        operator.says("records/")
        operator.check("kept-query")
        with operator.page.expect_download() as download:
            operator.page.get_by_role("link", name="The first thousand as CSV").click()
        text = pathlib.Path(download.value.path()).read_text()
        that(text.count("\n") >= 3 and "records/" in text, "the CSV has not what the page has")
        operator.press("Forget")
        operator.says("None.")

    def test_6_a_schema_is_deployed(self):
        operator = self.operator
        operator.open("/schema")
        operator.page.get_by_role("link", name="org.sealkit.notes").click()
        operator.says("Note")
        operator.check("difference")
        operator.page.get_by_label("Type the container's name to deploy").fill("org.sealkit.other")
        operator.press("Deploy to production")
        operator.says("The name that was typed is not the container's.")
        expect(operator.page.get_by_role("heading", level=1)).to_have_text("It did not work")
        operator.check("refusal")
        operator.page.go_back()
        operator.page.get_by_label("Type the container's name to deploy").fill("org.sealkit.notes")
        operator.press("Deploy to production")
        operator.says("Production has what development has.")
        operator.open("/events")
        operator.says("schema-deployed")

    def test_6a_a_schema_is_changed_taken_along_and_reset(self):
        operator = self.operator
        operator.open("/schema?container=org.sealkit.notes")
        form = operator.page.locator("form[action='/schema/edit']").first
        form.get_by_label("Record type").fill("Draft")
        form.get_by_label("Field", exact=True).fill("words")
        form.get_by_label("Values").select_option("LIST<STRING>")
        form.get_by_label("Queryable").check()
        operator.press("Save the field")
        development = operator.page.locator("pre").first
        expect(development).to_contain_text("words LIST<STRING> QUERYABLE")
        that("Draft" not in operator.page.locator("pre").nth(1).inner_text(), "production has it too")
        operator.check("schema-changed", since="Change development")
        with operator.page.expect_download() as download:
            operator.page.get_by_role("link", name="Development as a file").click()
        text = pathlib.Path(download.value.path()).read_text()
        that(text == development.inner_text() or text.strip() == development.inner_text().strip(), f"the file: {text}")
        that(download.value.suggested_filename == "org.sealkit.notes-development.ckdb", download.value.suggested_filename)
        operator.page.get_by_label("A schema, as files with .ckdb have it").fill(text.replace("Draft", "Sketch"))
        operator.press("Look what it would change")
        operator.says("Nothing was changed yet.")
        expect(operator.page.locator("pre").first).to_contain_text("Draft")
        operator.check("schema-preview")
        operator.press("Replace development")
        expect(operator.page.locator("pre").first).to_contain_text("Sketch")
        that("Draft" not in operator.page.locator("pre").first.inner_text(), "what the file lacks is still there")
        form = operator.page.locator("form[action='/schema/edit']")
        form.get_by_label("What goes").select_option("Sketch.words")
        operator.press("Remove")
        that("words" not in operator.page.locator("pre").first.inner_text(), "the field is still there")
        operator.page.get_by_label("Type the container's name to reset").fill("org.sealkit")
        operator.press("Reset development")
        operator.says("The name that was typed is not the container's.")
        operator.page.go_back()
        operator.page.get_by_label("Type the container's name to reset").fill("org.sealkit.notes")
        operator.press("Reset development")
        that("Sketch" not in operator.page.locator("main").locator("pre").first.inner_text(), "it was not reset")
        operator.says("schema-reset")

    def test_6b_a_public_record_is_found_changed_and_deleted(self):
        operator = self.operator
        operator.open("/data")
        operator.page.get_by_role("link", name="org.sealkit.notes").click()
        operator.check("data-types")
        operator.page.get_by_role("link", name="Place", exact=True).click()
        operator.says("The <b>town</b>")
        operator.check("data-found")
        operator.page.locator("select[name=key]").select_option("desk")
        operator.press("Show")
        operator.page.get_by_role("link", name="Place", exact=True).click()
        with operator.page.expect_download() as download:
            operator.page.get_by_role("link", name="The first thousand as CSV").click()
        text = pathlib.Path(download.value.path()).read_text()
        that("'=1+1" in text and "The <b>town</b>" in text, f"the CSV: {text}")
        operator.page.get_by_role("link", name="berlin").click()
        operator.check("record")
        operator.page.get_by_label("title, STRING").fill("The <u>capital</u>\nof Germany")
        operator.press("Save")
        operator.says("The <u>capital</u>")
        record = self.world.sealkit("anna", "record", "get", "berlin", "--database", "public")[0]
        that("capital" in json.dumps(record), f"the record is {record}")
        operator.page.get_by_label("Type the record's name to delete it").fill("oslo")
        operator.press("Delete")
        operator.says("The name that was typed is not the record's.")
        operator.page.go_back()
        operator.page.get_by_label("Type the record's name to delete it").fill("berlin")
        operator.press("Delete")
        operator.says("<i>oslo</i>")
        self.world.sealkit("anna", "record", "get", "berlin", "--database", "public", code=66)

    def test_6c_a_management_token_is_made_and_revoked(self):
        operator = self.operator
        operator.open("/access")
        operator.page.get_by_label("Of the container").fill("org.sealkit.notes")
        operator.page.get_by_label("Name", exact=True).fill("deploys <nightly>")
        operator.page.get_by_label("The operator's management token").fill(self.world.management)
        operator.press("Make a token")
        operator.says("shown this once")
        that(operator.page.locator("pre").inner_text().startswith("sealkit-management-"), "no token is shown")
        operator.check("new-token")
        operator.open("/access")
        operator.says("deploys <nightly>")
        operator.says("desk")
        operator.check("access-token")
        row = operator.page.get_by_role("region", name="Management tokens").locator("tbody tr")
        operator.press("Revoke", row)
        operator.says("There is none but the operator's.")

    def test_6e_who_has_a_containers_token_sees_that_container(self):
        operator, world = self.operator, self.world
        made = world.sealkit(
            "anna", "management-token", "create", "--name", "desk", "--server", world.clients, "--container", "org.sealkit.notes",
            "--management-token-file", str(world.folder / "server/data.secrets/management.token"))[0]
        world.sealkit(
            "anna", "schema", "import", "--server", world.clients, "--file", "-", "--container", "org.sealkit.hidden", "--management-token-file",
            str(world.folder / "server/data.secrets/management.token"), text="DEFINE SCHEMA RECORD TYPE Hidden (title STRING);")
        manager = operator.beside()
        manager.sign_in(manager.page, made["token"])
        expect(manager.page.get_by_role("heading", level=1)).to_have_text("Overview")
        names = manager.page.locator("nav a").all_inner_texts()
        that(set(names) == {"Overview", "Telemetry", "Logs", "Events", "Schema", "Data", "Zones", "Subscriptions", "Access"}, f"pages: {names}")
        for name in names:
            manager.page.locator("nav").get_by_role("link", name=name, exact=True).click()
            expect(manager.page.get_by_role("heading", level=1)).to_have_text(name)
            that("org.sealkit.hidden" not in manager.page.content(), f"{name} shows another container")
            manager.check(f"manager-{name.lower()}")
        for path in ["/schema?container=org.sealkit.hidden", "/accounts", "/server", "/alerts", "/data?key=desk"]:
            that(manager.open(path) == 403, f"{path} is shown")
        manager.check("manager-refusal")
        manager.open("/schema")
        manager.page.get_by_label("Role").fill("Reviewer")
        manager.press("Add the role")
        expect(manager.page.locator("pre").first).to_contain_text("CREATE ROLE Reviewer")
        world.sealkit(
            "anna", "management-token", "revoke", made["id"], "--server", world.clients,
            "--management-token-file", str(world.folder / "server/data.secrets/management.token"))
        manager.open("/schema")
        that(manager.page.url.endswith("/sign-in"), "a token that was revoked is still good")
        operator.pages += manager.pages
        operator.faults += manager.faults

    def test_6f_how_people_share(self):
        operator = self.operator
        # The server goes round all zones once a minute at most.
        deadline = time.monotonic() + 150
        while time.monotonic() < deadline:
            operator.open("/telemetry?kind=sharing&hours=1")
            if operator.page.get_by_role("region", name="Keys").count():
                break
            time.sleep(3)
        row = operator.page.get_by_role("region", name="Keys").locator("tbody tr").filter(has_text="org.sealkit.notes")
        expect(row.locator("td").nth(1)).to_have_text("1")
        operator.says("Acceptances a minute by way")
        acceptances = operator.page.get_by_role("region", name="Sharing by operation").locator("tr").filter(has_text="acceptance")
        expect(acceptances.locator("td").first).to_have_text("1")
        operator.check("sharing")
        operator.open("/telemetry?kind=notification&hours=1")
        operator.check("notifications")

    def test_6g_another_key_is_made(self):
        operator = self.operator
        operator.open("/server")
        rows = operator.page.get_by_role("region", name="Keys").locator("tbody tr").filter(has_text="tokens")
        before = rows.count()
        operator.press("Make another key of tokens")
        deadline = time.monotonic() + 60
        while rows.count() == before and time.monotonic() < deadline:
            time.sleep(1)
            operator.open("/server")
        that(rows.count() == before + 1, f"{rows.count()} keys of tokens after {before}")
        operator.check("server-key")

    def test_6d_subscriptions_are_listed(self):
        operator = self.operator
        operator.open("/subscriptions")
        operator.says("places")
        operator.says("query of Place")
        operator.check("subscription")

    def test_8_nobody_is_kept_out(self):
        """What axe has found on all pages above."""
        that(not self.operator.faults, "\n".join(self.operator.faults))

    def test_7_signing_out(self):
        operator = self.operator
        operator.open("/server")
        operator.press("Sign out")
        operator.open("/server")
        that(operator.page.url.endswith("/sign-in"), "a page is shown to somebody who has signed out")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sealkit", type=pathlib.Path, required=True)
    parser.add_argument("--pictures", action="store_true", help="make the manual's pictures anew")
    options = parser.parse_args()
    screenshots = pathlib.Path(os.environ["SCREENSHOTS"]) if os.environ.get("SCREENSHOTS") else None
    if screenshots:
        screenshots.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sealkit-console-"))
    failed, passed, started = [], 0, time.monotonic()
    world = World(options.sealkit.resolve(), folder)
    pages = 0
    try:
        world.prepare()
        with sync_playwright() as playwright:
            browser = launch(playwright)
            operator = Operator(world, browser, screenshots)
            if options.pictures:
                operator.shown = set(re.findall(r"\(console-([a-z-]+)\.png\)", (MANUAL / "Console.md").read_text()))
            expect.set_options(timeout=30_000)
            stories = Stories(world, operator)
            for name in sorted(name for name in dir(Stories) if name.startswith("test_")):
                try:
                    getattr(stories, name)()
                    passed += 1
                except Exception as error:
                    failed.append(failure(name, error))
                    traceback.print_exc()
            pages = operator.pages
            if operator.shown:
                failed.append(f"no pictures of {', '.join(sorted(operator.shown))}")
            browser.close()
    finally:
        world.close()
        shutil.rmtree(folder, ignore_errors=True)
    for line in failed:
        print(line)
    print(f"The console in a browser: {passed} passed, {len(failed)} failed, {pages} pages by axe, {time.monotonic() - started:.0f} s")
    sys.exit(1 if failed or passed == 0 else 0)


if __name__ == "__main__":
    main()
