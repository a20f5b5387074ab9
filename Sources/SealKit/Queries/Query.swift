package import Foundation
// Exported: `Query.Field("folder") == "work"` finds its operators by the module that they stand in, and an app imports
// this one.
@_exported public import SealQuery
public import SealStatements
import SealWire
import SwiftProtobuf

/// Which records are wanted: CloudKit's `CKQuery`. Only plain fields can be asked for: the server reads no others.
///
///     let query = Query(recordType: "Note", predicate: try Query.Predicate("pinned = 1 AND folder BEGINSWITH %@",
///     "work"))
public typealias Query = SealQuery.Query

extension Query {
    /// As a limit of results: the server decides.
    public static let maximumResults = 0

    /// Where a query goes on. Opaque, to be kept by the app as it likes; good for the account and database that it is
    /// of.
    ///
    /// What follows stays right while data changes: no record comes twice, and none that kept its place is left out.
    /// Records that came or moved meanwhile may be missing; they are in the zone's changes.
    public struct Cursor: Sendable, Hashable {
        let query: Query
        /// Nil for all zones.
        let zoneID: RecordZone.ID?
        /// The server's part.
        let place: Data
        /// What the last record was sorted by.
        let last: [IndexKey]?
    }
}

extension Query.Cursor: Codable {
    private struct Stored: Codable {
        let query: Data
        let zoneName: String?
        let ownerName: String?
        let place: Data
        let last: [Data]?
    }

    public init(from decoder: any Swift.Decoder) throws {
        let stored = try Stored(from: decoder)
        do { query = try Query(Sealkit_V1_Query(serializedBytes: stored.query)) } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a query cursor"))
        }
        if let zoneName = stored.zoneName, let ownerName = stored.ownerName {
            zoneID = RecordZone.ID(zoneName: zoneName, ownerName: ownerName)
        } else {
            zoneID = nil
        }
        place = stored.place
        last = stored.last.map { $0.map { IndexKey(bytes: [UInt8]($0)) } }
        guard last.map({ $0.count == query.sortDescriptors.count }) ?? true else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a query cursor"))
        }
    }

    public func encode(to encoder: any Swift.Encoder) throws {
        try Stored(
            query: query.wire.serializedData(), zoneName: zoneID?.zoneName, ownerName: zoneID?.ownerName, place: place,
            last: last.map { $0.map { Data($0.bytes) } }
        ).encode(to: encoder)
    }
}

extension Query.Predicate {
    /// - Parameter kept: of `kept()`.
    package init(kept: Data) throws { self = try Query(Sealkit_V1_Query(serializedBytes: kept)).predicate }

    /// As bytes, for an archive.
    package func kept() throws -> Data { try Query(recordType: "Kept", predicate: self).wire.serializedData() }
}

extension Record.ID: Query.Argument {
    /// As a predicate compares it.
    public var queryValue: RecordValue { .reference(ReferenceValue(recordName: recordName)) }
}

extension Record.Reference: Query.Argument {
    /// As a predicate compares it.
    public var queryValue: RecordValue { .reference(ReferenceValue(recordName: recordName, action: action)) }
}

extension SealKitError {
    init(_ error: QueryError) { self.init(.invalidArguments, error.reason, remedy: error.remedy) }
}
