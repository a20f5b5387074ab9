package import SealStatements

/// What a request has done to rosters, for whoever counts it. One that is only answered again has done nothing.
package struct SharingNews: Sendable, Equatable {
    package let container: String
    package let environment: Environment
    package var invitations = 0
    package var acceptances = 0
    /// Keys that were opened, but for the first one of each scope.
    package var rotations = 0

    package init(container: String, environment: Environment) {
        (self.container, self.environment) = (container, environment)
    }

    package var isEmpty: Bool { invitations == 0 && acceptances == 0 && rotations == 0 }

    mutating func add(_ entry: RosterEntry) {
        for change in entry.changes {
            switch change {
            case .invite: invitations += 1
            case .accept: acceptances += 1
            default: break
            }
        }
        if entry.epoch != nil { rotations += 1 }
    }
}
