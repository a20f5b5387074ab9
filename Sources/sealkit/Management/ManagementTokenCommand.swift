import ArgumentParser
import Foundation
import SealKit

struct ManagementTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "management-token",
        abstract: "Tokens that let somebody manage one container: schema and roles. With the operator's token.",
        subcommands: [Create.self, List.self, Revoke.self])

    struct Create: OperatorCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a token for a container, and print it once.",
            discussion:
                "  sealkit management-token create --server https://notes.example.org --container org.example.notes --name CI --days 90"
        )

        @Option(help: "What the token is for: for people.")
        var name: String

        @Option(help: "How long it is good. Without: until it is revoked.")
        var days: UInt16?

        @OptionGroup var management: ManagementOptions
        @OptionGroup var global: GlobalOptions

        func run(_ tokens: ManagementTokens) async throws {
            let (entry, token) = try await tokens.create(
                for: global.containerIdentifier, name: name, lifetime: days.map { UInt64($0) * 86_400 })
            let text = token.text()
            do throws(SealKitError) {
                try output.only(
                    "token \(entry.id.escaped) for \(entry.containerIdentifier.escaped)\n\(text)", bare: text,
                    json: entry.json.merging(["token": .string(text)]) { _, new in new })
            } catch {
                // A token that nobody has is of no use.
                do { try await tokens.revoke(entry.id) } catch let failure {
                    throw error.adding(
                        remedy: "end the token that was made, which could not be done now (\(failure.said)): "
                            + "sealkit management-token revoke \(entry.id.inShell)")
                }
                throw error
            }
            output.note("It is shown this once.")
        }
    }

    struct List: OperatorCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the tokens that are good, of one container or of all.",
            discussion: "  sealkit management-token list --server https://notes.example.org --all")

        @Flag(help: "Of all containers.")
        var all = false

        @OptionGroup var management: ManagementOptions
        @OptionGroup var global: GlobalOptions

        func run(_ tokens: ManagementTokens) async throws {
            for entry in try await tokens.list(for: all ? nil : global.containerIdentifier) {
                let expiry = entry.expirationDate.map { "until \($0.formatted(.iso8601))" } ?? "until revoked"
                try output.result(
                    "\(entry.id.escaped)  \(entry.containerIdentifier.escaped)  \(entry.name.escaped)  \(expiry)",
                    bare: entry.id.escaped,
                    json: entry.json)
            }
        }
    }

    struct Revoke: OperatorCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a token, at once.",
            discussion: "  sealkit management-token revoke 0123456789abcdef --server https://notes.example.org")

        @Argument(help: "The token's id, as list shows it.")
        var id: String

        @OptionGroup var management: ManagementOptions
        @OptionGroup var global: GlobalOptions

        func run(_ tokens: ManagementTokens) async throws {
            try await tokens.revoke(id)
            try output.result("revoked \(id.escaped)", json: ["revoked": .string(id)])
        }
    }
}

extension ManagementTokens.Entry {
    fileprivate var json: [String: JSONValue] {
        [
            "id": .string(id), "container": .string(containerIdentifier), "name": .string(name),
            "created": .string(creationDate.formatted(.iso8601)),
            "expires": JSONValue(expirationDate?.formatted(.iso8601)),
        ]
    }
}
