import Foundation
import SealCoding
import SealPrimitives
import SealQuery
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// Records of public databases as the console's pages read and change them: by what requests are answered by, with the
/// rights that everybody has or those of a server-to-server key of the operator's. The operator's token alone gives
/// none.
struct ConsoleRecords: Sendable {
    let transactions: Transactions
    let sessions: Sessions
    let rates: RequestRates
    let schemas: SchemaStore
    let query: QueryRecords
    let modification: ModifyRecords
    let keys: ConsoleKeys
    /// Microseconds since 1970.
    let clock: @Sendable () -> Int64

    /// As whom a page reads and writes.
    struct Caller: Sendable {
        let path: DatabasePath
        /// Empty for everybody.
        let keyName: String
        fileprivate let signer: (credential: ServerCredentialFile, session: Session)?

        var user: UserID? { signer?.credential.chain.userID }
    }

    /// - Parameter keyName: empty for everybody, who may read what `_world` may.
    /// - Throws: as `ConsoleKeys.key`; `notAuthenticated` for a key that was revoked, `accountSuspended`.
    func caller(_ keyName: String, in path: DatabasePath) async throws -> Caller {
        guard !keyName.isEmpty else { return Caller(path: path, keyName: "", signer: nil) }
        let credential = try keys.key(named: keyName, in: path)
        let (user, generation) = (credential.chain.userID, sessions.generation)
        let row = try await transactions.read { try ServerKeys.find(user, in: $0) }
        guard let row, row.publicKey == credential.signingKey.verificationKey else { throw ServerKeys.unknown }
        try row.requireInForce()
        _ = try rates.count(.request, .account(row.account))
        let session = try ServerKeys.Signed(row: row, user: user, generation: generation).session(in: path)
        return Caller(path: path, keyName: keyName, signer: (credential, session))
    }

    /// A page of what a query finds.
    /// - Parameters:
    ///   - sort: a field's name, with a minus in front descending; empty for the server's order.
    ///   - cursor: of the page before.
    /// - Throws: as `QueryRecords.run`; `invalidArguments` for a predicate that is none.
    func find(
        _ type: String, where predicate: String, sort: String, after cursor: Data, limit: Int, as caller: Caller
    ) async throws -> Sealkit_V1_QueryRecordsResponse {
        let read = try Self.query(type, predicate, sort)
        let message = Sealkit_V1_QueryRecordsRequest.with {
            ($0.query, $0.cursor, $0.resultsLimit) = (read.wire, cursor, UInt32(limit))
        }
        let bytes = try await query.run(message, by: caller.signer?.session, caller.path)
        return try Sealkit_V1_QueryRecordsResponse(serializedBytes: bytes)
    }

    /// One record, with whoever signed it.
    /// - Throws: `unknownItem`, `invalidArguments`, `permissionFailure`.
    func record(
        _ name: String, as caller: Caller
    ) async throws -> (record: Sealkit_V1_Record, authors: [Sealkit_V1_IdentityChain]) {
        try RecordLookup.check([name])
        let bytes = try await transactions.read { [schemas] connection in
            let (zone, rights) = try Zones.readable(
                .init(), by: caller.signer?.session, caller.path, schemas, in: connection)
            return try RecordLookup.answer([name], in: zone, desired: nil, rights: rights, connection)
        }
        let answer = try Sealkit_V1_LookupRecordsResponse(serializedBytes: bytes)
        switch answer.results.first?.outcome {
        case .record(let record) where !record.deleted: return (record, answer.authors)
        case .failure(let failure): throw Self.refusal(failure)
        case .record, nil: throw PublicEdit.unknown
        }
    }

    /// Changes or deletes a record, signed by the caller's key.
    /// - Parameters:
    ///   - tag: of what the page showed.
    ///   - change: what is to become of it, of the record as it is.
    /// - Throws: `permissionFailure` without a key; `serverRecordChanged` where it is another than was shown; what the
    ///   server refuses a save for.
    func change(
        _ name: String, shown tag: String, as caller: Caller,
        _ change: (Sealkit_V1_Record) throws -> PublicEdit.Change
    ) async throws {
        guard let signer = caller.signer else {
            throw ServerError(
                .permissionFailure, "Records are changed by a server-to-server key.",
                remedy: "Choose one, or put its credential into console-keys of the secrets folder.")
        }
        let (record, authors) = try await record(name, as: caller)
        guard record.changeTag == tag else { throw Self.changed }
        let edit = try PublicEdit(of: record, by: authors, in: caller.path)
        let wanted = try change(record)
        let request = try ServerError.checking("The change") { [now = clock()] () throws(SealError) in
            try edit.request(wanted, by: signer.credential, now: now)
        }
        let turn = WriteTurn(
            payer: .account(signer.session.accountID), route: .init(method: "POST", path: "a page of the console"))
        let bytes = try await WriteTurn.$current.withValue(turn) {
            try await modification.run(SaveMessage(request), by: signer.session, caller.path) { _ in
                true
            } refused: { _ in
            } shared: { _ in
            }
        }
        let answer = try Sealkit_V1_ModifyRecordsResponse(serializedBytes: bytes)
        guard case .failure(let failure)? = answer.results.first?.outcome else { return }
        throw failure.errorCode == .serverRecordChanged ? Self.changed : Self.refusal(failure)
    }

    private static func query(_ type: String, _ text: String, _ sort: String) throws(ServerError) -> Query {
        let predicate: Query.Predicate
        do throws(QueryError) {
            predicate = try Query.Predicate(text: text.isEmpty ? "TRUEPREDICATE" : text, arguments: [])
        } catch {
            let place = error.offset.map { ", at character \($0 + 1)" } ?? ""
            throw ServerError(
                .invalidArguments, "The query is refused: \(error.reason)\(place).", remedy: "\(error.remedy).")
        }
        let isDescending = sort.hasPrefix("-")
        let orders =
            sort.isEmpty
            ? []
            : [Query.SortDescriptor(key: String(sort.dropFirst(isDescending ? 1 : 0)), ascending: !isDescending)]
        return Query(recordType: type, predicate: predicate, sortDescriptors: orders)
    }

    private static let changed = ServerError(
        .serverRecordChanged, "Somebody has changed the record since the page was loaded.",
        remedy: "Go back, load the page again, and look at what it says now.")

    private static func refusal(_ failure: Sealkit_V1_Failure) -> ServerError {
        ServerError(failure.errorCode ?? .internalError, failure.reason, remedy: failure.remedy)
    }
}
