"""A server before a PostgreSQL whose operator goes back to a point in time, by a copy of its data and the logs since then."""

import os
import shutil

from postgres import Postgres
from world import free_port, stop, that, until


class Recovery:
    def __init__(self, world):
        self.world, self.files = world, {}
        self.postgres = Postgres()
        self.postgres.make_database()
        self.port = free_port()
        _, self.server = self.serve()
        world.sealkit("recovery-anna", "account", "create", "--server", f"http://127.0.0.1:{self.port}")

    def serve(self):
        url = f"postgresql://postgres@/sealkit?host={self.postgres.socket}"
        return self.world.serve("recovery", "--database-url", url, listen=f"127.0.0.1:{self.port}")

    def device(self, name):
        """Another device of hers, which has seen nothing."""
        path = self.world.folder / f"recovery-{name}.json"
        shutil.copyfile(self.world.folder / "recovery-anna.json", path)
        os.chmod(path, 0o600)
        return f"recovery-{name}"

    def save(self, name, person="recovery-anna", *options):
        content = self.world.folder / f"recovery-{name}"
        content.write_bytes(os.urandom(3 << 20))
        self.files[name] = content.read_bytes()
        self.world.sealkit(person, "record", "save", "--zone", "Trip", "--type", "Note", "--name", name, "--seal", f"title={name}", "--asset",
                           f"file={content}", *options)

    def read(self, person, code=0):
        """What the feed tells a device that it has not told it: names, and whether it began anew."""
        rows = self.world.sealkit(person, "record", "list", "--zone", "Trip", "--since-file", self.world.folder / f"{person}.token", code=code)
        return {row["record"]["recordName"] for row in rows if "record" in row}, any("reset" in row for row in rows)

    def check_files(self, person, *names):
        for name in names:
            back = self.world.folder / "recovery-back"
            self.world.sealkit(person, "record", "asset", name, "file", "--zone", "Trip", "--output", back)
            that(back.read_bytes() == self.files[name], f"the file of {name} came back as another one")
            back.unlink()


def recovery(world):
    story = Recovery(world)
    postgres = story.postgres
    world.sealkit("recovery-anna", "zone", "create", "Trip")
    story.save("before")
    postgres.ask("--copy", postgres.data)
    story.save("since")
    early, late = story.device("early"), story.device("late")
    that(story.read(early)[0] == {"before", "since"}, "a device is told of other records than there are")
    postgres.run("SELECT pg_create_restore_point('wanted')")

    # What is to be undone: a deletion, and what has been saved.
    world.sealkit("recovery-anna", "record", "delete", "before", "--zone", "Trip")
    story.save("undone")
    that(story.read(late)[0] == {"since", "undone"}, "a device is told of other records than there are")
    last = postgres.run("SELECT pg_walfile_name(pg_switch_wal())")
    until(lambda: postgres.run(f"SELECT last_archived_wal >= '{last}' FROM pg_stat_archiver") == "t", "no log is kept")

    # The server goes on meanwhile, as it does where the database is away.
    postgres.ask("--recover", postgres.data, "wanted")
    until(lambda: postgres.run("SELECT pg_is_in_recovery()") == "f", "the point in time is not reached")
    fresh = story.device("fresh")
    that(story.read(fresh) == ({"before", "since"}, False), "a device that has seen nothing is told of other records than there are")
    story.check_files(fresh, "before", "since")
    that(story.read(early) == (set(), False), "whoever had read as far as that point has to read anew")
    # A deletion that it has seen is not taken back by a server's word.
    that(story.read(late, code=76) == ({"since"}, True), "whoever has read further is not told that it begins anew")
    world.sealkit(late, "record", "delete", "before", "--zone", "Trip", "--restoring")
    story.save("undone", late, "--restoring")
    # How far it had read was not kept, since a record was refused.
    that(story.read(late) == ({"since", "undone"}, True), "what a device gives back is not there")
    that(story.read(late) == (set(), False), "it begins anew each time")

    # No other history begins with the server's next start.
    stop(story.server)
    _, server = story.serve()
    that(story.read(early) == ({"undone"}, False), "what was given back is not told")
    story.check_files(early, "since", "undone")
    that(server.poll() is None, "the server has ended")
    print("restored to a point in time: who had read so far goes on, who had read further begins anew and gives back; every file is there", flush=True)
