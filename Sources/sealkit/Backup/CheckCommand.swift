import ArgumentParser
import SealServer
import SealService
import SealStorage

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Look whether everything in a stopped server's data folder goes together.",
        discussion: """
            Reads the whole database and every file: SQLite's own checks, assets against their files and what was uploaded, feeds, \
            rosters, and what accounts are billed for. It changes nothing. Run it as the server's user. For backups there is \
            sealkit backup verify.

            It prints a line for each fault, with what to do, and ends with \(ExitStatus.integrity.rawValue) where there is one.

              sealkit check --data /var/lib/sealkit
            """)

    @OptionGroup var server: ServerPlacesOptions
    @OptionGroup var shown: ShownOptions

    func run() async throws {
        let (findings, elsewhere) = try await OperatorFailure.telling {
            let folder = try server.resolved(
                instead: "pg_amcheck looks at PostgreSQL's tables and indexes"
            ).data.absolutePath
            try OwnUser.require(at: folder)
            let check = try DataCheck(dataFolder: folder)
            defer { check.close() }
            let findings = try check.run()
            // Of a database that cannot be read it is the least that is unknown.
            return (findings, try? check.blobsElsewhere())
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
        shown.output.note("nothing is wrong")
    }
}
