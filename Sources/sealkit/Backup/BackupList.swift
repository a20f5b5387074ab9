import ArgumentParser
import Foundation
import SealServer

struct BackupList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the whole backups of a place, oldest first.",
        discussion: "  sealkit backup list --from /backup/sealkit")

    @Option(help: ArgumentHelp("The folder of backups.", valueName: "folder"), completion: .directory)
    var from: String

    @OptionGroup var shown: ShownOptions

    func run() async throws {
        for (name, manifest) in try await OperatorFailure.telling({ try BackupVerification(place: from).list() }) {
            guard let manifest else {
                try shown.output.result(
                    "\(name.escaped)  damaged", bare: name, json: ["backup": .string(name), "damaged": .bool(true)])
                continue
            }
            let sealed = manifest.recipient.map { ", sealed to \($0)" } ?? ""
            try shown.output.result(
                "\(name.escaped)  \(Timestamp.shown(manifest.time)), \(manifest.blobs.counted("blob")), version \(manifest.version.escaped)\(sealed.escaped)",
                bare: name,
                json: [
                    "backup": .string(name), "time": .string(Timestamp.text(manifest.time)),
                    "blobs": .integer(Int64(manifest.blobs)), "version": .string(manifest.version),
                    "origin": JSONValue(manifest.origin), "recipient": JSONValue(manifest.recipient),
                    "missing": .integer(Int64(manifest.missingBlobs)),
                ])
        }
    }
}
