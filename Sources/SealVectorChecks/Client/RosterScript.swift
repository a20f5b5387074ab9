import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// A device of an account that follows a scope's roster, and one tail after the other that a server answers.
struct RosterScript<H: HybridEncryption> {
    private let shared: Fields
    private let own: OwnIdentity
    private var replica: ScopeReplica<H>
    private var judged = Judged()

    init(_ test: Fields, shared: Fields) throws(VectorError) {
        self.shared = shared
        let scope = try shared.scope()
        let own = try test.own(container: scope.container, using: H.self)
        var floors: [Enrolment.Head] = []
        if test.has("floor") {
            let head = try test.object("floor")
            floors.append(
                Enrolment.Head(
                    scopeID: scope.id, sequence: try head.number("sequence"), hash: try head.digest("hash")))
        }
        replica = try core(ScopeReplica<H>(scope: scope, user: own.chain.userID, entries: [], floors: floors))
        self.own = own
    }

    /// - Throws: `disbelieved` where something was refused, once all steps are made.
    mutating func run(_ steps: [Fields]) throws(VectorError) {
        for step in steps {
            if step.has("abandons") {
                try judged.expect("verdict", of: step, try endFork(step))
            } else {
                try judged.expect("verdict", of: step, try meet(step))
                try step.expect("knows", .number(replica.entries.count))
            }
        }
        try judged.finish()
    }

    private mutating func meet(_ step: Fields) throws(VectorError) -> Judgement {
        let entries = try step.page(of: shared)
        let (isMoreComing, sequence) = (try step.bool("moreComing"), try step.number("headSequence", as: UInt64.self))
        let head = try step.bytes("head")
        let abandoned = step.has("abandoned") ? try step.object("abandoned").page(of: shared) : []
        let whole = step.has("whole") ? try shared.log(try step.string("whole")) : []
        do throws(ClientError) {
            let tail = try RosterTail(
                entries: entries, isMoreComing: isMoreComing, grants: [], hasMoreGrants: false, headSequence: sequence,
                head: head, isUngranted: false, abandoned: abandoned)
            let asked = replica.roster?.head
            switch try replica.course(of: tail, asked: asked) {
            case .onwards:
                _ = replica.adopt(try replica.step(tail.entries, isLast: !tail.isMoreComing, as: own))
                return .taken("accepted")
            case .behind(let first):
                replica.noteGivenBack(try replica.giveBack(from: first, grants: []))
                return .refused("mended")
            case .apart:
                var log = ServerLog(scope: replica.scope)
                _ = log.add(whole)
                guard
                    let succession = try replica.succession(
                        of: log, abandoned: tail.abandoned, asked: asked, as: own),
                    replica.adopt(succession)
                else { return .refused("outrun") }
                return .taken("succeeded")
            case .outrun: return .refused("outrun")
            }
        } catch {
            return Judgement(error)
        }
    }

    /// Signs what ends a fork, and sends it nowhere.
    private func endFork(_ step: Fields) throws(VectorError) -> Judgement {
        var log = ServerLog(scope: replica.scope)
        _ = log.add(try step.page(of: shared))
        let fields = try step.object("abandons")
        var given: RosterChange.AbandonedHead?
        if fields.has("sequence") {
            given = RosterChange.AbandonedHead(
                sequence: try fields.number("sequence"), hash: try fields.digest("hash"))
        }
        var random = ReplayedRandom([])
        do throws(ClientError) {
            let end = try replica.forkEnd(on: log, abandoning: given, as: own, time: 0, random: &random)
            return .taken(end.abandoned.isEmpty ? "ended" : "endedOwn")
        } catch {
            return Judgement(error)
        }
    }
}
