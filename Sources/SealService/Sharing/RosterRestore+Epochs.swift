import SealStatements
import SealStorage
import SealWire

extension RosterRestore {
    /// Epochs that are given back count like those that are sent as they are opened, as their authors': or an entry
    /// that the server has never had would be a way round that limit, and another participant the one to bring it. An
    /// owner gives back any number in its own zone.
    /// - Throws: `requestRateLimited`; `limitExceeded` where waiting is of no use.
    func countEpochs(
        _ given: Given, by caller: Caller, _ counted: RosterCounts, now: Int64, _ connection: any SQLConnection
    ) throws {
        let scope = given.scope
        guard caller.id != scope.zone.owner else { return }
        var counts: [UserID: Int] = [:]
        for (_, entry) in given.entries where entry.epoch != nil && entry.author != scope.zone.ownerName {
            counts[entry.author, default: 0] += 1
        }
        let rule = counted.limits.epochOpening
        for (author, count) in counts {
            guard count <= rule.count else {
                throw ServerError(
                    .limitExceeded, "A participant has opened more than \(rule.count) epochs in these entries.",
                    remedy: "The owner gives them back, or send fewer at once.")
            }
            let id = try Rosters.viewer(author, scope.zone, connection) ?? caller.id
            try counted.counting.count(
                .epochOpening, .author(owner: scope.zone.owner, zone: scope.zone.number, caller: id), amount: count,
                rule: rule,
                now: now)
        }
    }
}
