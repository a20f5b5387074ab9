/// What becomes of a request's items once the server has answered: each has its course, and then those that go again go
/// together.
public struct WriteSettlement: Sendable {
    /// As it was sent.
    public struct Item: Sendable {
        let recordName: String
        let isDeletion: Bool
        let parent: String?
        /// An earlier request of the batch has stored it: it went once more beside a deletion.
        let wasStored: Bool

        public static func save(_ recordName: String, parent: String?, wasStored: Bool) -> Item {
            Item(recordName: recordName, isDeletion: false, parent: parent, wasStored: wasStored)
        }

        public static func deletion(of recordName: String) -> Item {
            Item(recordName: recordName, isDeletion: true, parent: nil, wasStored: false)
        }
    }

    /// The batch that the request is of.
    public struct Batch: Sendable {
        /// All of it is stored, or nothing.
        let isAtomic: Bool
        /// Nothing in the public database has a roster.
        let isOfZone: Bool
        /// Its deletions take others along within the request alone: in the default zone, where nothing is shared, and
        /// where shares begin or end with the batch.
        let keepsTogether: Bool

        public init(isAtomic: Bool, isOfZone: Bool, keepsTogether: Bool) {
            (self.isAtomic, self.isOfZone, self.keepsTogether) = (isAtomic, isOfZone, keepsTogether)
        }
    }

    private let items: [Item]
    private let answers: [WriteAnswer]
    private let batch: Batch
    private let isLast: Bool

    // What is to go again, by place among the items, as it comes.
    private var again: [Int] = []
    private var behind: [Int] = []
    private var siblings: [Int] = []
    private var violations: [Int] = []
    private var hasRebased = false
    /// Deletions that wait for others of other scopes to go with them.
    public private(set) var waitingForOthers: [Int] = []
    /// Deletions of what is gone already: successes, though the batch that they were in was not stored.
    private var gone = 0

    /// - Parameters:
    ///   - answers: one for each item, in their order.
    ///   - isLast: nothing goes again after this.
    public init(_ items: [Item], _ answers: [WriteAnswer], of batch: Batch, isLast: Bool) {
        (self.items, self.answers, self.batch, self.isLast) = (items, answers, batch, isLast)
    }

    // MARK: Each by itself

    public enum Course: Sendable, Equatable {
        /// It is stored.
        case stored
        /// The answer says nothing of it.
        case unsaid
        /// Another version stands in its way, or it is said not to be there: `WriteConflict` says what then.
        /// - Parameter isDenied: the answer shows nothing of it. It may have had no room for the deletion, or the
        ///   record was made again since: a look-up shows what there is.
        case conflict(isDenied: Bool)
        /// It is said not to be there: what was seen of it says whether that is believed (`RecordJudge.memory`).
        case absent
        /// What goes along is to be covered (`TakenReading`).
        case covers
        /// What goes along was covered often enough.
        case keepsGrowing
        /// This device may have taken the zone for another one than it is, or its copy for what is there; where neither
        /// is so, its course is the one `after` that.
        case forbidden
        /// It goes with records of other scopes, by deletions of their own.
        case takesOthers
        /// That goes once the others are done, in a batch of its own.
        case waits
        /// It goes again once the rosters' tails are here.
        case behind
        /// The refusal is its result. It may go again all the same, with others (`next`).
        case refused
    }

    public func course(of index: Int) -> Course {
        let (item, answer) = (items[index], answers[index])
        let refusal: WriteRefusal
        switch answer.outcome {
        case .stored(let recordName): return recordName == item.recordName ? .stored : .unsaid
        // Whatever has become of it since.
        case _ where item.wasStored: return .stored
        case .nothing: return .unsaid
        case .refused(let why): refusal = why
        }
        switch refusal {
        case .changed: return .conflict(isDenied: false)
        case .unknown where answer.showsRecord: return .conflict(isDenied: false)
        case .unknown where batch.isOfZone: return .conflict(isDenied: true)
        case .unknown, .zoneGone: return answer.showsRecord ? settled(index, refusal) : .absent
        case .incomplete where items[index].isDeletion && batch.isOfZone: return isLast ? .keepsGrowing : .covers
        case .forbidden where !isLast: return .forbidden
        default: return settled(index, refusal)
        }
    }

    /// The course of an item that may not be written, and neither another scope nor another version of it is why.
    public func course(afterForbidding index: Int) -> Course { settled(index, .forbidden) }

    private func settled(_ index: Int, _ refusal: WriteRefusal) -> Course {
        guard !isLast else { return .refused }
        // Nothing goes with a save, whatever the server says.
        if items[index].isDeletion, !answers[index].dependents.isEmpty { return waits(index) ? .waits : .takesOthers }
        return refusal == .rosterMoved ? .behind : .refused
    }

    /// Where each item stands for itself, a deletion that takes records of other scopes along goes after the others:
    /// they go only if it does. Not where all of that has items in the request.
    private func waits(_ index: Int) -> Bool {
        guard !batch.isAtomic, !batch.keepsTogether else { return false }
        return !answers[index].dependents.allSatisfy { name in items.contains { $0.recordName == name } }
    }

    /// Those of which it has to be looked up what there is, for the answer does not show it; none where it shows all.
    ///
    /// Many large conflicts do not fit into one answer; and of what is in a share that the batch knew nothing of, the
    /// answer to a look-up names the roster that it goes by. An atomic batch is refused as one: then all of its
    /// conflicts are shown as they are at one time.
    public var lookUps: [Int] {
        var conflicts: [Int] = []
        var notShown: [Int] = []
        for index in items.indices {
            guard case .conflict = course(of: index) else { continue }
            conflicts.append(index)
            if !answers[index].isReadable { notShown.append(index) }
        }
        return batch.isAtomic && !notShown.isEmpty ? conflicts : notShown
    }

    // MARK: What goes again

    /// The item goes on top of another version.
    public mutating func rebased(_ index: Int) {
        again.append(index)
        hasRebased = true
    }

    /// The item goes as it is, or with what it covers now.
    public mutating func repeats(_ index: Int) { again.append(index) }

    public mutating func isBehind(_ index: Int) { behind.append(index) }

    public mutating func takesOthers(_ index: Int) { waitingForOthers.append(index) }

    /// The deletion of what is gone already.
    public mutating func isGone(_ index: Int) { gone += 1 }

    /// The refusal is its result so far.
    public mutating func refused(_ index: Int) {
        guard case .refused(let refusal) = answers[index].outcome else { return }
        if refusal == .batchFailed { siblings.append(index) }
        if refusal == .reference { violations.append(index) }
    }

    public var isBehindRosters: Bool { !behind.isEmpty }

    /// What the next request has, and what fails with the batch.
    public struct Next: Sendable {
        /// In their order, by place among the items; those that are added come after the items.
        public let order: [Int]
        /// Each has failed with the atomic batch.
        public let failed: [Int]
    }

    /// - Parameter added: how many deletions were added for those that wait for others (`WriteDependents`); where none
    ///   were, these have failed.
    public func next(adding added: Int) -> Next {
        let extra = Array(items.count..<(items.count + added))
        var violations = violations
        var again = again
        if added > 0 { again += waitingForOthers } else { violations += waitingForOthers }
        again += behind
        // Beside items that go on top of other versions everything may pass.
        again += hasRebased ? violations : unblocked(violations, by: batch.isAtomic ? again : again + siblings)
        // In an atomic batch nothing was stored, so what is sent again takes its siblings along, unless one has failed
        // for good. Elsewhere those alone that would go with a deletion, which goes again or has failed.
        guard batch.isAtomic else { return Next(order: again + extra + siblings, failed: []) }
        guard !again.isEmpty || gone > 0 else { return Next(order: extra, failed: []) }
        guard again.count + siblings.count + gone == items.count else { return Next(order: [], failed: again) }
        return Next(order: again + siblings + extra, failed: [])
    }

    /// What was refused for a reference may pass beside those that go again: a deletion beside that of a child, a save
    /// beside that of its parent. Any other save fails for good: sent again it would keep its record from going with a
    /// deletion that waits for that.
    private func unblocked(_ violations: [Int], by again: [Int]) -> [Int] {
        guard !again.isEmpty else { return [] }
        var saved: Set<String> = []
        for index in again where !items[index].isDeletion { saved.insert(items[index].recordName) }
        var passing = violations.filter { items[$0].isDeletion }
        var blocked = violations.filter { !items[$0].isDeletion }
        while true {
            let next = blocked.filter { index in items[index].parent.map { saved.contains($0) } ?? false }
            guard !next.isEmpty else { return passing }
            for index in next { saved.insert(items[index].recordName) }
            blocked.removeAll { next.contains($0) }
            passing += next
        }
    }
}

/// What the server answers of one item.
public struct WriteAnswer: Sendable {
    public enum Outcome: Sendable {
        /// - Parameter recordName: of the record that the answer says is stored.
        case stored(recordName: String)
        case refused(WriteRefusal)
        case nothing
    }

    let outcome: Outcome
    /// What the server has comes along.
    public let showsRecord: Bool
    /// It comes along, and the batch has the roster that it goes by.
    public let isReadable: Bool
    /// Records of other scopes that are said to go with a deletion.
    public let dependents: [String]

    /// - Parameter ground: that the request went by.
    package init(_ result: some ShownWriteResult, in ground: RecordGround) {
        if let recordName = result.storedName {
            outcome = .stored(recordName: recordName)
        } else if let code = result.failureCode {
            outcome = .refused(WriteRefusal(code: code))
        } else {
            outcome = .nothing
        }
        let there = result.serverShown
        showsRecord = there != nil
        isReadable = there.map { ground.covers($0) } ?? false
        dependents = result.dependents
    }
}

extension ShownWriteResult {
    /// The answer says that this very record is stored: one that names another says nothing of it.
    package func stores(_ recordName: String) -> Bool { storedName == recordName }
}

extension RecordGround {
    /// Whether it has what a record says that it goes by: of a record that is there.
    package func covers(_ shown: some ShownRecord) -> Bool {
        !isZone || (!shown.isDerived && !shown.departed && covers(shown.statementBytes))
    }
}
