import ArgumentParser
import SealKit

struct SchemaImport: ManagementCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Replace development's schema by a file's.",
        discussion: """
            What production has must stay as it is. Records stay; those of types or fields that went can still be read.

              sealkit schema import --server https://notes.example.org --file notes.ckdb --dry-run
            """)

    @OptionGroup var source: SchemaFile

    @Flag(help: "Tell what would change, and change nothing.")
    var dryRun = false

    @OptionGroup var management: ManagementOptions
    @OptionGroup var global: GlobalOptions

    func run(_ container: ContainerManagement) async throws {
        let text = try source.read()
        try output.show(try await container.importSchema(text, dryRun: dryRun), isDone: !dryRun)
    }
}

struct SchemaDeploy: ManagementCommand {
    static let configuration = CommandConfiguration(
        commandName: "deploy",
        abstract: "Bring production's schema to development's. What is deployed stays for good.",
        discussion: "  sealkit schema deploy --server https://notes.example.org --dry-run")

    @Flag(help: "Tell what would change, and change nothing.")
    var dryRun = false

    @OptionGroup var management: ManagementOptions
    @OptionGroup var global: GlobalOptions

    func run(_ container: ContainerManagement) async throws {
        try output.show(try await container.deploySchema(dryRun: dryRun), isDone: !dryRun)
    }
}

struct SchemaReset: ManagementCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Bring development's schema back to production's. Records stay.",
        discussion: """
            Unlike CloudKit's reset, this deletes no records: the logs of their zones are signed by their owners. Records of \
            types that went can still be read, and a save brings their type back.

              sealkit schema reset --server https://notes.example.org --dry-run
            """)

    @Flag(help: "Tell what would change, and change nothing.")
    var dryRun = false

    @OptionGroup var management: ManagementOptions
    @OptionGroup var global: GlobalOptions

    func run(_ container: ContainerManagement) async throws {
        try output.show(try await container.resetSchema(dryRun: dryRun), isDone: !dryRun)
    }
}

extension Output {
    /// What is different, a line each.
    fileprivate func show(_ differences: [ContainerManagement.SchemaDifference], isDone: Bool) throws(SealKitError) {
        for difference in differences {
            let text = difference.description
            try result(
                text.escaped, bare: text.escaped, json: ["change": .string(text), "loses": .bool(difference.isLoss)])
        }
        note(differences.isEmpty ? "nothing differs" : isDone ? "done" : "nothing was changed: dry run")
    }
}
