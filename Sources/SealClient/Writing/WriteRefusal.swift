/// What a server says against a record of a request, or against the request, as far as it decides what the writer does
/// about it.
public enum WriteRefusal: Sendable, Equatable {
    /// Another version stands in the way.
    case changed
    /// There is no such record.
    case unknown
    /// There is no such zone.
    case zoneGone
    /// A deletion does not cover exactly what goes along.
    case incomplete
    /// Another record of the request was refused.
    case batchFailed
    /// A parent, child or source is in the way.
    case reference
    case forbidden
    /// The roster has moved on, or its key is to be renewed.
    case rosterMoved
    case other

    public init(code: String) {
        self =
            switch code {
            case "serverRecordChanged": .changed
            case "unknownItem": .unknown
            case "zoneNotFound", "userDeletedZone": .zoneGone
            case "deletionIncomplete": .incomplete
            case "batchRequestFailed": .batchFailed
            case "referenceViolation": .reference
            case "permissionFailure": .forbidden
            case "rosterChanged", "staleEpoch", "rotationDue": .rosterMoved
            default: .other
            }
    }
}

/// Which rounds a batch goes through: what goes again starts from what the server has just said.
public enum WriteRounds {
    /// More than a busy zone needs.
    public static let most = 8

    /// What a writer does about a round that has failed as a whole.
    public enum Course: Sendable, Equatable {
        /// Finds out whether the zone is shared in another way than it knew: where it is, the round goes again.
        case asksForScopes
        /// The same, where it took the zone for one that it may write to as a whole.
        case asksForRights
        /// Fetches the rosters' tails, for the next round.
        case refreshesRosters
        /// The error is the app's.
        case ends
    }

    /// - Parameter code: of the error; that of the server, where it refused the request.
    public static func course(after code: String, isLast: Bool) -> Course {
        guard !isLast else { return .ends }
        switch code {
        case "zoneNotFound": return .asksForScopes
        case "permissionFailure": return .asksForRights
        default: return WriteRefusal(code: code) == .rosterMoved ? .refreshesRosters : .ends
        }
    }
}
