import SealClient
import SealPrimitives
import SealStatements

/// What a client makes of something that it is shown, by the name that the vectors have for it.
package struct Judgement: Sendable, CustomStringConvertible {
    package let name: String
    /// Nothing is taken over of what was shown.
    package let isRefusal: Bool
    /// What the core refused of it, where that decided.
    let reason: SealError?

    private init(_ name: String, isRefusal: Bool, reason: SealError? = nil) {
        (self.name, self.isRefusal, self.reason) = (name, isRefusal, reason)
    }

    static func taken(_ name: String) -> Judgement { Judgement(name, isRefusal: false) }
    static func refused(_ name: String, because reason: SealError? = nil) -> Judgement {
        Judgement(name, isRefusal: true, reason: reason)
    }

    package var description: String { reason.map { "\(name).\($0.rawValue)" } ?? name }
}

extension Judgement {
    init(_ verdict: Verdict) {
        self =
            switch verdict {
            case .accepted: .taken("accepted")
            case .unknownDeletion: .taken("unknownDeletion")
            case .overtaken: .taken("overtaken")
            case .older: .refused("older")
            case .misplaced: .refused("misplaced")
            case .changed: .refused("changed")
            case .behind: .refused("behind")
            case .forked: .refused("forked")
            case .backdated: .refused("backdated")
            }
    }

    /// Of the answer that there is no such record.
    init(_ memory: Memory) {
        self =
            switch memory {
            case .unseen: .taken("unseen")
            case .seenSince: .taken("overtaken")
            case .seen: .refused("withheld")
            }
    }

    init(_ error: ClientError) {
        self =
            switch error {
            case .invalid(let reason): .refused("invalid", because: reason)
            case .unknownScope: .refused("unknownScope")
            case .forked: .refused("forked")
            case .shortened: .refused("shortened")
            case .mended: .refused("mended")
            case .endless: .refused("endless")
            case .unknownEnd: .refused("unknownEnd")
            case .unknownHead: .refused("unknownHead")
            case .circle: .refused("circle")
            case .keysReplaced: .refused("keysReplaced")
            case .foreignKeys: .refused("foreignKeys")
            case .notForked: .refused("notForked")
            case .notAbandonable: .refused("notAbandonable")
            case .yetAnotherBranch: .refused("yetAnotherBranch")
            }
    }

    init(_ refusal: ShareRefusal) {
        self =
            switch refusal {
            case .otherServer: .refused("otherServer")
            case .otherContainer: .refused("otherContainer")
            case .roster(let reason): .refused("roster", because: reason)
            case .endless: .refused("endless")
            case .preview(let reason): .refused("preview", because: reason)
            case .noSeat: .refused("noSeat")
            case .invitation(let reason): .refused("invitation", because: reason)
            case .grant(let reason, _): .refused("grant", because: reason)
            case .owner(let reason): .refused("owner", because: reason)
            }
    }
}
