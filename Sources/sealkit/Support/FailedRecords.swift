import SealKit

/// Records that a command went past, and why: a line each beside its result, whoever made them so by name.
struct FailedRecords {
    private let failures: [(id: Record.ID, error: SealKitError)]

    init(_ failures: [Record.ID: SealKitError]) {
        self.failures = failures.map { ($0.key, $0.value) }.sorted { $0.id.description < $1.id.description }
    }

    var isEmpty: Bool { failures.isEmpty }
    var count: Int { failures.count }

    /// What the process's exit code tells of.
    var worst: SealKitError? { failures.reduce(nil) { Self.worse($0, $1.error) } }

    /// Of two errors the one that a process's exit code tells of: what does not verify goes before all else.
    static func worse(_ known: SealKitError?, _ next: SealKitError) -> SealKitError {
        guard let known, ExitStatus(known.code) == .integrity || ExitStatus(next.code) != .integrity else {
            return next
        }
        return known
    }

    /// - Parameter global: of the command that went past them.
    func show(_ global: GlobalOptions) {
        let output = global.output
        for (id, error) in failures { output.note("! \(id.recordName.escaped): \(error.said.escaped.withNames)") }
        if let worst, !worst.remedy.isEmpty { output.note(worst.advice(after: global).escapedToCopy) }
    }

    var json: JSONValue {
        .array(
            failures.map { id, error in
                .object([
                    "record": .string(id.recordName), "zone": .string(id.zoneID.zoneName),
                    "code": .string(error.code.rawValue),
                    "reason": .string(error.said),
                ])
            })
    }
}
