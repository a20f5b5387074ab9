import SealPrimitives
public import SealStatements

/// Whether what is written follows something of the zone's present life, and whether its scope is ready to be written
/// to.
extension ZoneGround {
    public enum Life: Sendable, Equatable {
        case present
        /// Of an earlier life of the zone: it is gone, keys included, and must not be sealed under them again.
        case past
        /// Of a life that this device does not know of.
        case unknown
    }

    public func life(of statement: Statement) -> Life {
        guard statement.zoneIncarnation != incarnation else { return .present }
        return statement.zoneIncarnation < incarnation ? .past : .unknown
    }
}

extension ZoneView {
    /// A share's scope that has ended: its records belong elsewhere now.
    public var hasEndedAsShare: Bool { roster.isClosed && !scope.shareRecordName.isEmpty }

    public var mayWrite: Bool { roster.permission(of: user) == .readWrite }

    /// Nothing is written by it before its tail is fetched: this device may have seen the zone's end, or that this
    /// account may not write, and that may have changed since. Nor may it have the key yet that somebody has opened
    /// where grants were lost.
    public var isToBeRefreshed: Bool { roster.isClosed || !mayWrite || keys[roster.currentEpoch.number] == nil }

    public enum Readiness: Sendable, Equatable {
        /// What is to be written belongs elsewhere.
        case ended
        /// There is no such zone to this account.
        case notMember
        /// A new epoch is to be opened first, or this account's new keys are to be told.
        case keyDue
        /// The server lacks grants of the epoch in force: its administrator opens another one first.
        case lacksGrants
        /// Where this account may only read, the server refuses what is written by itself, and not what is sent with
        /// it.
        case ready
    }

    /// - Parameter hasUntoldKeys: this account has keys that the roster does not know: by them its signatures count for
    ///   nothing.
    public func readiness(hasUntoldKeys: Bool) -> Readiness {
        if hasEndedAsShare { return .ended }
        guard isMember else { return .notMember }
        if mayWrite, roster.rotationDue || hasUntoldKeys { return .keyDue }
        return lacksGrants && mayAdminister ? .lacksGrants : .ready
    }
}
