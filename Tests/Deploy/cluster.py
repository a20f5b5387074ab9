"""PostgreSQL under Patroni, for the torture of two servers before it: whatever is struck, nothing that was acknowledged is lost.

`SealTorture cluster` runs the servers, and the clients, and says when the primary's processes are to be killed, or its whole node with what watches
over it; it looks after each blow whether everything that was promised is there.
"""

import argparse
import contextlib
import json
import os
import pathlib
import pwd
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from world import PATIENCE, Failure, World, free_port, that, until

# Seconds that a node has to be silent for before another one takes its place; Patroni has no less.
SILENCE = 20


class Node:
    """A PostgreSQL, and the Patroni that watches over it."""

    def __init__(self, cluster, number):
        self.cluster, self.name = cluster, f"node{number}"
        self.port, self.rest = free_port(), free_port()
        self.folder = cluster.folder / self.name
        self.folder.mkdir(mode=0o700)
        self.data = self.folder / "data"
        self.process = None
        self.killed = None

    def settings(self):
        # Whoever is let in by trust needs no password, and Patroni wants one to be named.
        people = {role: {"username": name, "password": "none"} for role, name in (("superuser", "postgres"), ("replication", "replicator"))}
        return {
            "scope": "sealkit", "name": self.name, "restapi": {"listen": f"127.0.0.1:{self.rest}"},
            "etcd3": {"host": f"127.0.0.1:{self.cluster.etcd}"},
            "bootstrap": {
                "dcs": {"ttl": SILENCE, "loop_wait": 1, "retry_timeout": 3, "synchronous_mode": True, "master_start_timeout": 0,
                        "postgresql": {"use_pg_rewind": True, "parameters": {"max_connections": 200, "wal_log_hints": "on"}}},
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums"],
                "users": {"replicator": {"password": "none", "options": ["replication"]}}},
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}", "data_dir": str(self.data), "bin_dir": str(self.cluster.postgres), "authentication": people,
                "pgpass": str(self.folder / "pgpass"), "parameters": {"unix_socket_directories": str(self.folder)},
                "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]}}

    def start(self):
        file = self.folder / "patroni.yml"
        # JSON is YAML.
        file.write_text(json.dumps(self.settings()))
        self.cluster.give(self.folder, file)
        self.process = self.cluster.start(self.name, "/usr/bin/python3", "-B", self.cluster.programs / "bin/patroni", file)

    def postmaster(self):
        """The number of PostgreSQL's first process."""
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def kill_postgres(self):
        self.killed = self.postmaster()
        os.kill(self.killed, signal.SIGKILL)

    def is_up(self):
        """Patroni says so of one that was just killed until it has looked again."""
        try:
            return self.postmaster() != self.killed
        except (OSError, ValueError, IndexError):
            return False

    def kill(self):
        """All of it, as with its machine."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        with contextlib.suppress(OSError, ValueError):
            self.kill_postgres()


class Cluster:
    """Two nodes, and the etcd that says which of them is the primary."""

    def __init__(self, world, programs, folder):
        self.world, self.programs, self.folder, self.etcd = world, programs.resolve(), folder, free_port()
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
        that(found, "there is no PostgreSQL below /usr/lib/postgresql")
        self.postgres = found[-1].parent
        # PostgreSQL does not run as root; its user may not be let in where the programs are, nor where tests begin.
        self.user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        shutil.copytree(self.programs, folder / "programs", symlinks=True)
        self.programs = folder / "programs"
        self.give(folder)
        peer = free_port()
        world.start("etcd", self.programs / "bin/etcd", "--data-dir", world.folder / "etcd", "--listen-client-urls", f"http://127.0.0.1:{self.etcd}",
                    "--advertise-client-urls", f"http://127.0.0.1:{self.etcd}", "--listen-peer-urls", f"http://127.0.0.1:{peer}",
                    "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}", "--initial-cluster", f"default=http://127.0.0.1:{peer}")
        self.nodes = [Node(self, number) for number in range(2)]
        for node in self.nodes:
            node.start()
        self.wait_until_whole()

    def give(self, *paths):
        for path in paths:
            if self.user:
                os.chown(path, self.user.pw_uid, self.user.pw_gid)

    def start(self, name, *command):
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if self.user else []
        return self.world.start(name, *as_user, "env", f"--chdir={self.folder}", *command, LC_ALL="C", HOME=str(self.folder), TMPDIR=str(self.folder),
                                PYTHONPATH=str(self.programs / "lib/python3/dist-packages"))

    def members(self):
        """By their names, of those that anybody can say something of."""
        for node in self.nodes:
            with contextlib.suppress(OSError, ValueError, urllib.error.URLError):
                with urllib.request.urlopen(f"http://127.0.0.1:{node.rest}/cluster", timeout=5) as answer:
                    return {member["name"]: member for member in json.load(answer)["members"]}
        return {}

    def is_whole(self):
        """Whether there is a primary, and a standby that has all that the primary has acknowledged."""
        if not all(node.is_up() for node in self.nodes):
            return False
        members = self.members().values()
        roles = sorted((member["role"], member["state"]) for member in members)
        return len(roles) == 2 and roles[0] == ("leader", "running") and roles[1][0] == "sync_standby" and roles[1][1] in ("running", "streaming")

    def wait_until_whole(self):
        for _ in range(3):
            with contextlib.suppress(Failure):
                return until(self.is_whole, "not whole yet")
        raise Failure(f"the database did not become whole again: {self.members()}; {self.world.log('node0')[-1500:]}")

    def leader(self):
        def named():
            return [name for name, member in self.members().items() if member["role"] == "leader"]

        name = until(named, "there is no primary")[0]
        return next(node for node in self.nodes if node.name == name)

    def database(self):
        """The URL of a new one."""
        subprocess.run([self.postgres / "createdb", "--host=127.0.0.1", f"--port={self.leader().port}", "--username=postgres", "--template=template0",
                        "--encoding=UTF8", "--locale=C", "sealkit"], check=True, capture_output=True, timeout=PATIENCE)
        return f"postgresql://postgres@{','.join(f'127.0.0.1:{node.port}' for node in self.nodes)}/sealkit"


def play(cluster, torture, rounds, seed):
    """Does what the torture asks for, until it ends, and says what that said."""
    told = os.environ | {"TORTURE_CLUSTER": cluster.database(), "ROUNDS": str(rounds), "SEED": seed}
    away = []
    struck = 0
    with subprocess.Popen([torture, "cluster"], env=told, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            what = line.strip().removeprefix("cluster: ")
            if not line.startswith("cluster: "):
                print(line, end="", flush=True)
                continue
            struck += what in ("primary", "node")
            try:
                if what == "primary":
                    cluster.leader().kill_postgres()
                elif what == "node":
                    away.append(cluster.leader())
                    away[-1].kill()
                else:
                    while away:
                        away.pop().start()
                    cluster.wait_until_whole()
                answer = "done"
            except (Failure, OSError, ValueError) as error:
                answer = str(error).replace("\n", " ")
            process.stdin.write(answer + "\n")
            process.stdin.flush()
    that(process.returncode == 0, "the torture failed")
    that(struck, "the primary was never struck: nothing was shown of it")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--torture", required=True, type=pathlib.Path)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("--cluster", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", required=True, type=int)
    parser.add_argument("--seed", required=True)
    arguments = parser.parse_args()
    # What it has started goes with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    seed = arguments.seed or str(random.randrange(1, 1_000_000_000))
    print(f"SEED={seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="sealkit-deploy-") as folder, tempfile.TemporaryDirectory(prefix="sealkit-cluster-") as shared:
        world = World(arguments.torture.resolve().with_name("sealkit"), arguments.programs.resolve(), pathlib.Path(folder))
        cluster = None
        try:
            cluster = Cluster(world, arguments.cluster, pathlib.Path(shared))
            play(cluster, arguments.torture.resolve(), arguments.rounds, seed)
        except (Failure, OSError, subprocess.SubprocessError) as error:
            print(f"error: {error}\nSEED={seed} ROUNDS={arguments.rounds}", flush=True)
            sys.exit(1)
        finally:
            for node in cluster.nodes if cluster else []:
                with contextlib.suppress(ProcessLookupError):
                    node.kill()
            world.processes.close()


if __name__ == "__main__":
    main()
