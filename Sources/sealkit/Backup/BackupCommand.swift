import ArgumentParser
import Foundation
import SealServer

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a server's data while it runs, look at the copies, make a key for them.",
        subcommands: [BackupCreate.self, BackupList.self, BackupVerify.self, BackupKeyCommand.self],
        defaultSubcommand: BackupCreate.self)
}

struct BackupCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Copy one moment of a server's database, and the blobs that the place does not have yet.",
        discussion: """
            The server may run meanwhile. Run it as the server's user. A backup that was stopped in the middle is none, and the next \
            one goes on where it was. The secrets folder is not in it: --secrets-to seals it into a file of its own, which belongs \
            somewhere else. A place has the backups of one database, and of what was restored from them: another server's are refused.

              sealkit backup --data /var/lib/sealkit --to /backup/sealkit --keep 14
              sealkit backup --config /etc/sealkit/sealkit.yaml --to /backup/sealkit --recipient sealkit-backup-… --secrets-to /vault/secrets.sealed

            It ends with \(ExitStatus.attention.rawValue) where the backup is whole and older ones could not be removed, with \
            \(ExitStatus.integrity.rawValue) where the server has lost files that its database names, or the database is damaged.
            """)

    @OptionGroup var server: ServerPlacesOptions

    @Option(
        help: ArgumentHelp("The folder of backups, made where there is none.", valueName: "folder"),
        completion: .directory)
    var to: String

    @Option(
        help: ArgumentHelp(
            "The public key that everything is sealed to, as sealkit backup key prints it. Default: nothing is sealed.",
            valueName: "key"))
    var recipient: String?

    @Option(
        help: ArgumentHelp(
            "Seals the secrets folder into this file, in the place of the one before.", valueName: "file"),
        completion: .file())
    var secretsTo: String?

    @Option(
        help: ArgumentHelp(
            "How many backups stay, the new one included; older ones go, and the blobs of theirs alone. Default: all.",
            valueName: "number"))
    var keep: Int?

    @OptionGroup var shown: ShownOptions

    func validate() throws {
        if let keep, keep < 1 { throw ValidationError("--keep takes a number from 1 on.") }
        if secretsTo != nil, recipient == nil {
            throw ValidationError("--secrets-to needs a --recipient: secrets are only ever written sealed.")
        }
    }

    /// With a database of PostgreSQL.
    private static let beside =
        "the data folder while the same process holds its blobs.lock (flock), so that no asset goes meanwhile: PostgreSQL.md has the commands"

    func run() async throws {
        let made = try await OperatorFailure.telling {
            let places = try server.resolved(
                instead: "copy it by pg_dump or pg_basebackup, and \(Self.beside)")
            let backup = try Backup(
                dataFolder: places.data, secretsFolder: places.secrets, place: to,
                recipient: try recipient.map { try BackupRecipient($0) }, origin: places.origin, now: Date())
            return try backup.run(keep: keep, secretsTo: secretsTo)
        }
        var lines = [
            "\(made.name): \(made.blobs.counted("blob")), \(made.copied) of them copied (\(made.copiedBytes) bytes), "
                + "and the database (\(made.databaseBytes) bytes)"
        ]
        if made.removed.backups + made.removed.blobs > 0 {
            lines.append(
                "removed \(made.removed.backups.counted("older backup")) and \(made.removed.blobs.counted("blob"))")
        }
        try shown.output.result(
            lines.joined(separator: "\n"), bare: made.name,
            json: [
                "backup": .string(made.name), "blobs": .integer(Int64(made.blobs)),
                "copied": .integer(Int64(made.copied)), "copiedBytes": .integer(made.copiedBytes),
                "databaseBytes": .integer(made.databaseBytes),
                "missing": .array(made.missing.map { .string($0) }),
                "removedBackups": .integer(Int64(made.removed.backups)),
                "removedBlobs": .integer(Int64(made.removed.blobs)),
                "pruningFailure": JSONValue(made.pruningFailure),
            ])
        if let failure = made.pruningFailure {
            shown.output.note("the backup is whole, and older ones could not all be removed: \(failure)".escaped)
        }
        if !made.missing.isEmpty {
            shown.output.note(
                "the server has lost \(made.missing.count.counted("blob")) that its database names; "
                    + (made.hasLostMore ? "no older backup was removed – " : "the backup before lacks them too – ")
                    + "stop the server, and see what sealkit check says")
            throw ExitCode(ExitStatus.integrity.rawValue)
        }
        if made.pruningFailure != nil { throw ExitCode(ExitStatus.attention.rawValue) }
    }
}
