import SealEnvelope

package enum ClientJudgeVectors {
    static func check<H: HybridEncryption>(
        _ test: Fields, shared: Fields, type: String, using hybrid: H.Type
    ) throws(VectorError) {
        let steps = try test.objects("steps")
        switch type {
        case "Listing":
            var script = try ListingScript(test)
            try script.run(steps)
        case "Roster":
            var script = try RosterScript<H>(test, shared: shared)
            try script.run(steps)
        case "Reading":
            var script = try ReadingScript(test, shared: shared)
            try script.run(steps)
        case "Feed":
            var script = try FeedScript(test)
            try script.run(steps)
        default:
            var script = try RecordScript(test, shared: shared)
            try script.run(steps)
        }
    }
}
