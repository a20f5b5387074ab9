import ArgumentParser

struct DataCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "data",
        abstract: "Take one's data out, opened, and bring it in elsewhere.",
        subcommands: [DataExportCommand.self, DataImportCommand.self])
}
