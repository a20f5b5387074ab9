import Foundation
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// Holds everybody's keys against those that this device knows them by. Rosters, look-ups, share URLs and the public
/// database's authors all come through here, after their own signatures were verified and before anything rests on
/// them.
struct ContactBook: Sendable {
    let trust: TrustStore
    let container: String
    let own: UserID

    enum Source {
        /// Where older generations are in order: a log that its owner has not stated newer ones in.
        case log
        /// The server's word for somebody's newest keys: what is older than this device knows is not.
        case directory
    }

    /// - Throws: `integrityFailure` for keys that are neither those known, nor older or newer generations of them: the
    ///   person, or whoever had the person's former key, or the server made them, and the user has to find out.
    ///   `rollback` for a directory that answers with keys that were replaced.
    func observe(_ chains: [IdentityChain], from source: Source = .log) async throws(SealKitError) {
        let others = chains.filter { $0.userID != own }
        guard !others.isEmpty else { return }
        var seen: [(user: UserID, chain: Data)] = []
        for chain in others { seen.append((chain.userID, try ContactBook.data(chain))) }
        let findings = Findings()
        try await trust.observe(seen, container: container, time: currentTime()) { [container] index, known in
            let chain = others[index]
            let former = try ContactBook.chain(known, container: container)
            if chain.continues(former) {
                return chain.signed.count > former.signed.count ? .extend(try ContactBook.data(chain)) : .nothing
            }
            if former.continues(chain) {
                if source == .directory { findings.add(chain.userID, isOlder: true) }
                return .nothing
            }
            findings.add(chain.userID, isOlder: false)
            return .refuse(try ContactBook.data(chain))
        }
        guard let (user, isOlder) = findings.first else { return }
        throw isOlder ? ContactBook.replaced(user) : ContactBook.changed(user)
    }

    /// Those of whom the user has compared the safety number, for the very keys that they are known by.
    func verified(among users: [UserID]) async throws(SealKitError) -> Set<UserID> {
        var found: Set<UserID> = []
        for user in users {
            guard let row = try await trust.contact(user, container: container), let mark = row.verified else {
                continue
            }
            if mark == Data(try ContactBook.chain(row.chain, container: container).hash.bytes) { found.insert(user) }
        }
        return found
    }

    static func changed(_ user: UserID) -> SealKitError {
        SealKitError(
            .integrityFailure,
            "other keys of the contact \(user.recordName) were shown than this device knows, and nothing signed leads to them",
            remedy: "ask that person, compare the safety number, and accept the keys only if they are that person's")
    }

    private static func replaced(_ user: UserID) -> SealKitError {
        SealKitError(
            .rollback, "the server answers with keys of \(user.recordName) that were replaced since",
            remedy: "it may have been restored from a backup; seal nothing to them")
    }

    static func data(_ chain: IdentityChain) throws(SealKitError) -> Data {
        do { return try chain.wire.serializedData() } catch {
            throw SealKitError(.internalError, "an identity cannot be written")
        }
    }

    /// - Throws: `integrityFailure` for a row that was damaged.
    static func chain(_ data: Data, container: String) throws(SealKitError) -> IdentityChain {
        let wire: Sealkit_V1_IdentityChain
        do { wire = try Sealkit_V1_IdentityChain(serializedBytes: data) } catch {
            throw SealKitError.integrity(.malformed, "a contact's keys on this device")
        }
        return try verifying("a contact's keys on this device") { () throws(SealError) in
            try IdentityChain(wire, container: container)
        }
    }

    /// What a transaction found out, for after it.
    private final class Findings: @unchecked Sendable {
        // Unchecked: filled by one transaction, read after its end.
        private(set) var first: (UserID, isOlder: Bool)?

        func add(_ user: UserID, isOlder: Bool) {
            // Other keys are worse than old ones.
            if first == nil || (first?.isOlder == true && !isOlder) { first = (user, isOlder) }
        }
    }
}
