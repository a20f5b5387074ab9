"""The PostgreSQL that Tests/Support/postgres runs beside this."""

import os
import pathlib
import subprocess

from world import PATIENCE, REPOSITORY


class Postgres:
    def __init__(self):
        self.socket = os.environ["SEALKIT_TEST_POSTGRES"].split("host=")[1]
        self.data = pathlib.Path(os.environ["SEALKIT_TEST_POSTGRES_DATA"])

    def run(self, statement):
        done = subprocess.run(
            ["psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--host", self.socket, "--username", "postgres", "--command", statement],
            check=True, capture_output=True, timeout=PATIENCE)
        return done.stdout.decode().strip()

    def make_database(self):
        self.run("CREATE DATABASE sealkit TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")

    @staticmethod
    def ask(*arguments):
        """What Tests/Support/postgres does with one that it runs."""
        subprocess.run([REPOSITORY / "Tests/Support/postgres", *arguments], check=True, capture_output=True, timeout=PATIENCE)
