import SealService
import Synchronization

/// What telemetry learns of a request on its way through the server: one object, since the request's context is copied
/// from hand to hand.
final class RequestNote: Sendable {
    private let account = Atomic<Int64>(0)
    private let person = Atomic<Bool>(false)
    private let received = Atomic<Int>(0)
    private let preflight = Atomic<Bool>(false)
    private let told = Mutex(Outcome())

    struct Outcome {
        /// What the request was refused with; empty where it was not.
        var code = ""
        /// Of items, in an answer that is none itself.
        var items: [String: Int] = [:]
        /// What it has done to rosters.
        var news: SharingNews?

        /// Nothing was refused, and there is no more to tell of it.
        var isPlain: Bool { code.isEmpty && items.isEmpty && news == nil }
    }

    /// Its session or server-to-server key was found good.
    /// - Parameter isPerson: a session's.
    func isOf(account id: Int64, isPerson: Bool) {
        account.store(id, ordering: .relaxed)
        person.store(isPerson, ordering: .relaxed)
    }

    /// So much of the body has come: what is only announced, anybody may announce.
    func took(_ bytes: Int) { received.wrappingAdd(bytes, ordering: .relaxed) }

    /// Items that were refused in an answer that is none itself.
    func refuses(_ code: String) { told.withLock { $0.items[code, default: 0] += 1 } }

    /// It was done, and will not be taken back.
    func noteSharing(_ news: SharingNews) { if !news.isEmpty { told.withLock { $0.news = news } } }

    /// The whole of it was refused.
    func noteRefusal(_ code: String) { told.withLock { $0.code = code } }

    /// A browser asks before a page's call.
    func notePreflight() { preflight.store(true, ordering: .relaxed) }

    var isKnown: Bool { knownAccount != 0 }
    /// 0 for a stranger's.
    var knownAccount: Int64 { account.load(ordering: .relaxed) }
    var isPerson: Bool { person.load(ordering: .relaxed) }
    var bytesReceived: Int { received.load(ordering: .relaxed) }
    var isPreflight: Bool { preflight.load(ordering: .relaxed) }
    var outcome: Outcome { told.withLock { $0 } }
}
