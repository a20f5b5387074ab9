import ArgumentParser
import Foundation
import SealServer
import SealStorage
import SealSystem

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a server's data folder of a backup.",
        discussion: """
            The folder must not be there yet, or be empty, and no server may run on it. Run it as the server's user. Everything is \
            compared with its sum, and the folder has its name once all of it is there. The database begins a new history: devices \
            notice what was lost since the backup, and give back what they have.

            Where files of assets are damaged or missing it restores nothing, and names them. With --without-damaged it goes on \
            without these, and ends with \(ExitStatus.integrity.rawValue).

            The server's user makes no folders in /var/lib: restore into one that it may write to, and let root move what has come of it \
            (Deployment, Restore).

              sealkit restore --from /backup/sealkit --data /var/lib/sealkit.restored/data --secrets /var/lib/sealkit.secrets
              sealkit restore --from /backup/sealkit --data /var/lib/sealkit.restored/data --key backup.key --secrets secrets.sealed
            """)

    @Option(help: ArgumentHelp("The folder of backups.", valueName: "folder"), completion: .directory)
    var from: String

    @Option(
        help: ArgumentHelp(
            "One of them by its name. Default: the one made last, whatever clocks said.", valueName: "name"))
    var backup: String?

    @Option(
        help: ArgumentHelp("The data folder to make. Default: $SEALKIT_DATA.", valueName: "folder"),
        completion: .directory)
    var data: String?

    @Option(
        help: ArgumentHelp(
            "The file with the secret key, for what is sealed: sealkit backup key made it.", valueName: "file"),
        completion: .file())
    var key: String?

    @Option(
        help: ArgumentHelp(
            "The secrets of then: the server's folder, which stays as it is, or the sealed file of --secrets-to, which is opened into <data>.secrets. Default: <data>.secrets.",
            valueName: "file|folder"), completion: .file())
    var secrets: String?

    @Option(
        help: ArgumentHelp(
            "The settings file that the server is started with, which may name both.", valueName: "file"),
        completion: .file())
    var config: String?

    @Flag(help: "Leaves out assets whose file is damaged or missing in the backup.")
    var withoutDamaged = false

    @OptionGroup var shown: ShownOptions

    func run() async throws {
        let outcome = try await OperatorFailure.telling {
            let given = secrets?.absolutePath
            let isFolder = given.map { FileStatus(path: $0)?.isFolder == true } ?? true
            let places = try ServerPlacesOptions.resolved(
                data: data, secrets: isFolder ? given : nil, config: config,
                instead: "name another --data for a backup of SQLite's file; PostgreSQL's own is put back by pg_restore"
            )
            return try await Restore(
                place: from, name: backup, dataFolder: places.data,
                key: try key.map { try BackupKey(file: $0.absolutePath) },
                secrets: given.map { isFolder ? .folder($0) : .file($0, into: places.secrets) }
                    ?? .folder(places.secrets),
                withoutDamaged: withoutDamaged
            ).run(now: systemClock())
        }
        let manifest = outcome.manifest
        try shown.output.result(
            "\(outcome.name.escaped), of \(Timestamp.shown(manifest.time)): the database and \(outcome.blobs.counted("blob")), in a new history",
            bare: outcome.name,
            json: [
                "backup": .string(outcome.name), "time": .string(Timestamp.text(manifest.time)),
                "blobs": .integer(Int64(outcome.blobs)), "missing": .array(outcome.missing.map { .string($0) }),
                "damaged": .array(outcome.damaged.map { .string($0) }),
                "formerKeys": .array(outcome.formerKeys.map { .string($0) }),
            ])
        if !outcome.formerKeys.isEmpty {
            shown.output.note(
                "not among the secrets any more: \(outcome.formerKeys.joined(separator: ", ").escaped) – what they have signed verifies no more"
            )
        }
        if !outcome.missing.isEmpty {
            shown.output.note(
                "\(outcome.missing.count.counted("blob")) had been lost before the backup was made; the server says so where they are asked for"
            )
        }
        if !outcome.damaged.isEmpty {
            for path in outcome.damaged { shown.output.note("not restored: \(path.escaped)") }
            shown.output.note(
                "\(outcome.damaged.count.counted("blob")) had a damaged file, or none; the server says so where they are asked for, and whoever has one saves it again"
            )
            throw ExitCode(ExitStatus.integrity.rawValue)
        }
    }
}
