#!/usr/bin/env python3
"""Writes the man pages from what the command says of itself: sealkit(1), and sealkit-NAME(1) for each command of the first floor.

    sealkit --experimental-dump-help | Packaging/manual.py FOLDER

The same command gives the same bytes: their date is $SOURCE_DATE_EPOCH, or else the one that CHANGELOG.md gives the version. What is
new in the dump and unknown here ends it with an error, and leaves no page out.
"""

import datetime
import json
import os
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Of swift-argument-parser's dump: another number is another form.
FORM = 0
HELP = {"version": "Show the version.", "help": "Show help information."}


def escaped(text):
    """Text for a line of roff, in which a backslash and a hyphen that is to be copied are something else."""
    # `name` is how help texts mark what is typed, and roff has no such marks.
    text = re.sub(r"`([^`]+)`", r"“\1”", text.replace("\\", "\\e"))
    # What is typed stays together, and has the hyphens of ASCII.
    return re.sub(r"(?<![\w-])--?[A-Za-z][\w-]*", lambda match: match[0].replace("-", "\\-"), text)


def guarded(line):
    return "\\&" + line if line.startswith((".", "'")) else line


def prose(text):
    """Paragraphs of running text, a sentence a line, as mdoc wants it."""
    lines = []
    for sentence in re.split(r"(?<=[.!?]) +", " ".join(text.split())):
        line = ""
        for word in escaped(sentence).split():
            if line and width(line + " " + word) > 78:
                lines.append(line)
                line = ""
            line += " " * bool(line) + word
        lines.append(line)
    return [guarded(line) for line in lines]


def width(line):
    """As mandoc counts it, to which a character beyond ASCII is its escape sequence."""
    return sum(1 if character.isascii() else len(f"\\[u{ord(character):04X}]") for character in line)


def literal(lines):
    body = [guarded(line.replace("\\", "\\e").replace("-", "\\-")) for line in textwrap.dedent("\n".join(lines)).split("\n")]
    return [".Bd -literal -offset indent", *body, ".Ed"]


def discussion(text, before=()):
    """Running text, and what is indented in it as it stands; `before` is what stands above it."""
    out = list(before)
    for block in filter(None, re.split(r"\n{2,}", text.strip("\n"))):
        run, indented = [], None
        lines = block.split("\n")
        for line in lines + [None]:
            kind = None if line is None else line.startswith("  ")
            if run and kind != indented:
                out += literal(run) if indented else ([".Pp"] if out else []) + prose("\n".join(run))
                run = []
            if line is not None:
                run.append(line)
                indented = kind
    return out


def name(argument):
    """`--zone`, as macros: the long name where there is one."""
    preferred = argument["preferredName"]
    return ("Fl Fl " if preferred["kind"] == "long" else "Fl ") + preferred["name"]


def operand(argument):
    """What a user puts in: `Ar zone`, in one word."""
    value = argument["valueName"]
    return 'Ar "%s"' % value if " " in value else "Ar " + value


def described(argument):
    text = argument.get("abstract") or HELP.get(argument["valueName"])
    if text is None:
        sys.exit(f"manual.py: the argument {argument['valueName']} has no help")
    values = argument.get("allValues", [])
    if values and not all(value in text for value in values):
        text += " One of: " + ", ".join(values) + "."
    if argument.get("defaultValue") and "Default" not in text:
        text += f" Default: {argument['defaultValue']}."
    return text


def synopsis(words, arguments):
    out = [".Nm " + " ".join(words)]
    for argument in arguments:
        if argument["kind"] == "flag":
            continue
        parts = operand(argument) if argument["kind"] == "positional" else name(argument) + " " + operand(argument)
        parts += " ..." if argument["isRepeating"] else ""
        if not argument["isOptional"]:
            out.append("." + parts)
        elif argument["kind"] == "positional":
            out.append(".Op " + parts)
    if any(argument["kind"] != "positional" and argument["isOptional"] for argument in arguments):
        out.append(".Op Ar options")
    return out


def listed(arguments):
    if not arguments:
        return []
    out = [".Bl -tag -width Ds"]
    for argument in arguments:
        if argument["kind"] == "positional":
            out.append(".It " + operand(argument))
        elif argument["kind"] in ("option", "flag"):
            short = [each for each in argument["names"] if each["kind"] == "short" and each != argument["preferredName"]]
            tag = name(argument) + (" " + operand(argument) if argument["kind"] == "option" else "")
            out.append(".It " + "".join(f"Fl {each['name']} , " for each in short) + tag)
        else:
            sys.exit(f"manual.py: the dump has a new kind of argument: {argument['kind']}")
        out += prose(described(argument))
    return out + [".El"]


def shown(entries):
    return [entry for entry in entries if entry["shouldDisplay"]]


def leaves(command, words):
    """The commands that do something, below one that may be one itself."""
    below = [each for each in shown(command.get("subcommands", [])) if each["commandName"] != "help"]
    if not below:
        return [(words, command)]
    return [leaf for each in below for leaf in leaves(each, words + [each["commandName"]])]


class Manual:
    def __init__(self, root, version, date):
        self.root = root
        self.foot = (version, date)
        self.groups = [each for each in shown(root["subcommands"]) if each["commandName"] != "help"]

    def page(self, title, abstract, body):
        version, date = self.foot
        see = [".Xr sealkit 1"] if title != "sealkit" else [f".Xr sealkit-{each['commandName']} 1" for each in self.groups]
        head = [
            '.\\" Written by Packaging/manual.py from what the command says of itself.',
            f".Dd {date}", f".Dt {title.upper()} 1", f".Os SealKit {version}",
            ".Sh NAME", f".Nm {title}", ".Nd " + escaped(abstract.rstrip(".")),
        ]
        tail = [".Sh SEE ALSO", *[line + " ," for line in sorted(see)[:-1]], sorted(see)[-1]]
        return "\n".join(head + body + tail) + "\n"

    def first(self):
        text, found, codes = self.root["discussion"].partition("EXIT CODES:\n")
        if not found:
            sys.exit("manual.py: the help of the command lists no exit codes")
        body = [".Sh SYNOPSIS", ".Nm sealkit", ".Ar command", ".Op Ar arguments", ".Sh DESCRIPTION", *discussion(text)]
        body += [".Sh COMMANDS", ".Bl -tag -width Ds"]
        for group in self.groups:
            body += [f".It Xr sealkit-{group['commandName']} 1", *prose(group["abstract"])]
        body += [".El", ".Sh OPTIONS", *listed(shown(self.root["arguments"]))]
        body += [
            ".Sh FILES", ".Bl -tag -width Ds",
            ".It Pa ~/.config/sealkit", "The accounts of this machine: their keys, and what was verified.",
            ".It Pa /etc/sealkit/sealkit.yaml", "The settings of the server that the system starts; see", ".Xr sealkit-serve 1 .",
            ".It Pa /var/lib/sealkit , /var/lib/sealkit.secrets", "Its data, and what must not lie in the data's backups.", ".El",
            ".Sh EXIT STATUS", ".Bl -tag -width Ds",
        ]
        for line in codes.strip("\n").split("\n"):
            code, meaning = line.split(None, 1)
            body += [f".It {int(code)}", *prose(meaning[0].upper() + meaning[1:] + ".")]
        return self.page("sealkit", self.root["abstract"], body + [".El"])

    def of(self, group):
        title = "sealkit-" + group["commandName"]
        commands = leaves(group, ["sealkit", group["commandName"]])
        options = [[each for each in shown(command["arguments"]) if each["valueName"] not in HELP] for _, command in commands]
        # What all of them take is told once.
        common = [each for each in options[0] if len(options) > 1 and each["kind"] != "positional" and all(each in other for other in options)]
        body = [".Sh SYNOPSIS"]
        for (words, _), arguments in zip(commands, options):
            body += synopsis(words, arguments)
        body += [".Sh DESCRIPTION", *discussion(group.get("discussion", ""), prose(group["abstract"]))]
        if len(commands) > 1:
            body += [".Sh COMMANDS"]
        for (words, command), arguments in zip(commands, options):
            if len(commands) > 1:
                body += [".Ss " + " ".join(words)]
                body += discussion(command.get("discussion", ""), prose(command["abstract"]))
            own = [each for each in arguments if each not in common]
            if len(commands) == 1:
                body += [".Sh OPTIONS"]
            plain = [each for each in own if "sectionTitle" not in each]
            body += listed(plain)
            for section in dict.fromkeys(each["sectionTitle"] for each in own if "sectionTitle" in each):
                body += [".Ss " + section, *listed([each for each in own if each.get("sectionTitle") == section])]
        if common:
            body += [".Sh COMMON OPTIONS", *listed(common)]
        body += [".Sh EXIT STATUS", "See", ".Xr sealkit 1 ."]
        return self.page(title, group["abstract"], body)


def date_of(version):
    """As mdoc writes a date."""
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        day = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc)
    else:
        found = re.search(rf"^## \[{re.escape(version)}\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
        if not found:
            sys.exit(f"manual.py: CHANGELOG.md has no date of {version}")
        day = datetime.date.fromisoformat(found[1])
    return f"{day:%B} {day.day}, {day.year}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    dump = json.load(sys.stdin)
    if dump["serializationVersion"] != FORM:
        sys.exit(f"manual.py: the dump has the form {dump['serializationVersion']}, and {FORM} is known")
    version = re.search(r'"([^"]+)"', (ROOT / "Sources/SealServer/Configuration/ServerVersion.swift").read_text())[1]
    manual = Manual(dump["command"], version, date_of(version))
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for page in folder.glob("*.1"):
        page.unlink()
    (folder / "sealkit.1").write_text(manual.first(), encoding="utf-8")
    for group in manual.groups:
        (folder / f"sealkit-{group['commandName']}.1").write_text(manual.of(group), encoding="utf-8")


if __name__ == "__main__":
    main()
