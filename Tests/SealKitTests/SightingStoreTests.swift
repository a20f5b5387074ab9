import Foundation
import SealClient
import SealLab
import SealPrimitives
import SealStatements
import Testing

@testable import SealKit

/// The trust store and the one in memory, which a browser has: whatever comes, both lead to the same verdicts.
@Suite(.timeLimit(.minutes(60))) struct SightingStoreTests {
    private typealias Statement = SealStatements.Statement

    private let (ann, bob): (UserID, UserID)
    private let scopes = [1, 2, 3].map { Hash.digest(.link, [$0]) }
    private var own: ScopePlace { ScopePlace(scopes[0], 1) }

    init() throws {
        ann = UserID(try ID16(Array(repeating: 1, count: 16)))
        bob = UserID(try ID16(Array(repeating: 2, count: 16)))
    }

    /// What may follow a statement, and what may not.
    private func statement(_ name: String, after known: [Statement], _ random: inout SeededRandom) -> Statement {
        let last = known.randomElement(using: &random)
        let scope = scopes.randomElement(using: &random) ?? scopes[0]
        let place = Bool.random(using: &random) ? last?.scopeID ?? scope : scope
        let isSave = Int.random(in: 0..<5, using: &random) > 0
        let author = Bool.random(using: &random) ? ann : bob
        let former = last.flatMap { $0.scopeID == place || Int.random(in: 0..<4, using: &random) == 0 ? nil : $0.place }
        return Statement(
            kind: isSave ? .save : .delete, container: "org.example.notes", environment: .development, owner: ann,
            zoneName: "notes", zoneIncarnation: 1, recordName: name,
            recordType: Int.random(in: 0..<9, using: &random) == 0 ? "Letter" : "Note",
            creator: last?.creator ?? author, author: author, clientTime: 1,
            revision: (last?.revision ?? 0) + (Int.random(in: 0..<6, using: &random) == 0 ? 2 : 1),
            previous: last.map { Statement.hash($0.canonicalBytes()) } ?? .zero, scopeID: place, scopeIncarnation: 1,
            epoch: UInt32.random(in: 0..<4, using: &random), formerScope: former,
            wrappedKey: isSave ? Array(repeating: 0, count: Statement.wrappedKeyBytes) : [],
            rosterSequence: UInt64.random(in: 4..<6, using: &random), rosterHead: scopes[0],
            checkpoint: Checkpoint.none, parent: nil, share: nil, salt: .zero, fieldsDigest: .zero)
    }

    @Test(arguments: 1...12) func bothStoresLeadToTheSameVerdicts(_ seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let trust = try TrustStore()
        var judge = RecordJudge(MemorySightings())
        var known: [String: [Statement]] = [:]
        let names = ["a", "b", "c", "d", "e"]
        var (seen, token): (Set<Verdict>, Int) = ([], 0)
        for _ in 0..<120 {
            if Int.random(in: 0..<12, using: &random) == 0 {
                let place = ScopePlace(scopes.randomElement(using: &random) ?? scopes[0], 1)
                let epoch = Int64.random(in: 0..<4, using: &random)
                let since = token == 0 ? nil : Data("\(token)".utf8)
                token += 1
                try await trust.advance(
                    zone: own.scope, incarnation: 1, since: since, token: Data("\(token)".utf8),
                    caughtUp: [place: epoch])
                var store = judge.store
                store.noteRead(place, upTo: epoch)
                judge = RecordJudge(store)
            }
            if Int.random(in: 0..<30, using: &random) == 0 {
                let out = SignedRosterEntry(bytes: [UInt8(token)], signature: [])
                let sequence = UInt64(try await trust.entries(scope: own.scope).count)
                try await trust.append([out], scope: own.scope, from: sequence, absences: [sequence], share: nil)
                var store = judge.store
                store.noteAbsence(from: own.scope)
                judge = RecordJudge(store)
            }
            var sightings: [Sighting] = []
            for _ in 0..<Int.random(in: 1..<4, using: &random) {
                let name = names.randomElement(using: &random) ?? "a"
                let isOld = Int.random(in: 0..<3, using: &random) == 0
                let next =
                    (isOld ? known[name]?.randomElement(using: &random) : nil)
                    ?? statement(name, after: known[name] ?? [], &random)
                known[name, default: []].append(next)
                let hash = Statement.hash(next.canonicalBytes())
                switch Int.random(in: 0..<8, using: &random) {
                case 0:
                    let target = statement("list", after: [], &random)
                    sightings.append(
                        Sighting(
                            next, hash: hash,
                            role: .gone(with: .init(target, hash: Statement.hash(target.canonicalBytes())))))
                case 1: sightings.append(Sighting(next, hash: hash, role: .covered))
                case 2: sightings.append(Sighting(next, hash: hash, isDeparture: true))
                default: sightings.append(Sighting(next, hash: hash))
                }
            }
            let moment = try await trust.moment()
            #expect(moment == judge.store.lastMoment())
            let asked = Bool.random(using: &random) ? nil : Int64.random(in: 0...moment, using: &random)
            let readable = Bool.random(using: &random) ? nil : Set([own, ScopePlace(scopes[1], 1)])
            let late = Set(sightings.prefix(Int.random(in: 0..<2, using: &random)).map(\.hash))
            let verdicts = judge.admit(sightings, asked: asked, accepting: late, readable: readable)
            let accepted = TrustStore.LateStatements(
                hashes: late, container: "org.example.notes", environment: .development, zone: .default, time: 1)
            #expect(
                try await trust.admit(sightings, in: own, asked: asked, accepted: accepted, readable: readable)
                    == verdicts)
            seen.formUnion(verdicts)
            for name in names {
                let memory = judge.memory(of: name, readable: readable, asked: asked)
                #expect(try await trust.memory(of: name, in: own, scopes: readable, asked: asked) == memory)
                #expect(try await trust.lastPlace(of: name, in: own) == judge.lastPlace(of: name))
                #expect(try await trust.lastSeen(name, in: own)?.hash == judge.newest(name)?.hash)
            }
            let living = judge.living(readable: readable, since: asked) { $0 != "c" }
            #expect(try await trust.living(in: own, scopes: readable, since: asked) { $0 != "c" } == living)
        }
        // The paths are walked, not avoided.
        #expect(seen.isSuperset(of: [.accepted, .older, .forked, .backdated]))
    }
}
