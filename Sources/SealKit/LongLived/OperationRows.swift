import SealPrimitives

/// One operation's rows in the journal.
struct OperationRows: Sendable {
    let journal: OperationJournal
    let seal: JournalSeal
    let id: ID16

    /// The operation begins.
    func begin(_ bytes: [UInt8]) async throws(SealKitError) {
        try await journal.add(
            id, of: seal.account.keys.rootKey, seal.seal(bytes, as: JournaledInput.name, of: id))
    }

    func put(_ bytes: [UInt8], as name: String, removing others: [String] = []) async throws(SealKitError) {
        try await journal.put(seal.seal(bytes, as: name, of: id), removing: others, of: id)
    }

    /// Everything but the input.
    /// - Throws: `internalError` where something in it does not open.
    func steps() async throws(SealKitError) -> [String: [UInt8]] {
        var steps: [String: [UInt8]] = [:]
        for row in try await journal.rows(of: id) where row.name != JournaledInput.name {
            steps[row.name] = try open(row)
        }
        return steps
    }

    private static let finishedName = "finished"

    /// All of its results are there: when is noted once, before anybody is told.
    func noteFinished() async throws(SealKitError) {
        guard try await journal.row(Self.finishedName, of: id) == nil else { return }
        var writer = CanonicalWriter(capacity: 8)
        writer.time(currentTime())
        try await put(writer.bytes, as: Self.finishedName)
    }

    /// Microseconds since 1970; nil while results are missing.
    func finished() async throws(SealKitError) -> Int64? {
        guard let row = try await journal.row(Self.finishedName, of: id) else { return nil }
        let bytes = try open(row)
        return try reading { () throws(SealError) in
            var reader = CanonicalReader(bytes)
            let time: Int64 = try reader.number()
            try reader.finish()
            return time
        }
    }

    /// - Returns: nil for an operation that has ended.
    /// - Throws: `internalError` where it does not open.
    func input() async throws(SealKitError) -> JournaledInput? {
        guard let row = try await journal.row(JournaledInput.name, of: id) else { return nil }
        let bytes = try open(row)
        return try reading { () throws(SealError) in try JournaledInput(bytes) }
    }

    private func open(_ row: OperationJournal.Row) throws(SealKitError) -> [UInt8] {
        try reading { () throws(SealError) in try seal.open(row, of: id) }
    }

    /// Runs what fails where a row is not what this version has written.
    /// - Throws: `internalError`; `incompatibleVersion` for what a newer version has written.
    func reading<T>(_ body: () throws(SealError) -> T) throws(SealKitError) -> T {
        do throws(SealError) { return try body() } catch .unsupported {
            throw SealKitError(
                .incompatibleVersion, "the journal of operations has one that a newer version has begun",
                remedy: "use that version, or remove the journal's operations")
        } catch { throw journal.damaged }
    }
}
