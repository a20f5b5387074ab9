import ArgumentParser
import SealServer

struct BackupVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Read backups, and hold every file against its sum.",
        discussion: """
            It needs no key: what is sealed is compared as it lies there. It ends with \(ExitStatus.integrity.rawValue) where \
            something is damaged or missing.

              sealkit backup verify --from /backup/sealkit
            """)

    @Option(help: ArgumentHelp("The folder of backups.", valueName: "folder"), completion: .directory)
    var from: String

    @Option(help: ArgumentHelp("One of them by its name. Default: all.", valueName: "name"))
    var backup: String?

    @OptionGroup var shown: ShownOptions

    func run() async throws {
        let outcomes = try await OperatorFailure.telling { try BackupVerification(place: from).run(backup) }
        for outcome in outcomes {
            let faults = outcome.damage.map { "\($0.what) – \($0.remedy)".escaped }
            try shown.output.result(
                faults.isEmpty
                    ? "\(outcome.name.escaped)  whole, with \(outcome.blobs.counted("blob"))"
                    : faults.map { "\(outcome.name.escaped)  \($0)" }.joined(separator: "\n"),
                bare: faults.isEmpty ? outcome.name : nil,
                json: [
                    "backup": .string(outcome.name), "blobs": .integer(Int64(outcome.blobs)),
                    "damage": .array(
                        outcome.damage.map { .object(["what": .string($0.what), "remedy": .string($0.remedy)]) }),
                ])
        }
        guard outcomes.allSatisfy(\.damage.isEmpty) else { throw ExitCode(ExitStatus.integrity.rawValue) }
    }
}
