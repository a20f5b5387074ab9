extension Database {
    /// What changed in a zone since a token, to its end: nil for everything.
    ///
    /// ```swift
    /// for try await changes in database.allRecordZoneChanges(inZoneWith: zoneID, since: token) {
    ///     for (recordID, result) in changes.modifications {
    ///         switch result {
    ///         case .success(let record): show(record)
    ///         case .failure(let error): show(recordID, error.reason)  // of this one alone
    ///         }
    ///     }
    ///     for deletion in changes.deletions { show(deletion.recordID) }
    ///     token = changes.changeToken  // to be kept once all of this is in the app's own store
    /// }
    /// ```
    /// Each element is what ``recordZoneChanges(inZoneWith:since:desiredKeys:resultsLimit:)`` returns, and the loop
    /// ends after the one with which no more is coming. Each is asked for while the one before is verified, opened and
    /// stored, so that reading a whole zone takes less time than by calls of one's own; at most one waits in memory.
    /// A loop that is left early may have asked for one answer in vain.
    ///
    /// It ends with the first error, which is that of the call; where it came to is in the token before.
    /// - Parameter zoneID: of the zone.
    /// - Parameter token: of an answer before; nil for everything.
    /// - Parameter desiredKeys: nil for all fields, empty for system fields only.
    /// - Parameter resultsLimit: of one answer; nil lets the server decide, and it may give fewer.
    public func allRecordZoneChanges(
        inZoneWith zoneID: RecordZone.ID, since token: ServerChangeToken? = nil, desiredKeys: [String]? = nil,
        resultsLimit: Int? = nil
    ) -> AllRecordZoneChanges {
        AllRecordZoneChanges(
            database: self, zoneID: zoneID,
            configuration: ZoneChangesConfiguration(
                previousServerChangeToken: token, resultsLimit: resultsLimit, desiredKeys: desiredKeys))
    }

    /// The answers of a zone's feed, one after the other; each loop reads them anew.
    public struct AllRecordZoneChanges: AsyncSequence, Sendable {
        public typealias Element = RecordZoneChanges
        public typealias Failure = SealKitError

        let database: Database
        let zoneID: RecordZone.ID
        let configuration: ZoneChangesConfiguration

        public func makeAsyncIterator() -> Iterator {
            Iterator(database: database.readingAhead(), zoneID: zoneID, next: configuration)
        }

        /// Where a loop is.
        public struct Iterator: AsyncIteratorProtocol {
            let database: Database
            let zoneID: RecordZone.ID
            /// nil at the end.
            var next: ZoneChangesConfiguration?

            public mutating func next(
                isolation actor: isolated (any Actor)? = #isolation
            ) async throws(SealKitError) -> RecordZoneChanges? {
                guard var asked = next else { return nil }
                next = nil
                let changes = try await database.recordZoneChanges(
                    inZoneWith: zoneID, since: asked.previousServerChangeToken, desiredKeys: asked.desiredKeys,
                    resultsLimit: asked.resultsLimit)
                asked.previousServerChangeToken = changes.changeToken
                if changes.moreComing { next = asked }
                return changes
            }
        }
    }
}
