"""Runs a command at a terminal of its own and answers what it asks, as somebody would who sits there.

terminal.py ANSWERS COMMAND …: ANSWERS is a JSON list of [question, answer], in order; {"mail": folder, "to": address, "count": n}
is the code in the n-th mail there, or what "instead" says once that mail has come; {"keys": text} is typed as it is,
{"signal": number} is sent to the command. Prints what the terminal showed, and ends as the command did; it is an error to leave
the terminal without its echo.
"""

import json
import os
import pathlib
import pty
import re
import select
import signal
import sys
import termios
import time

PATIENCE = 120


def code_by_mail(folder, address, count):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        mails = sorted(pathlib.Path(folder).glob("*"), key=lambda path: path.stat().st_mtime)
        texts = [text for text in (mail.read_text() for mail in mails) if address in text]
        if len(texts) >= count:
            return re.search(r"^ +(\d{8})$", texts[count - 1], re.MULTILINE).group(1)
        time.sleep(0.1)
    sys.exit("no mail with a code came")


answers = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[2], sys.argv[2:])
shown, seen = b"", 0
end = time.monotonic() + PATIENCE
while time.monotonic() < end:
    if not select.select([terminal], [], [], 1)[0]:
        continue
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    if not part:
        break
    shown += part
    # Two questions may come at once.
    while answers and (place := shown.find(answers[0][0].encode(), seen)) >= 0:
        question, answer = answers.pop(0)
        seen = place + len(question.encode())
        if isinstance(answer, str):
            os.write(terminal, answer.encode() + b"\n")
        elif "signal" in answer:
            os.kill(child, answer["signal"])
        elif "keys" in answer:
            os.write(terminal, answer["keys"].encode())
        else:
            code = code_by_mail(answer["mail"], answer["to"], answer["count"])
            os.write(terminal, answer.get("instead", code).encode() + b"\n")
else:
    os.kill(child, signal.SIGKILL)
    sys.stderr.write("nothing more happened; ")
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.stdout.write(shown.decode(errors="replace").replace("\r\n", "\n"))
if not termios.tcgetattr(terminal)[3] & termios.ECHO:
    sys.exit("the terminal was left without its echo")
if answers:
    sys.exit(f"it never asked: {answers[0][0]}")
sys.exit(status)
