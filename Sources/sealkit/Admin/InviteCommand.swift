import ArgumentParser
import Foundation
import SealServer
import SealService

struct InviteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Make registration codes, for a server with --registration invite.",
        discussion: """
            Whoever has a code may make one account with it: sealkit account create --registration-code …, or for somebody who is \
            invited sealkit share accept --registration-code …. It works on the secrets folder alone; the server need not run.

              sealkit admin invite --data /var/lib/sealkit --days 7
            """)

    @Option(help: ArgumentHelp("How many codes to make.", valueName: "number"))
    var count = 1

    @Option(help: ArgumentHelp("How long they are good for.", valueName: "number"))
    var days = 30

    @OptionGroup var options: SecretsOptions

    func validate() throws {
        guard (1...1_000).contains(count) else { throw ValidationError("--count takes a number from 1 to 1000.") }
        guard (1...73_000).contains(days) else { throw ValidationError("--days takes a number from 1 to 73000.") }
    }

    func run() throws {
        let made = try options.working { folder in
            let codes = try RegistrationCodes(secretsFolder: folder)
            return try (0..<count).map { _ in try codes.make(lifetime: TimeInterval(days) * 86_400) }
        }
        for one in made {
            let expires = Timestamp.text(one.expires)
            try options.output.result(
                "\(one.code)  good for one account until \(expires)", bare: one.code,
                json: ["code": .string(one.code), "expires": .string(expires)])
        }
    }
}
