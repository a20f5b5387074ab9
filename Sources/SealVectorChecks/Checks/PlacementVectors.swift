import SealStatements

package enum PlacementVectors {
    static func check(_ test: Fields, shared: Fields, type: String) throws(VectorError) {
        let rosters = try shared.rosters()
        guard type == "Placement" else {
            var parents: [String: String] = [:]
            for record in try test.array("records") {
                let statement = try Fields(values: ["record": record]).signed("record", in: rosters).statement.statement
                parents[statement.recordName] = statement.parent
            }
            let cycles = ParentCycles.find(in: parents).map { cycle in JSON.array(cycle.map { .string($0) }) }
            return try test.expect("cycles", .array(cycles))
        }
        let (record, roster) = try test.signed("record", in: rosters)
        let parent = test.has("parent") ? try test.signed("parent", in: rosters).statement : nil
        try test.expect("inPlace", .bool(Placement(of: record, roster: roster, parent: parent) == .inPlace))
    }
}
