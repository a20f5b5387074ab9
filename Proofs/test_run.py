#!/usr/bin/env python3
"""Whether `run.py --recorded` sees a model that is another one than was run."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class Recorded(unittest.TestCase):
    def outcome(self, file, old, new):
        """Exit status and words after one change of one file."""
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "Proofs")
            shutil.copytree(HERE, copy)
            text = (copy / file).read_text(encoding="utf-8")
            self.assertIn(old, text)
            (copy / file).write_text(text.replace(old, new), encoding="utf-8")
            done = subprocess.run([sys.executable, "-B", str(copy / "run.py"), "--recorded"], capture_output=True, text=True)
            return done.returncode, done.stdout

    def test_it_is_as_recorded(self):
        self.assertEqual(self.outcome("moves.pv", "Moves:", "Moves:")[0], 0)

    def test_a_model_without_a_check(self):
        status, words = self.outcome("moves.pv", "if f = fields(sealed) then\n", "")
        self.assertEqual(status, 1)
        self.assertIn("moves.pv base: results.md is of another text", words)
        self.assertNotIn("carry.pv", words)

    def test_another_library(self):
        status, words = self.outcome("sealkit.pvl", "fun H(bitstring): bitstring.", "fun H(bitstring): bitstring [data].")
        self.assertEqual(status, 1)
        self.assertIn("carry.pv base: results.md is of another text", words)

    def test_another_answer(self):
        self.assertEqual(self.outcome("results.md", "| true true true false |", "| true true true true |")[0], 1)


if __name__ == "__main__":
    unittest.main()
