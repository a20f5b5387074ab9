import ArgumentParser
import Foundation
import SealKit

struct SchemaExport: ManagementCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print an environment's schema, or write it to a file.",
        discussion:
            "  sealkit schema export --server https://notes.example.org --environment production --file notes.ckdb")

    @Option(
        help: ArgumentHelp(
            "Where to write it; what is there is replaced. Without: standard output.", valueName: "file"),
        completion: .file())
    var file: String?

    @OptionGroup var management: ManagementOptions
    @OptionGroup var global: GlobalOptions

    func run(_ container: ContainerManagement) async throws {
        let text = try await container.exportSchema(from: global.schemaEnvironment)
        guard let file else {
            guard global.json else { return try StandardStream.output.write(text) }
            return try output.result("", json: ["schema": .string(text)])
        }
        do { try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic) } catch {
            throw Failure.Local(status: .cannotWrite, reason: "the schema cannot be written to \(file)")
        }
        try output.result("wrote \(file.escaped)", json: ["file": .string(file)])
    }
}
