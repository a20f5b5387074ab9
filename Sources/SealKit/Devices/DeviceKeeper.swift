import SealEnvelope
import SealPrimitives
import SealWire
import Synchronization

/// Which device this is to the server, and how far it has looked at the list of the others.
///
/// What it knows is in the trust store. Until there is one, or without one, the device lasts as long as the process.
final class DeviceKeeper: Sendable {
    struct Identity: Sendable, Equatable {
        let id: ID16
        /// Microseconds since 1970.
        let added: Int64
        /// As another device may have named it; nil for the name that it gives itself.
        var name: String?
    }

    private struct State {
        var trust: TrustStore?
        var own: Identity
        /// Whether `own` is the trust store's.
        var isStored = false
        /// Whether this device is another one than the trust store's, whichever that was.
        var isAnew = false
        /// The list's revision that was looked at last, also in vain; 0 for none.
        var looked: UInt64 = 0
        /// The one that the trust store has; 0 for none.
        var settled: UInt64 = 0
        /// As it came with a login, and nobody has looked at it yet.
        var list: Sealkit_V1_DevicesResponse?
        /// The look under way, beside the calls.
        var look: Task<Void, Never>?
        /// A list that did not verify, until somebody asks.
        var failure: SealKitError?
        var watchers = Watchers<Device>()
    }

    /// The same for all generations of the account's keys.
    let account: [UInt8]
    /// Those that this device answers.
    let enrolments = EnrolmentTurns()
    private let state: Mutex<State>

    /// - Parameter id: of a device that another one has enrolled.
    init(account seed: AccountSeed, id: ID16? = nil) throws(SealKitError) {
        account = try verifying("the account's login key") { () throws(SealError) in
            try seed.loginKey().verificationKey.bytes
        }
        var random = SystemRandom()
        state = Mutex(State(own: Identity(id: id ?? ID16(random: &random), added: currentTime())))
    }

    /// The first store that comes is the device's.
    func attach(_ trust: TrustStore) { state.withLock { $0.trust = $0.trust ?? trust } }

    var trust: TrustStore? { state.withLock(\.trust) }
    var settledRevision: UInt64 { state.withLock(\.settled) }

    /// This device as the server is to know it.
    func identity() async throws(SealKitError) -> Identity {
        let (trust, own, isStored, isAnew) = state.withLock { ($0.trust, $0.own, $0.isStored, $0.isAnew) }
        guard let trust, !isStored else { return own }
        if isAnew {
            try await begin(with: trust)
            return own
        }
        let (kept, revision) = try await trust.adopt(own, account: account)
        return state.withLock { state in
            if !state.isStored {
                (state.own, state.isStored) = (kept, true)
                (state.looked, state.settled) = (max(state.looked, revision), revision)
            }
            return state.own
        }
    }

    /// This device anew: the store that comes may have another one, which was removed, say.
    func beginAnew() { state.withLock { $0.isAnew = true } }

    /// This device anew, with a store that may have another one.
    func begin(with trust: TrustStore) async throws(SealKitError) {
        let own = state.withLock(\.own)
        try await trust.replace(own, account: account)
        state.withLock { state in
            (state.trust, state.isStored, state.isAnew) = (trust, true, false)
            (state.looked, state.settled) = (0, 0)
        }
    }

    /// A list that came with a login.
    func took(_ list: Sealkit_V1_DevicesResponse) { state.withLock { $0.list = list } }

    /// Looks at the list beside the calls: at each revision once by itself.
    func look(at revision: UInt64, _ body: @escaping @Sendable () async throws(SealKitError) -> Void) {
        state.withLock { state in
            guard state.trust != nil, revision != state.looked else { return }
            state.looked = revision
            let before = state.look
            state.look = Task {
                await before?.value
                do throws(SealKitError) { try await body() } catch {
                    // For other failures the next revision, or whoever asks for the devices, looks again.
                    if error.isViolation { self.state.withLock { $0.failure = error } }
                }
            }
        }
    }

    /// Once the look under way is done.
    /// - Throws: what that look found that does not verify, once.
    func finishLooking() async throws(SealKitError) {
        await state.withLock(\.look)?.value
        let failure = state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
        if let failure { throw failure }
    }

    var isSettled: Bool { state.withLock { $0.list == nil && $0.looked == $0.settled } }

    /// The list that came with a login, until it was looked at.
    var pendingList: Sealkit_V1_DevicesResponse? { state.withLock(\.list) }
    func dropPendingList() { state.withLock { $0.list = nil } }

    /// Whether the server has named no other list since this revision.
    func isNewest(_ revision: UInt64) -> Bool { state.withLock { $0.looked == 0 || $0.looked == revision } }

    func settle(at revision: UInt64, name: String?) {
        state.withLock { state in
            (state.looked, state.settled) = (revision, revision)
            if let list = state.list, list.revision <= revision { state.list = nil }
            if let name { state.own.name = name }
        }
    }

    /// - Parameter owner: who is told, as long as it is there.
    func watch(_ owner: any AnyObject & Sendable, _ body: @escaping @Sendable (Device) -> Void) {
        state.withLock { $0.watchers.add(owner, body) }
    }

    func tell(_ devices: [Device]) {
        for watcher in state.withLock(\.watchers).bodies { for device in devices { watcher(device) } }
    }
}
