import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

extension RosterAppend {
    /// The whole of one request, in its transaction.
    /// - Parameters:
    ///   - message: that the entry came in.
    ///   - operation: the request's.
    ///   - counts: what it may take.
    ///   - home: where it is at home; nil: it has everything.
    /// - Returns: the answer, and what was done; nothing for one that is repeated.
    package func answer(
        _ message: Sealkit_V1_AppendRosterRequest, _ operation: RepeatableOperation, by session: Session,
        _ path: DatabasePath, _ rosters: RosterCache, _ counts: RosterCounts, at home: ZoneHome?, now: Int64,
        in connection: any SQLConnection
    ) throws -> (response: Sealkit_V1_AppendRosterResponse, news: SharingNews) {
        let caller = try Caller(session, container: path.container, in: connection)
        var news = SharingNews(container: path.container, environment: path.environment)
        if let answer = try operation.answer(of: caller.accountID, in: connection) {
            return (try Sealkit_V1_AppendRosterResponse(serializedBytes: answer), news)
        }
        let scope = try Shares.scope(message.shareRecordName, in: message.zone, to: caller, path, in: connection)
        try home?.check(scope.zone)
        let stored = try run(
            on: scope, by: caller, rosters: rosters, quotas: counts.quotas, now: now, in: connection)
        try RosterRoom.count(1, endingAt: stored, counts, now: now)
        let zone = scope.zone
        // An epoch by itself is refused for no quota, and its grants are kept for ever: the owner's are counted where
        // nobody is put out.
        if entry.epoch != nil, zone.owner != caller.id || entry.changes.isEmpty {
            // Last: what is refused for another reason, a lost race say, does not count. Throwing takes all back.
            try counts.counting.count(
                .epochOpening, .author(owner: zone.owner, zone: zone.number, caller: caller.id),
                rule: counts.limits.epochOpening, now: now)
        }
        var response = Sealkit_V1_AppendRosterResponse()
        response.position = UInt64(stored.zone.position)
        response.scope = stored.scopeHead
        try operation.keep(try response.serializedData(), of: caller.accountID, now: now, in: connection)
        news.add(entry)
        return (response, news)
    }
}
