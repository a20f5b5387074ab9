import SealStatements

package enum RosterVectors {
    static func check(_ test: Fields, shared: Fields, type: String) throws(VectorError) {
        switch type {
        case "ScopeID": try test.expect("scopeID", .hex(try test.scope().id))
        case "Fork":
            let known = try shared.roster(adding: test.entries("known"))
            let other = try shared.roster(adding: test.entries("other"))
            try test.expect("succeeds", .bool(other.succeeds(known)))
        default:
            let roster = try shared.roster(adding: test.entries("next"))
            try test.expect("head", .hex(roster.head))
        }
    }
}
