import ArgumentParser

struct ZoneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "zone",
        abstract: "Zones of records: what is shared, and has its keys, as one.",
        subcommands: [
            ZoneCreate.self, ZoneList.self, ZoneDelete.self, ZoneKeys.self, ZoneRotate.self, ZoneRekey.self,
            ZoneMaintain.self, ZoneEndFork.self,
        ])
}
