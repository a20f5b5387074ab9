import SealClient
import SealPrimitives
import SealStatements

/// A reader of a zone's scopes, and one thing after the other that it meets there.
struct RecordScript {
    private let rosters: [String: Roster]
    private let reader: UserID
    private var ground: ZoneGround
    private var judge = RecordJudge(MemorySightings())
    /// After each step, from before the first one on: how much the reader knew then.
    private var moments: [Int64] = [0]
    private var judged = Judged()

    init(_ test: Fields, shared: Fields) throws(VectorError) {
        rosters = try shared.rosters()
        reader = try test.user("reader")
        guard let zone = rosters["zone"]?.scope else { throw .missing("zone") }
        ground = ZoneGround(zone: zone, asked: nil)
    }

    /// - Throws: `disbelieved` where something was refused, once all steps are made.
    mutating func run(_ steps: [Fields]) throws(VectorError) {
        for step in steps {
            if step.has("reads") {
                try read(step.strings("reads"))
            } else if step.has("answer") {
                try answer(step)
            } else if step.has("readTo") {
                try caughtUp(step.objects("readTo"))
            } else if step.has("absentFrom") {
                try absent(step.string("absentFrom"))
            } else if step.has("nothing") {
                let asked = try asked(step)
                let memory = judge.memory(
                    of: try step.string("nothing"), readable: ground.readableScopes, asked: asked)
                try judged.expect("verdict", of: step, Judgement(memory))
            } else {
                let brought = try step.strings("brought")
                let missing = judge.living(readable: ground.readableScopes, since: nil) { !brought.contains($0) }
                try step.expect("missing", .array(missing.map { .string($0) }))
            }
            moments.append(judge.store.lastMoment())
        }
        try judged.finish()
    }

    // MARK: Steps

    private mutating func read(_ names: [String]) throws(VectorError) {
        ground = ZoneGround(zone: ground.zone, asked: nil)
        for name in names {
            guard let roster = rosters[name] else { throw .missing(name) }
            ground.add(ZoneView(roster: roster, keys: [:], user: reader, lacksGrants: false))
        }
    }

    private mutating func answer(_ step: Fields) throws(VectorError) {
        var verifier = RecordVerifier(.zone(ground))
        var sightings: [Sighting] = []
        // What does not verify is judged by that alone.
        var judgements: [Judgement?] = []
        for item in try step.objects("answer") {
            do throws(VectorError) {
                sightings.append(try sighting(item, &verifier))
                judgements.append(nil)
            } catch {
                guard case .refused(let reason) = error else { throw error }
                judgements.append(.refused("unverified", because: reason))
            }
        }
        var late: Set<Digest> = []
        if step.has("accepting") { late = Set(try step.digests("accepting")) }
        let asked = try asked(step)
        var verdicts = judge.admit(
            sightings, asked: asked, accepting: late, readable: ground.readableScopes
        ).makeIterator()
        var names: [JSON] = []
        for judgement in judgements {
            guard let judgement = judgement ?? verdicts.next().map({ Judgement($0) }) else {
                throw .differs("verdicts")
            }
            names.append(.string(judgement.name))
            judged.note(judgement)
        }
        try step.expect("verdicts", .array(names))
    }

    private mutating func caughtUp(_ heads: [Fields]) throws(VectorError) {
        let cited = try heads.map { head throws(VectorError) in
            let name = try head.string("shareRecordName")
            let scope = name.isEmpty ? ground.zone : ground.zone.ofShare(name)
            var cited = Wire.ScopeHead()
            cited.zone = Wire.ZoneID()
            cited.zone?.zoneName = scope.zoneName
            cited.zone?.ownerName = scope.owner.recordName
            cited.shareRecordName = name
            cited.sequence = try head.number("sequence", as: UInt64.self)
            let hashes = ground[scope.id]?.roster.hashes ?? []
            if cited.sequence < UInt64(hashes.count) { cited.head = hashes[Int(cited.sequence)].bytes }
            return cited
        }
        var store = judge.store
        for (place, epoch) in ground.caughtUp(cited) { store.noteRead(place, upTo: epoch) }
        judge = RecordJudge(store)
    }

    private mutating func absent(_ name: String) throws(VectorError) {
        guard let roster = rosters[name] else { throw .missing(name) }
        var store = judge.store
        store.noteAbsence(from: roster.scopeID)
        judge = RecordJudge(store)
    }

    // MARK: Parts

    /// Where the server was asked before it answered: after so many steps.
    private func asked(_ step: Fields) throws(VectorError) -> Int64 {
        let steps = step.has("asked") ? try step.int("asked") : moments.count - 1
        guard moments.indices.contains(steps) else { throw .missing("asked") }
        return moments[steps]
    }

    private func sighting(_ item: Fields, _ verifier: inout RecordVerifier) throws(VectorError) -> Sighting {
        let name = item.has("recordName") ? try item.string("recordName") : nil
        let record = try item.object("record")
        let (bytes, proof) = (try record.bytes("statement"), try record.proof())
        do throws(SealError) {
            if item.has("departed") {
                return Sighting(try verifier.verifyDeparture(bytes, proof: proof, recordName: name))
            }
        } catch {
            throw .refused(error)
        }
        let verified: VerifiedStatement
        do { verified = try verifier.verify(bytes, proof: proof, recordName: name) } catch { throw .refused(error) }
        if item.has("tombstone") { return try notice(item, of: verified, &verifier) }
        guard item.has("moved") else { return Sighting(verified) }
        let moved = try item.object("moved")
        let (origin, originProof) = (try moved.bytes("statement"), try moved.proof())
        do {
            return Sighting(
                verified, moved: try verifier.verifyOrigin(origin, proof: originProof, of: verified))
        } catch {
            throw .refused(error)
        }
    }

    private func notice(
        _ item: Fields, of record: VerifiedStatement, _ verifier: inout RecordVerifier
    ) throws(VectorError) -> Sighting {
        let tombstone = try item.object("tombstone")
        let (bytes, proof) = (try tombstone.bytes("statement"), try tombstone.proof())
        let (count, index, path) = (try item.int("count"), try item.int("index"), try item.digests("path"))
        do {
            let target = try verifier.verify(bytes, proof: proof, recordName: nil)
            let gone = try verifier.check(
                DerivedDeletion(record: record, tombstone: target, count: count, index: index, path: path))
            return Sighting(gone, role: .gone(with: Sighting.Deletion(target)))
        } catch {
            throw .refused(error)
        }
    }
}
