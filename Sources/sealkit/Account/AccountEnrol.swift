import ArgumentParser
import Foundation
import SealKit

struct AccountEnrol: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "enrol",
        abstract: "Get an account onto this device from another one that has it, and write a key file.",
        discussion: """
            This prints an invitation for the other device, on which sealkit device approve takes it. Both then show six digits: \
            each is to be told the other's.

              sealkit account enrol --server https://notes.example.org
            """)

    @Option(help: "The server's address: https://host[:port].")
    var server: String

    @Flag(help: "Ask for a passphrase to seal the key file with.")
    var passphrase = false

    @OptionGroup var device: DeviceNameOption
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let target = NewKeyFile(global)
        try target.check()
        let passphrase = try global.newPassphrase(ask: passphrase)
        try await target.make { trust in
            let enrolment = try await DeviceEnrolment.begin(
                transport: try global.transport(server: server), deviceName: device.name)
            let account: Account
            do {
                try output.result(
                    "On the other device: sealkit device approve \(enrolment.invitation)", bare: enrolment.invitation,
                    json: ["invitation": .string(enrolment.invitation)])
                output.note("It is good for ten minutes.")
                let comparison = try await enrolment.comparison()
                try EnrolmentQuestion.show(comparison, output)
                switch try EnrolmentQuestion.ask(comparison, on: .new, output) {
                case .digits: account = try await enrolment.confirm(trust: trust)
                case .transcript(let text): account = try await enrolment.confirm(scanned: text, trust: trust)
                }
            } catch {
                await Interruption.settle { await enrolment.cancel() }
                throw error
            }
            try await target.keep(
                account, trust: trust, passphrase: passphrase, saying: "enrolled as", device: device, output)
            output.note(
                "Nobody is verified on this device yet, whoever was on the other one: compare safety numbers again, with "
                    + "sealkit contact list and sealkit contact show")
        }
    }
}
