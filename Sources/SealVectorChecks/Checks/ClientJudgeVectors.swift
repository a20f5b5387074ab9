import SealEnvelope

package enum ClientJudgeVectors {
    static func check<H: HybridEncryption>(
        _ test: Fields, shared: Fields, type: String, using hybrid: H.Type
    ) throws(VectorError) {
        if type == "Roster" {
            var script = try RosterScript<H>(test, shared: shared)
            return try script.run(test.objects("steps"))
        }
        var script = try RecordScript(test, shared: shared)
        try script.run(test.objects("steps"))
    }
}
