import ArgumentParser

struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Save, read and delete records.",
        subcommands: [RecordSave.self, RecordGet.self, RecordList.self, RecordDelete.self, RecordAsset.self])
}
