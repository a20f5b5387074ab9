import SealPrimitives

@testable import SealStatements

/// Which statement may come after which: honest ones with the fuzzer's faults, and any two that decode.
enum SuccessorTarget: FuzzTarget {
    static let name = "successor"
    static let seeds = [
        Seed.made([]), .made([1]), .made([0, 1, 7]), .made([1, 2, 3, 3, 3]), .made([0, 3, 1, 0, 5, 2]),
        .hex("moves", "encoded", prefix: [0xFF]), .hex("moves", "predecessor", prefix: [0xFF]),
        .hex("statements", "encoded", prefix: [0xFF]),
    ]
    private static let before = Statement.hash(World.record.statement.canonicalBytes())

    static func run(_ input: [UInt8]) {
        if input.first == 0xFF {
            // Statements as they come, beside one of the zone's and beside their own successor.
            guard let hostile = try? Statement(canonicalBytes: Array(input.dropFirst())) else { return }
            check(hostile, after: World.record.statement, hash: before)
            return check(honest(after: hostile), after: hostile, hash: Statement.hash(hostile.canonicalBytes()))
        }
        var choices = Choices(input)
        var predecessor = Record.statement(choices.oneOf([World.zone, World.share]).roster, by: World.people[0].userID)
        for _ in 0..<choices.number(below: 3) { alter(&predecessor, &choices) }
        guard (try? Statement(canonicalBytes: predecessor.canonicalBytes())) != nil, predecessor.revision < 1 << 61
        else { return }
        let hash = Statement.hash(predecessor.canonicalBytes())
        var next = honest(after: predecessor)
        check(next, after: predecessor, hash: hash)
        require((try? next.check(follows: predecessor, hash: hash)) != nil, "an honest successor is refused")
        certain("an honest successor") { try Statement(canonicalBytes: next.canonicalBytes()) }
        for _ in 0..<choices.number(below: 4) {
            alter(&next, &choices)
            check(next, after: predecessor, hash: hash)
        }
        check(next, after: next, hash: hash)
    }

    private static func check(_ next: Statement, after last: Statement, hash: Digest) {
        var (one, other) = (VerifiedStatement(next), VerifiedStatement(last))
        let isTaken = (try? next.check(follows: last, hash: hash)) != nil
        require(isTaken == follows(next, last, hash), "a successor taken or refused wrongly")
        require(
            ((try? one.check(follows: other)) != nil) == follows(next, last, other.hash),
            "a verified successor judged otherwise")
        swap(&one, &other)
        require(((try? one.check(follows: other)) != nil) == follows(last, next, other.hash), "the other way round")
    }

    /// PROTOCOL.md, "Successor".
    private static func follows(_ next: Statement, _ last: Statement, _ hash: Digest) -> Bool {
        guard next.container == last.container, next.environment == last.environment, next.owner == last.owner,
            next.zoneName == last.zoneName, next.zoneIncarnation == last.zoneIncarnation,
            next.recordName == last.recordName
        else { return false }
        guard next.revision > last.revision, next.revision - last.revision == 1, next.previous == hash else {
            return false
        }
        let hasMoved = next.scopeID != last.scopeID || next.scopeIncarnation != last.scopeIncarnation
        guard (next.formerScope != nil) == hasMoved else { return false }
        if let former = next.formerScope {
            guard former.scopeID == last.scopeID, former.incarnation == last.scopeIncarnation else { return false }
        }
        if last.kind == .delete { return next.kind == .save && next.creator == next.author }
        return next.recordType == last.recordType && next.creator == last.creator
    }

    private static func honest(after last: Statement) -> Statement {
        var next = last
        next.kind = .save
        next.revision = last.revision &+ 1
        next.previous = Statement.hash(last.canonicalBytes())
        next.formerScope = nil
        next.wrappedKey = [UInt8](repeating: 6, count: last.isPublic ? 0 : Statement.wrappedKeyBytes)
        if last.kind == .delete { next.creator = next.author }
        return next
    }

    private static func alter(_ statement: inout Statement, _ choices: inout Choices) {
        let person = choices.oneOf(World.people).userID
        switch choices.byte() % 18 {
        case 0: statement.container = choices.name()
        case 1: statement.environment = .development
        case 2: statement.owner = person
        case 3: statement.zoneName = choices.name()
        case 4: statement.zoneIncarnation = choices.number()
        case 5: statement.recordName = choices.name()
        case 6: statement.recordType = "Other"
        case 7: statement.creator = person
        case 8: statement.author = person
        // Within the limit that decoding sets.
        case 9: statement.revision = choices.flag() ? statement.revision + 1 : 1 + choices.number(UInt64.self) >> 2
        case 10: statement.previous = choices.digest()
        case 11: statement.scopeID = choices.flag() ? World.shareScope.id : choices.digest()
        case 12: statement.scopeIncarnation = choices.flag() ? 2 : choices.number()
        case 13: statement.formerScope = .init(scopeID: World.scope.id, incarnation: UInt32(choices.byte() & 3))
        case 14: statement.formerScope = nil
        case 15: (statement.kind, statement.wrappedKey, statement.formerScope) = (.delete, [], nil)
        case 16: (statement.revision, statement.previous) = (1 + UInt64(choices.byte()), choices.digest())
        default: statement.clientTime = choices.number()
        }
    }
}

extension VerifiedStatement {
    /// As if verified: who signed it is no question of the target's.
    init(_ statement: Statement) {
        let bytes = statement.canonicalBytes()
        self.init(statement: statement, bytes: bytes, hash: Statement.hash(bytes))
    }
}
