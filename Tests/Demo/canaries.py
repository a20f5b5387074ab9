"""Words, numbers and secrets that must be nowhere but with their people, and the search for them."""

import base64
import dataclasses
import email
import email.policy
import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile


def link_secret(url):
    """What follows the # of a share URL, and the 32 raw bytes of the link secret in it."""
    part = url.split("#", 1)[1]
    raw = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    return part.encode(), raw[1:33]


def recovery_key_bytes(printed):
    """13 groups of four characters of Crockford's base 32 and a check character: the first 256 bits."""
    alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    bits = "".join(f"{alphabet.index(character):05b}" for group in printed.split("-") for character in group[:4])
    return int(bits[:256], 2).to_bytes(32, "big")


def seed_bytes(key_file):
    """The seed in a key file that no passphrase seals."""
    text = json.loads(key_file.read_text())["seeds"]
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def spellings(needle):
    """The bytes themselves, as hexadecimal, and as base64 at each of the three places where they may start."""
    yield needle
    yield needle.hex().encode()
    yield needle.hex().upper().encode()
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + needle)
        # The characters at both ends depend on the neighbours.
        start, end = (0, 2, 3)[shift], len(encoded) - (0 if (shift + len(needle)) % 3 == 0 else 4)
        middle = encoded[start:end]
        yield middle
        if any(character in middle for character in b"+/"):
            yield middle.replace(b"+", b"-").replace(b"/", b"_")


@dataclasses.dataclass
class Scan:
    when: str
    needles: int = 0
    spellings: int = 0
    total: int = 0
    names: set = dataclasses.field(default_factory=set)
    read: dict = dataclasses.field(default_factory=dict)
    hits: dict = dataclasses.field(default_factory=dict)
    planted: dict = dataclasses.field(default_factory=dict)


class Canaries:
    """Every word shares one random stem, so that one search finds all words; other values are searched one by one."""

    def __init__(self):
        self.stem = "kanarie" + os.urandom(6).hex()
        self.planted = "sichtbar" + os.urandom(6).hex()
        self.count = 0
        self.needles = {"a word": self.stem.encode()}

    def word(self, _where):
        self.count += 1
        return f"{self.stem}n{self.count}"

    def secret(self, name, value):
        self.needles[name] = value

    def data(self, name, value):
        """Bytes for a data field; gives them as base64."""
        self.needles[name] = value
        return base64.b64encode(value).decode()

    def integer(self, name, value):
        self.needles[name] = struct.pack("<q", value)
        self.needles[name + ", big-endian"] = struct.pack(">q", value)

    def double(self, name, value):
        self.needles[name] = struct.pack("<d", value)
        self.needles[name + ", big-endian"] = struct.pack(">d", value)

    def lines(self, name, text):
        """A few long lines of a real document."""
        long = sorted((line.strip() for line in text.splitlines()), key=len, reverse=True)[:3]
        for index, line in enumerate(line for line in long if len(line) >= 40):
            self.needles[f"{name}, line {index + 1}"] = line.encode()[:120]

    def slices(self, name, content):
        for offset in (0, 65_536 - 16, len(content) // 2, len(content) - 32):
            self.needles[f"{name}, bytes at {offset}"] = content[offset:offset + 32]

    @staticmethod
    def suspects(patterns, files):
        """The files that may have one of the patterns, as grep finds in one go: it takes lines, so each pattern goes by its longest piece of one."""
        pieces = {max(re.split(rb"[\n\0]", pattern), key=len) for pattern in patterns}
        if b"" in pieces:
            return set(files)
        with tempfile.NamedTemporaryFile() as wanted:
            wanted.write(b"".join(piece + b"\n" for piece in pieces))
            wanted.flush()
            found = subprocess.run(
                ["xargs", "--null", "--no-run-if-empty", "grep", "--files-with-matches", "--null", "--text", "--no-messages", "--fixed-strings", "--file", wanted.name, "--"],
                input=b"\0".join(os.fsencode(path) for path in files), stdout=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"})
        # What xargs says of greps that found nothing, or no file.
        if found.returncode not in (0, 123):
            raise RuntimeError(f"grep ended with {found.returncode}")
        return {pathlib.Path(os.fsdecode(name)) for name in found.stdout.split(b"\0") if name}

    def scan(self, places, when):
        patterns = {spelling: name for name, needle in self.needles.items() for spelling in spellings(needle)}
        scan = Scan(when, len(self.needles) + self.count, len(patterns))
        for place, files in places.items():
            size = hits = planted = 0
            # What is in mails is seen when they are read.
            suspects = set(files) if place == "mail" else self.suspects(patterns, files)
            for path in files:
                if not path.exists():
                    continue
                content = path.read_bytes()
                if place == "mail":
                    message = email.message_from_bytes(content, policy=email.policy.default)
                    for part in message.walk():
                        if not part.is_multipart():
                            content += part.get_content().encode()
                size += len(content)
                planted += content.count(self.planted.encode())
                if path not in suspects:
                    continue
                for pattern, name in patterns.items():
                    if found := content.count(pattern):
                        hits += found
                        scan.names.add(f"{name} in {place}")
            scan.read[place], scan.hits[place], scan.planted[place] = (len(files), size), hits, planted
            scan.total += hits
        return scan
