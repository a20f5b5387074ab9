import ArgumentParser
import Foundation
import SealKit
import SealSchema
import SealStatements

struct SchemaValidate: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Check a schema file, without a server.",
        discussion: """
            Says where the first error is: file:line:column. Whether production's schema allows it, import --dry-run tells.

              sealkit schema validate --file notes.ckdb
            """)

    @OptionGroup var source: SchemaFile
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let text = try source.read()
        let schema: Schema
        do throws(SchemaError) { schema = try Schema(parsing: text) } catch {
            throw Failure.Local(
                status: .badInput, reason: "\(source.file):\(error.line):\(error.column): \(error.reason)")
        }
        let types = schema.types.count
        try output.result(
            "\(source.file.escaped) is a schema with \(types.counted("record type")) and \(schema.fieldCount.counted("field"))",
            json: ["valid": .bool(true), "types": .integer(Int64(types)), "fields": .integer(Int64(schema.fieldCount))])
    }
}

/// The file that a command reads a schema from.
struct SchemaFile: ParsableArguments {
    @Option(
        help: ArgumentHelp("The schema, in CloudKit's language; - for standard input.", valueName: "file"),
        completion: .file())
    var file: String

    func read() throws -> String {
        let data =
            file == "-"
            ? try Interruption.readAll(STDIN_FILENO, "standard input", atMost: GivenFile.mostBytes)
            : try GivenFile.contents(of: file)
        guard let data else { throw Failure.Local(status: .notFound, reason: "there is no schema to read at \(file)") }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw Failure.Local(status: .badInput, reason: "\(file) is not UTF-8 text")
        }
        return text
    }
}

extension GlobalOptions {
    var schemaEnvironment: SealStatements.Environment { environment == .production ? .production : .development }
}
