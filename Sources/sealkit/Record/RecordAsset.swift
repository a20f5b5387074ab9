import ArgumentParser
import Foundation
import SealKit

struct RecordAsset: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "asset",
        abstract: "Fetch a record's file. Each chunk is checked before it is opened.",
        discussion: "  sealkit record asset first scan --zone Notes --output plans.pdf")

    @Argument(help: "The record's name.")
    var name: String

    @Argument(help: "The field that holds the file.")
    var key: String

    @OptionGroup var zone: PlaceOptions

    @Option(
        help: ArgumentHelp("Where to put it. It appears whole or not at all.", valueName: "file"), completion: .file())
    var output: String

    @Flag(help: "Replace a file that is there.")
    var force = false

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        // Behind a link lies what is to be replaced.
        let target = URL(fileURLWithPath: output).resolvingSymlinksInPath()
        let say = global.output
        guard output != "-", isFileOrFree(target) else {
            throw Failure.Local(
                status: .badInput, reason: "\(output) is no file: what appears whole or not at all can be nothing else",
                remedy: output == "-"
                    ? "name a file; ./- is one of that name" : "name a file, or a place where there is none")
        }
        guard force || !FileManager.default.fileExists(atPath: target.path) else {
            throw Self.isThere(output)
        }
        guard access(target.deletingLastPathComponent().path, W_OK) == 0 else {
            throw Failure.Local(status: .cannotWrite, reason: "the folder of \(output) cannot be written to")
        }
        let (database, zoneID) = zone.resolve(client)
        let recordID = Record.ID(recordName: name, zoneID: zoneID)
        let record = try await database.record(for: recordID)
        guard let asset: Asset = record[key] else {
            throw SealKitError(.unknownItem, "the record has no file \(key)", remedy: "see sealkit record get")
        }
        let bar = ProgressBar(key, say)
        do {
            try await database.download(asset, of: recordID, to: target, replaces: force) { received, total in
                bar.update(received, of: total)
            }
        } catch {
            bar.finish()
            guard error.code != .constraintViolation else { throw Self.isThere(output) }
            guard error.code == .internalError else { throw error as any Error }
            throw Failure.Local(status: .cannotWrite, reason: error.reason, remedy: error.remedy)
        }
        bar.finish()
        let size = Int64(clamping: asset.size ?? 0)
        try say.result("\(output): \(ByteCount.text(size))", json: ["file": .string(output), "size": .integer(size)])
    }

    private static func isThere(_ output: String) -> Failure.Local {
        Failure.Local(
            status: .cannotWrite, reason: "there is a file at \(output) already", remedy: "add --force to replace it")
    }

    /// Whether nothing is lost there but a file: no device, pipe or folder.
    private func isFileOrFree(_ target: URL) -> Bool {
        let type = try? FileManager.default.attributesOfItem(atPath: target.path)[.type] as? FileAttributeType
        return type == nil || type == .typeRegular
    }
}
