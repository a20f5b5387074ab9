import ArgumentParser
import Foundation
import SealServer
import SealService

struct TokenKeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token-keys",
        abstract: "The keys that sign verification tokens.",
        discussion: """
            The newest key signs; all verify, and are published at /.well-known/sealkit/token-keys. A running server notices \
            what is done here by itself.
            """,
        subcommands: [TokenKeysList.self, TokenKeysRotate.self, TokenKeysRemove.self])
}

/// Where the server keeps its secrets.
struct SecretsOptions: ParsableArguments {
    @OptionGroup var places: ServerPlacesOptions
    @OptionGroup var shown: ShownOptions

    var output: Output { shown.output }

    /// - Throws: `badInput`, whatever is wrong with the folder.
    func rotation<T>(_ body: (TokenKeyRotation) throws -> T) throws -> T {
        try working { try body(try TokenKeyRotation(secretsFolder: $0)) }
    }

    /// - Parameter body: gets the secrets folder.
    /// - Throws: `badInput`, whatever is wrong with the folder.
    func working<T>(_ body: (String) throws -> T) throws -> T {
        do {
            let folder = try ServerConfiguration.secretsFolder(
                data: places.data, secrets: places.secrets, environment: ProcessInfo.processInfo.environment,
                file: places.config)
            guard let folder else {
                throw Failure.Local(
                    status: .badInput, reason: "no folder was named",
                    remedy: "give the --data, --secrets or --config that the server runs with")
            }
            return try body(folder)
        } catch let error as Failure.Local {
            throw error
        } catch {
            throw Failure.Local(status: .badInput, reason: "\(error)")
        }
    }
}

struct TokenKeysList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the keys, oldest first.",
        discussion: "  sealkit admin token-keys list --data /var/lib/sealkit")

    @OptionGroup var options: SecretsOptions

    func run() throws {
        for key in try options.rotation({ try $0.keys() }) {
            try options.output.result(
                "\(key.id)  made \(Timestamp.shown(key.made))\(key.isCurrent ? "  signs" : "")", bare: key.id,
                json: key.json)
        }
    }
}

struct TokenKeysRotate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Make a new key, which signs from now on.",
        discussion: """
            The keys before it go on verifying. Those that another one followed more than a day ago are removed: no token of \
            theirs can be under way.

              sealkit admin token-keys rotate --data /var/lib/sealkit
            """)

    @OptionGroup var options: SecretsOptions

    func run() throws {
        let (made, removed) = try options.rotation { try $0.rotate() }
        try options.output.result(
            (["\(made.id) signs from now on"] + removed.map { "\($0) was removed" }).joined(separator: "\n"),
            bare: made.id,
            json: ["made": .string(made.id), "removed": .array(removed.map { .string($0) })])
    }
}

struct TokenKeysRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a key at once, as when somebody else may have it.",
        discussion: """
            Its tokens are refused from then on. Rotate first where it is the one that signs.

              sealkit admin token-keys remove k4.pid.… --data /var/lib/sealkit
            """)

    @Argument(help: "The key's id.")
    var id: String

    @OptionGroup var options: SecretsOptions

    func run() throws {
        try options.rotation { try $0.remove(id: id) }
        try options.output.result("\(id.escaped) was removed", json: ["removed": .array([.string(id)])])
    }
}

extension TokenKeyRotation.Entry {
    fileprivate var json: [String: JSONValue] {
        ["id": .string(id), "made": .string(Timestamp.text(made)), "signs": .bool(isCurrent)]
    }
}
