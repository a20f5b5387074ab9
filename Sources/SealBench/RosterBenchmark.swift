import CSodium
import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements

/// Replaying a roster's log: every entry decoded, judged by the rules, its signatures verified.
struct RosterBenchmark {
    private static let sizes = [1_000, 10_000]

    func run(_ report: inout Report) throws {
        report.heading(
            "Rosters replayed: time, as a multiple of bare libsodium's",
            """
            The log: invite, accept, remove with a new epoch, over and over. Bare: every Ed25519 signature in the entries
            (authors', acceptors', of identities) verified over as many bytes, and every entry hashed. The second ratio
            counts the checks of the public keys in the entries to the limit too: a point of Ed25519 and one of X25519 each.
            """)
        let log = try makeLog(entries: Self.sizes.max() ?? 0)
        var perEntry: [Double] = []
        for size in Self.sizes {
            let entries = Array(log.entries[..<size])
            let signers = entries.map { Bare.Signer($0.bytes.count + 48) }.prefix(64)
            let identity = Bare.Signer(1400)
            let hashes = entries.prefix(64).map { Bare.Hash($0.bytes.count + 48) }
            var hash = [UInt8](repeating: 0, count: 32)
            let (point, scalar) = (log.point, [UInt8](repeating: 1, count: 32))
            // Of three entries two hold an identity, one an acceptance and one an invitation's keys: one of each for
            // every entry.
            let times = try measure(
                rounds: size > 5_000 ? 3 : 7,
                [
                    {
                        for index in 0..<size {
                            signers[index % 64].verify()
                            hashes[index % 64].run(into: &hash)
                        }
                        for _ in 0..<size { identity.verify() }
                    },
                    {
                        for _ in 0..<size {
                            _ = crypto_core_ed25519_is_valid_point(point)
                            _ = crypto_scalarmult(&hash, scalar, log.grantPoint)
                        }
                    },
                    {
                        var roster = try Roster(opening: entries[0], scope: log.scope)
                        for entry in entries.dropFirst() { try roster.append(entry) }
                    },
                ])
            perEntry.append(times[2] / Double(size))
            report.row("\(size) entries", times[2] * 1000, "ms", ratio: times[2] / times[0])
            report.row(
                "  each; with the checks of keys", times[2] / Double(size) * 1e6, "µs",
                ratio: times[2] / (times[0] + times[1]),
                aim: .atMost(1.25))
        }
        report.row("an entry of 10,000 to one of 1,000", perEntry[1] / perEntry[0], "", aim: .atMost(1.15))
    }

    private struct Log {
        let scope: Scope
        var entries: [SignedRosterEntry]
        let point, grantPoint: [UInt8]
    }

    private func makeLog(entries count: Int) throws -> Log {
        var random = SystemRandom()
        func person() throws -> (keys: IdentityKeys, identity: IdentityChain, author: RosterAuthor<XWingHPKE>) {
            let keys = try AccountSeed(random: &random).identityKeys(
                container: BenchmarkZone.container, using: XWingHPKE.self)
            let identity = try keys.firstIdentity(time: 0)
            return (keys, identity, RosterAuthor(user: identity.userID, keys: keys))
        }
        let owner = try person()
        let guests = try (0..<8).map { _ in try person() }
        let scope = Scope(
            container: BenchmarkZone.container, environment: .production, owner: owner.identity.userID, zoneName: "log")
        var draft = try owner.author.open(
            scope, following: nil, encryptionScope: .perRecord, identity: owner.identity, time: 0, random: &random)
        var roster = try Roster(opening: draft.entry, scope: scope)
        var log = Log(
            scope: scope, entries: [draft.entry], point: owner.keys.signingKey.verificationKey.bytes,
            grantPoint: [UInt8](owner.keys.grantKey.suffix(32)))
        guard var key = draft.epochKey else { throw SealError.missingKey }
        func add(_ next: RosterAuthor<XWingHPKE>.Draft) throws {
            try roster.append(next.entry)
            log.entries.append(next.entry)
            if let new = next.epochKey { key = new }
        }
        let link = LinkSecret(random: &random)
        try add(owner.author.plain(.settings(.init(linkID: link.id(in: scope.id))), on: roster, time: 0))
        while log.entries.count < count {
            let guest = guests[log.entries.count % guests.count]
            let keys = try link.invitationKeys(scopeID: roster.scopeID, invitationID: ID16(random: &random))
            let invitation = try InvitationDraft(
                keys: keys, permission: .readWrite, invitee: guest.identity, using: XWingHPKE.self)
            draft = try owner.author.next(
                on: roster, changes: [], invitations: [invitation], rotating: false, current: key, time: 0,
                random: &random)
            try add(draft)
            try add(guest.author.accept(keys, on: roster, identity: guest.identity, epochKey: key, time: 0))
            draft = try owner.author.next(
                on: roster, changes: [.remove(guest.identity.userID)], rotating: true, current: key, time: 0,
                random: &random)
            try add(draft)
        }
        return log
    }
}
