import ArgumentParser

struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Save, read, find and delete records.",
        subcommands: [
            RecordSave.self, RecordGet.self, RecordList.self, RecordQuery.self, RecordDelete.self, RecordAsset.self,
            RecordAccept.self,
        ])
}
