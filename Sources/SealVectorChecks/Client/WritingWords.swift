import SealClient

// The words that the vectors have for what SealClient decides of writing.

extension WriteRounds.Course {
    var name: String {
        switch self {
        case .asksForScopes: "asksForScopes"
        case .asksForRights: "asksForRights"
        case .refreshesRosters: "refreshesRosters"
        case .ends: "ends"
        }
    }
}

extension WritingPlaces.Verdict {
    var name: String {
        switch self {
        case .placed: "placed"
        case .leftBehind: "leftBehind"
        case .moves: "moves"
        case .outside: "outside"
        }
    }
}

extension WritePolicy {
    init(vector name: String) throws(VectorError) {
        switch name {
        case "ifUnchanged": self = .ifUnchanged
        case "changedKeys": self = .changedKeys
        case "allKeys": self = .allKeys
        case "restoring": self = .restoring
        default: throw .missing("policy")
        }
    }
}

extension WriteConflict.Outcome {
    var name: String {
        switch self {
        case .deletesNewest: "deletesNewest"
        case .makesAgain: "makesAgain"
        case .merges: "merges"
        case .replaces: "replaces"
        case .isGone: "isGone"
        case .changed: "changed"
        case .deleted: "deleted"
        case .unopened: "unopened"
        case .otherType: "otherType"
        case .keepsChanging: "keepsChanging"
        }
    }
}
