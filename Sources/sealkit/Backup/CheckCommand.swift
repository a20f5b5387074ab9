import ArgumentParser
import SealServer
import SealService
import SealStorage
import SealSystem

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Look whether everything in a stopped server's data folder goes together.",
        discussion: """
            Reads the whole database and every file: SQLite's own checks, assets against their files and what was uploaded, feeds, \
            rosters, what accounts are billed for, and the secrets folder, where there is one, against what the database was \
            written with. It changes nothing. Run it as the server's user. For backups there is \
            sealkit backup verify.

            It prints a line for each fault, with what to do, and ends with \(ExitStatus.integrity.rawValue) where there is one.

              sealkit check --data /var/lib/sealkit
            """)

    @OptionGroup var server: ServerPlacesOptions
    @OptionGroup var shown: ShownOptions

    func run() async throws {
        let (places, findings, elsewhere) = try await OperatorFailure.telling {
            let places = try server.resolved(instead: "pg_amcheck looks at PostgreSQL's tables and indexes")
            let folder = places.data.absolutePath
            try OwnUser.require(at: folder)
            let check = try DataCheck(dataFolder: folder)
            defer { check.close() }
            let findings = try check.run()
            // Of a database that cannot be read it is the least that is unknown.
            return (places, findings, try? check.blobsElsewhere())
        }
        if let elsewhere {
            shown.output.note("the assets are in \(elsewhere) and were not looked at: the server compares them weekly")
        }
        for finding in findings {
            try shown.output.result(
                "\(finding.what) – \(finding.remedy)".escaped,
                json: [
                    "kind": .string(finding.kind.rawValue), "what": .string(finding.what),
                    "remedy": .string(finding.remedy),
                ])
        }
        guard findings.isEmpty else { throw ExitCode(ExitStatus.integrity.rawValue) }
        // Whoever checks a copy elsewhere may have none beside it.
        let secrets = places.secrets.absolutePath
        if FileStatus(path: secrets) != nil {
            try await OperatorFailure.telling {
                try SecretFingerprints.requireOwn(secrets, dataFolder: places.data.absolutePath)
            }
        }
        shown.output.note("nothing is wrong")
    }
}
