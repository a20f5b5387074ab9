import ArgumentParser
import SealKit

struct InviteCommand: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Make registration codes, for a server with --registration invite.",
        discussion: """
            Whoever has a code may make one account with it: sealkit account create --registration-code …, or for somebody who is \
            invited sealkit share accept --registration-code ….

              sealkit admin invite --data /var/lib/sealkit --days 7
            """)

    @Option(help: ArgumentHelp("How many codes to make.", valueName: "number"))
    var count = 1

    @Option(help: ArgumentHelp("How long they are good for.", valueName: "number"))
    var days = 30

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        guard (1...1_000).contains(count) else { throw ValidationError("--count takes a number from 1 to 1000.") }
        guard (1...73_000).contains(days) else { throw ValidationError("--days takes a number from 1 to 73000.") }
    }

    func run(_ server: ServerOperator) async throws {
        let made = try await server.makeRegistrationCodes(count, lifetime: UInt64(days) * 86_400)
        for (code, date) in made.codes {
            let expires = Timestamp.text(date)
            try output.result(
                "\(code.escaped)  good for one account until \(expires)", bare: code.escaped,
                json: ["code": .string(code), "expires": .string(expires)])
        }
        switch made.registration {
        case "open": output.note("nobody needs one now: this server's registration is open")
        case "closed": output.note("they are of no use now: this server's registration is closed")
        default: break
        }
    }
}
