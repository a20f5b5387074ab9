"""Two servers behind nginx, and who saves records before them whatever becomes of either."""

import os
import pathlib
import queue
import shutil
import signal
import subprocess
import threading
import time

from postgres import Postgres
from world import PATIENCE, Failure, free_port, nginx_files, start_nginx, stop, that, until


class Servers:
    def __init__(self, world, database):
        self.world = world
        port, *self.ports = (free_port() for _ in range(3))
        self.origin = f"https://localhost:{port}"
        credentials = pathlib.Path(os.environ["SEALKIT_TEST_S3_FOLDER"]) / "credentials"
        self.options = ["--origin", self.origin, "--behind-proxy", "--shutdown-grace", "2", "--database-url", database, "--blobs",
                        os.environ["SEALKIT_TEST_S3"], "--s3-credentials", credentials]
        self.running = [self.serve(0)]
        # As the manual has it: the second one has the secrets of the first.
        shutil.copytree(world.folder / "server0.secrets", world.folder / "server1.secrets")
        self.running.append(self.serve(1))
        certificate, key = world.authority.sign("servers")
        self.write_files = lambda down=(): nginx_files(world, port, self.ports, certificate, key, down)
        self.proxy = start_nginx(world, self.write_files())
        asking = ["curl", "--silent", "--output", "/dev/null", "--cacert", str(world.authority.certificate), f"{self.origin}/health"]
        until(lambda: subprocess.run(asking).returncode == 0, "nginx does not answer")

    def serve(self, number):
        return self.world.serve(f"server{number}", *self.options, listen=f"127.0.0.1:{self.ports[number]}")[1]

    def start(self, number):
        self.running[number] = self.serve(number)

    def kill(self, number):
        self.running[number].kill()
        self.running[number].wait()
        # Or a thousand of them would be open after as many kills.
        self.running[number].stdout.close()

    def stop(self, number):
        stop(self.running[number])

    def workers(self):
        return set(pathlib.Path(f"/proc/{self.proxy.pid}/task/{self.proxy.pid}/children").read_text().split())

    def take_out(self, *numbers):
        """The proxy gives requests to the others alone; to both where none is named."""
        self.write_files([self.ports[number] for number in numbers])
        before = self.workers()
        self.proxy.send_signal(signal.SIGHUP)
        until(lambda: self.workers() - before, "nginx did not read its settings again")
        # What it is handing over by the former ones.
        time.sleep(1)

    def make_account(self, person):
        self.world.sealkit(person, "account", "create", "--server", self.origin)
        self.world.sealkit(person, "zone", "create", "Trip")


class Watcher:
    """A person's second device, which is told of what the first one saves."""

    def __init__(self, world, person):
        self.world, self.person = world, person
        device = f"{person}-second"
        (world.folder / f"{device}.json").write_bytes((world.folder / f"{person}.json").read_bytes())
        os.chmod(world.folder / f"{device}.json", 0o600)
        world.sealkit(person, "subscription", "create", "everything")
        self.lines = world.watch(device, f"{device}-watch")

    def check(self):
        """Whatever its stream was cut by, it goes on."""
        while not self.lines.empty():
            self.lines.get()
        self.world.sealkit(self.person, "record", "save", "--zone", "Trip", "--type", "Note", "--name", "last", "--seal", "title=x")
        try:
            self.lines.get(timeout=PATIENCE)
        except queue.Empty:
            raise Failure("whoever watches is told nothing any more") from None


class Saves:
    """Somebody who saves records one after the other, and goes on whatever happens: what was said to be saved has to be there."""

    def __init__(self, world, person):
        self.world, self.person = world, person
        self.saved, self.failures, self.isEnding = [], [], threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        number = 0
        while not self.isEnding.is_set():
            number += 1
            try:
                self.world.sealkit(
                    self.person, "record", "save", "--zone", "Trip", "--type", "Note", "--name", f"s{number}", "--seal", f"title={number}")
                self.saved.append(f"s{number}")
            except (Failure, OSError, subprocess.SubprocessError) as failure:
                self.failures.append(str(failure))

    def more(self, count, text):
        before = len(self.saved)
        until(lambda: len(self.saved) >= before + count, text)

    def end(self):
        self.isEnding.set()
        self.thread.join(timeout=2 * PATIENCE)

    def check(self):
        """After the end: that all is there, once, and nothing has failed but for a server that was away."""
        # For as long as the command tries again, and no longer, it may be.
        others = [failure for failure in self.failures if "ended with 69" not in failure]
        that(not others, f"a save failed in another way than with a server that is away: {others[:1]}")
        rows = self.world.sealkit(self.person, "record", "list", "--zone", "Trip")
        names = [row["record"]["recordName"] for row in rows if "record" in row]
        that(len(names) == len(set(names)), f"{self.person} has a record twice")
        lost = [name for name in self.saved if name not in names]
        that(not lost, f"{len(lost)} of {len(self.saved)} saved records are not there: {lost[:5]}")


class Replicated(Postgres):
    """With a standby that waits for each commit."""

    def __init__(self):
        super().__init__()
        # Acknowledged means: on two disks.
        self.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.run("SELECT pg_reload_conf()")
        self.make_database()
        self.url = f"postgresql://postgres@/sealkit?host={self.socket},{self.socket}/standby"

    def fail_over(self):
        """The primary is killed, and the standby takes its place."""
        os.kill(int((self.data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        self.ask("--promote", self.data.parent / "standby")


def servers(world):
    postgres = Replicated()
    both = Servers(world, postgres.url)
    person = "servers-anna"
    both.make_account(person)
    large = world.folder / "servers-large"
    large.write_bytes(os.urandom(20 << 20))
    world.sealkit(person, "record", "save", "--zone", "Trip", "--type", "Note", "--name", "scan", "--asset", f"file={large}")
    watcher = Watcher(world, person)
    saves = Saves(world, person)
    saves.more(3, "nothing is saved")
    for number in (0, 1):
        # One is killed, and comes back; the other goes on meanwhile.
        both.kill(number)
        saves.more(3, f"nothing is saved without server {number}")
        both.start(number)
        saves.more(2, f"nothing is saved once server {number} is back")
    for number in (0, 1):
        # As for an upgrade: one after the other, taken out of the proxy before, and nobody is refused.
        before = len(saves.failures)
        both.take_out(number)
        both.stop(number)
        saves.more(3, f"nothing is saved while server {number} is upgraded")
        both.start(number)
        both.take_out()
        that(len(saves.failures) == before, f"somebody was refused while server {number} was upgraded: {saves.failures[-1:]}")
    postgres.fail_over()
    saves.more(3, "nothing is saved after the database has failed over")
    saves.end()
    that(all(each.poll() is None for each in both.running), "a server has ended")
    saves.check()
    back = world.folder / "servers-back"
    world.sealkit(person, "record", "asset", "scan", "file", "--zone", "Trip", "--output", back)
    that(back.read_bytes() == large.read_bytes(), "the file came back as another one")
    watcher.check()
    print(f"two servers on a replicated database: {len(saves.saved)} saves, none lost, while both were killed, upgraded, and the database failed over",
          flush=True)
