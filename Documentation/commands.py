"""Writes the command's reference as pages of DocC's, from what the command says of itself: the words of its man pages."""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "Packaging"))

import manual  # noqa: E402


def prose(text):
    """A paragraph in which nothing is markup but what is typed."""

    def plain(words):
        words = re.sub(r"([\\*_<>\[\]#|~])", r"\\\1", words)
        # What is typed has two hyphens, and not a dash.
        return re.sub(r"(?<![\w-])--?[A-Za-z][\w-]*", lambda match: f"`{match[0]}`", words)

    return "".join(part if index % 2 else plain(part) for index, part in enumerate(re.split(r"(`[^`]+`)", " ".join(text.split()))))


def discussion(text):
    """Paragraphs, and what is indented in them as it stands."""
    out, run, indented = [], [], False
    for line in [*text.strip("\n").split("\n"), ""]:
        kind = line.startswith("  ")
        if run and (kind != indented or not line.strip()):
            out += ["```", *[each[2:] for each in run], "```", ""] if indented else [prose(" ".join(run)), ""]
            run = []
        if line.strip():
            run.append(line)
        indented = kind
    return out


def operand(argument):
    return f"<{argument['valueName'].replace(' ', '-')}>"


def spelled(argument):
    names = [argument["preferredName"], *[each for each in argument["names"] if each != argument["preferredName"] and each["kind"] == "short"]]
    return ", ".join(("--" if each["kind"] == "long" else "-") + each["name"] for each in names)


def synopsis(words, arguments):
    parts = [" ".join(words)]
    for argument in arguments:
        if argument["kind"] == "flag":
            continue
        part = operand(argument)
        if argument["kind"] != "positional":
            part = f"{spelled(argument).split(', ')[0]} {part}"
        part += " …" if argument["isRepeating"] else ""
        if not argument["isOptional"]:
            parts.append(part)
        elif argument["kind"] == "positional":
            parts.append(f"[{part}]")
    if any(argument["kind"] != "positional" and argument["isOptional"] for argument in arguments):
        parts.append("[options]")
    return ["```", " ".join(parts), "```", ""]


def listed(arguments):
    out = []
    for argument in arguments:
        tag = operand(argument) if argument["kind"] == "positional" else spelled(argument)
        tag += f" {operand(argument)}" if argument["kind"] == "option" else ""
        out.append(f"- `{tag}`: {prose(manual.described(argument))}")
    return out + [""]


def page(group):
    words = ["sealkit", group["commandName"]]
    leaves = manual.leaves(group, words)
    out = [f"# {' '.join(words)}", "", prose(group["abstract"]), ""]
    if group.get("discussion") or len(leaves) == 1:
        out += ["## Overview", "", *discussion(group.get("discussion", ""))]
    for names, command in leaves:
        arguments = [each for each in manual.shown(command["arguments"]) if each["valueName"] not in manual.HELP]
        if len(leaves) > 1:
            out += [f"## {' '.join(names)}", "", prose(command["abstract"]), ""]
        out += synopsis(names, arguments)
        if len(leaves) > 1:
            out += discussion(command.get("discussion", ""))
        if plain := [each for each in arguments if "sectionTitle" not in each]:
            out += listed(plain)
        for section in dict.fromkeys(each["sectionTitle"] for each in arguments if "sectionTitle" in each):
            out += [f"**{prose(section)}**", "", *listed([each for each in arguments if each.get("sectionTitle") == section])]
    return "\n".join(out)


def codes(root):
    """What the command ends with, as a page."""
    _, found, text = root["discussion"].partition("EXIT CODES:\n")
    if not found:
        sys.exit("commands.py: the help of the command lists no exit codes")
    rows = [line.split(None, 1) for line in text.strip("\n").split("\n")]
    return "\n".join(
        ["# Exit codes", "", "What `sealkit` ends with.", "", "| code | |", "|---|---|", *[f"| {int(code)} | {prose(meaning)} |" for code, meaning in rows]])


def write(binary, folder):
    """Writes a page for each command of the first floor, and names them on the catalog's own."""
    if not binary.exists():
        sys.exit(f"commands.py: there is no {binary.relative_to(ROOT)}. Build it first: make build")
    dump = json.loads(subprocess.run([str(binary), "--experimental-dump-help"], stdout=subprocess.PIPE, check=True).stdout)
    if dump["serializationVersion"] != manual.FORM:
        sys.exit(f"commands.py: the dump has the form {dump['serializationVersion']}, and {manual.FORM} is known")
    root = dump["command"]
    groups = [each for each in manual.shown(root["subcommands"]) if each["commandName"] != "help"]
    for group in groups:
        (folder / f"sealkit-{group['commandName']}.md").write_text(page(group), encoding="utf-8")
    (folder / "ExitCodes.md").write_text(codes(root), encoding="utf-8")
    top = folder / "Commands.md"
    reference = "".join(f"- <doc:sealkit-{each['commandName']}>\n" for each in groups)
    top.write_text(top.read_text(encoding="utf-8") + f"\n### Every command\n\n{reference}- <doc:ExitCodes>\n", encoding="utf-8")
