import ArgumentParser
import Foundation
import SealKit

struct ServerKeyCreate: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a key, and write its credential to a file.",
        discussion: """
            The file holds the only copy of the key: whoever reads it can write to the public database as the key's user.

              sealkit server-key create --name importer --output credential.json
            """)

    @Option(help: "What the key is for, for people.")
    var name: String

    @Option(
        name: .customLong("output"),
        help: ArgumentHelp("Where to put the credential; never over another file.", valueName: "file"),
        completion: .file())
    var file: String

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let target = URL(fileURLWithPath: file)
        guard !FileManager.default.fileExists(atPath: target.path) else {
            throw Failure.Local(
                status: .cannotWrite, reason: "there is a file at \(file) already", remedy: "name another file")
        }
        let credential = try await client.container.createServerKey(name: name)
        do { try credential.write(to: target) } catch {
            // A key that nobody holds is of no use.
            var remedy = error.remedy
            do { try await client.container.revokeServerKey(credential.userRecordID) } catch let failure {
                remedy +=
                    "; revoke the key that was made, which could not be done now (\(failure.said)): "
                    + "sealkit server-key revoke \(credential.userRecordID.recordName)"
            }
            throw Failure.Local(status: .cannotWrite, reason: error.reason, remedy: remedy)
        }
        let user = credential.userRecordID.recordName
        try output.result(
            "made \(user), credential in \(file)", bare: user, json: ["created": .string(user), "file": .string(file)])
    }
}
