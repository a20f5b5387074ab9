import Foundation
import GRDB
import SealClient
import SealPrimitives
import SealStatements

/// Of every record the newest statement that this device has seen: a `RecordJudge` holds the next one against it.
extension TrustStore {
    /// Judges verified statements, and remembers those that it accepts, in one transaction.
    /// - Parameters:
    ///   - place: the zone's life, or the public database.
    ///   - asked: the moment at which the server was asked; nil for what is no answer.
    ///   - accepted: late statements that the user has accepted all the same.
    ///   - scopes: those that this account reads, where that is not all of the zone; nil for all.
    func admit(
        _ sightings: [Sighting], in place: ScopePlace, asked: Int64? = nil, accepted: LateStatements? = nil,
        readable scopes: Set<ScopePlace>? = nil
    ) async throws(SealKitError) -> [Verdict] {
        guard !sightings.isEmpty else { return [] }
        return try await writing { db in
            var judge = RecordJudge(try TrustSightings(place, late: accepted, db))
            return try judge.admit(sightings, asked: asked, accepting: accepted?.hashes ?? [], readable: scopes)
        }
    }

    /// Asks what this device knows of records.
    private func judging<T: Sendable>(
        _ place: ScopePlace, _ body: @escaping @Sendable (RecordJudge<TrustSightings>) throws -> T
    ) async throws(SealKitError) -> T {
        try await reading { db in try body(RecordJudge(try TrustSightings(place, late: nil, db))) }
    }

    /// As `RecordJudge.memory`.
    func memory(
        of name: String, in place: ScopePlace, scopes: Set<ScopePlace>? = nil, asked: Int64?
    ) async throws(SealKitError) -> Memory {
        try await judging(place) { try $0.memory(of: name, readable: scopes, asked: asked) }
    }

    /// As `RecordJudge.lastPlace`.
    func lastPlace(
        of name: String, in place: ScopePlace
    ) async throws(SealKitError) -> SealStatements.Statement.FormerScope? {
        try await judging(place) { try $0.lastPlace(of: name) }
    }

    /// As `ParentPlaces.settle`.
    func settled(
        _ parents: ParentPlaces, in place: ScopePlace
    ) async throws(SealKitError) -> (ParentPlaces, missing: Set<String>) {
        try await judging(place) { judge in
            var parents = parents
            let missing = try parents.settle(from: judge)
            return (parents, missing)
        }
    }

    /// As `RecordJudge.living`.
    func living(
        in place: ScopePlace, scopes: Set<ScopePlace>?, since moment: Int64? = nil,
        where isMissing: @escaping @Sendable (String) -> Bool
    ) async throws(SealKitError) -> [String] {
        try await judging(place) { try $0.living(readable: scopes, since: moment, where: isMissing) }
    }

    /// The highest revision of a record that this device has seen.
    func lastSeen(
        _ name: String, in place: ScopePlace
    ) async throws(SealKitError) -> (revision: UInt64, hash: Digest)? {
        try await judging(place) { try $0.newest(name).map { ($0.revision, $0.hash) } }
    }

    /// The newest statement of a record that is there as far as this device knows.
    func lastLiving(_ name: String, in place: ScopePlace) async throws(SealKitError) -> SeenStatement? {
        try await judging(place) { judge in
            guard try judge.lastPlace(of: name) != nil else { return nil }
            return try judge.newest(name)
        }
    }

    /// The highest revisions that this device has seen of records, those that it has seen.
    func lastRevisions(of names: [String], in place: ScopePlace) async throws(SealKitError) -> [String: UInt64] {
        try await judging(place) { judge in
            var revisions: [String: UInt64] = [:]
            for name in names { revisions[name] = try judge.newest(name)?.revision }
            return revisions
        }
    }

    /// Notes that this account was out of a zone as a whole: of what it met there before, nothing needs to be there
    /// still.
    static func noteAbsence(from zone: Data, _ db: GRDB.Database) throws {
        try db.execute(
            sql: "UPDATE seen SET met = ? WHERE zone = ? AND place IS NULL",
            arguments: [TrustSightings.metBeforeAbsence, zone])
    }
}
