"""An SMTP relay for tests that behaves as it is told: TLS, authentication, and every way of failing.

smtp-relay.py FOLDER PORT [--certificate FILE --key FILE] [--tls from-the-start|starttls] [--user NAME --password WORD]
              [--behaviour accept|lose|refuse|later|refuse-sender|refuse-sender-late]

Mails go to FOLDER, one file each, with the recipient's address as its first line; `lose` takes them and keeps none.
`refuse-sender-late` says what is wrong with the sender at the first recipient, as many relays do. A file `behaviour` in
FOLDER has another behaviour from then on.
"""

import argparse
import pathlib
import ssl
import threading

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("port", type=int)
parser.add_argument("--certificate")
parser.add_argument("--key")
parser.add_argument("--tls", choices=["from-the-start", "starttls"])
parser.add_argument("--user")
parser.add_argument("--password")
parser.add_argument("--behaviour", default="accept", choices=["accept", "lose", "refuse", "later", "refuse-sender", "refuse-sender-late"])
options = parser.parse_args()
options.folder.mkdir(parents=True, exist_ok=True)


def behaviour():
    named = options.folder / "behaviour"
    return named.read_text().strip() if named.exists() else options.behaviour


class Handler:
    count = 0

    async def handle_MAIL(self, server, session, envelope, address, mail_options):
        if behaviour() == "refuse-sender":
            return "553 5.7.1 sender address rejected: " + address
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, rcpt_options):
        if behaviour() == "refuse-sender-late":
            return "554 5.7.1 sender address rejected: " + envelope.mail_from
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        Handler.count += 1
        # So that tests see what was tried, whatever came of it.
        (options.folder / "tries").write_text(str(Handler.count))
        if behaviour() == "refuse":
            return "550 no such mailbox: " + envelope.rcpt_tos[0]
        if behaviour() == "later" and Handler.count == 1:
            return "451 greylisted: " + envelope.rcpt_tos[0]
        if behaviour() != "lose":
            part = options.folder / "part"
            part.write_bytes(envelope.rcpt_tos[0].encode() + b"\n" + envelope.content)
            part.rename(options.folder / f"{Handler.count:03d}.mail")
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    known = data.login == (options.user or "").encode() and data.password == (options.password or "").encode()
    # The library says 535 by itself.
    return AuthResult(success=known, handled=False)


context = None
if options.tls:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate, options.key)
arguments = {}
if options.user:
    arguments = {"authenticator": authenticate, "auth_required": True, "auth_require_tls": options.tls == "starttls"}
if options.tls == "starttls":
    arguments |= {"tls_context": context, "require_starttls": True}
controller = Controller(
    Handler(), hostname="127.0.0.1", port=options.port, ssl_context=context if options.tls == "from-the-start" else None, **arguments)
controller.start()
threading.Event().wait()
