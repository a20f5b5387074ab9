import Foundation
import SealKit
import SealLab

/// Strikes servers at random moments under load, over and over, and checks after each restart what was promised.
struct CrashTorture {
    let seed: UInt64
    let rounds: Int
    let ground: any Ground

    static let container = "org.sealkit.torture"
    private static let devices = 4

    /// Of the tokens of former rounds, how many are kept, and how many of them go on in each round.
    private static let oldTokens = (kept: 20, used: 2)

    struct Totals {
        var rounds = 0
        var blows = ""
        var soundness = ""
        var requests = 0
        var count = Inspection.Count()
        var notified = 0
        var records = 0
        var upheavals = Steps()
        var sharing = Steps()
        var sharingKinds: [Sharers.Kind: Int] = [:]
        var repeatedAcceptances = 0
    }

    /// Of a device that makes one change after the other.
    struct Steps {
        var acknowledged = 0
        var unheard = 0
        var unheardAndDone = 0

        init() {}

        init<World>(_ known: KnownWorld<World>) {
            (acknowledged, unheard, unheardAndDone) = (known.steps, known.unheard, known.unheardAndDone)
        }
    }

    /// What is known of the server from round to round.
    private struct Knowledge {
        var states: [String: Feed.State] = [:]
        /// Zones as they once were: their tokens go on working.
        var old: [(zone: String, state: Feed.State)] = []
        var reader: Reader
    }

    /// - Returns: once the ground is removed.
    func run() async throws -> Totals { try await ground.used(play) }

    private func play() async throws -> Totals {
        var random = SeededRandom(seed: seed)
        let journal = Journal()
        let load = try await Load.make(ground, devices: Self.devices, journal: journal, random: &random)
        let sharers = try await Sharers.make(ground, journal: journal, random: random.fork())
        let transport = try ground.patientTransport()
        let base = "/database/1/\(Self.container)/development/private"
        var known = Knowledge(reader: Reader(try load.freshDevice()))
        for zone in load.zones { known.states[zone.zoneName] = Feed.State() }

        var totals = Totals()
        for round in stride(from: 1, through: rounds, by: 1) {
            journal.begin(round: round)
            try await crash(under: load, sharers, journal, round: round, &random)
            try check(
                journal.unexpected.isEmpty, "a client met an error that it should not: \(journal.unexpected.prefix(3))")
            try await ground.rise(&random)
            journal.comeUp()
            let feed = Feed(transport: transport, base: base, token: journal.token)
            let inspection = Inspection(journal: journal, feed: feed, round: round)
            let count = try await inspection.run(&known.states, limit: random.chance(50) ? 1 + random.below(50) : 0)
            try await load.upheaval.inspect(feed)
            try await sharers.inspect(feed)
            totals.notified += try await load.watcher.catchUp(round: round, feed)
            try await read(&known, load, feed, isLast: round == rounds, &random)
            try await ground.inspect()
            try await checkAssets(load, known.states, random: &random)
            try await known.reader.checkNoViolations()
            try await load.checkNoViolations()
            totals.rounds += 1
            totals.count.acknowledged = count.acknowledged
            totals.count.lost += count.lost
            totals.count.lostApplied += count.lostApplied
            totals.count.repeated += count.repeated
        }
        (totals.blows, totals.soundness) = (ground.blows, ground.soundness)
        totals.requests = journal.operations.count
        totals.records = known.reader.records.count
        totals.upheavals = Steps(await load.upheaval.known)
        totals.sharing = Steps(await sharers.known)
        totals.sharingKinds = await sharers.counts
        totals.repeatedAcceptances = await sharers.repeated
        // In fewer rounds chance may leave out any of them.
        let missing = Sharers.Kind.allCases.filter { totals.sharingKinds[$0] == nil }
        try check(rounds < 100 || missing.isEmpty, "nobody has ever \(missing.map(\.rawValue))")
        try check(
            totals.repeatedAcceptances > 0 || totals.sharingKinds[.accepted] == nil,
            "acceptances were acknowledged, and none was repeated")
        return totals
    }

    /// Everybody at work, and then the blow.
    private func crash(
        under load: Load, _ sharers: Sharers, _ journal: Journal, round: Int, _ random: inout SeededRandom
    ) async throws {
        // From before the first request to the middle of many, sometimes past a checkpoint; most often, and the first
        // time, after something was answered.
        let isEarly = round > 1 && random.chance(20)
        let moment = Duration.milliseconds(random.below(isEarly ? 10 : random.chance(10) ? 3_000 : 500))
        let isHearing = isEarly ? false : round == 1 || random.chance(20)
        let listening = Task { try await load.watcher.listen() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Whatever the blow comes to, nobody is waited for who works on.
            defer { journal.goDown() }
            for worker in load.workers { group.addTask { await worker.run() } }
            group.addTask { await load.upheaval.run() }
            group.addTask { await sharers.run() }
            while !isEarly, !journal.hasAnswer(of: round), journal.unexpected.isEmpty {
                try? await Task.sleep(for: .milliseconds(2))
            }
            if isHearing {
                try await until("a device that listens is told of nothing while others work") {
                    await load.watcher.isTold || !journal.unexpected.isEmpty
                }
            }
            try? await Task.sleep(for: moment)
            try await ground.strike(journal, isLast: round == rounds, &random)
        }
        listening.cancel()
        try await listening.value
    }

    /// Old tokens go on, and a device of each age reads every byte: one that follows, and now and then one that is new.
    private func read(
        _ known: inout Knowledge, _ load: Load, _ feed: Feed, isLast: Bool, _ random: inout SeededRandom
    ) async throws {
        for _ in 0..<Self.oldTokens.used {
            guard let old = random.one(of: known.old) else { break }
            _ = try await feed.advance(old.state, in: old.zone, limit: random.below(60))
        }
        if let (zone, state) = random.one(of: known.states.sorted { $0.key < $1.key }) {
            if known.old.count >= Self.oldTokens.kept { known.old.remove(at: random.below(known.old.count)) }
            known.old.append((zone, state))
        }
        if random.chance(10) || isLast { known.reader = Reader(try load.freshDevice()) }
        try await known.reader.follow(load.zones)
        try known.reader.checkEqual(known.states)
        if await load.upheaval.isIndexed, let zone = random.one(of: load.zones) {
            try await known.reader.checkQuery(above: random.below(1_000_000), in: zone)
        }
    }

    /// A device that has seen nothing opens some records that have assets, large ones among them: their bytes are there
    /// and verify.
    private func checkAssets(_ load: Load, _ states: [String: Feed.State], random: inout SeededRandom) async throws {
        let container = try load.freshDevice()
        let reader = container.privateDatabase
        for zone in load.zones {
            let names = (states[zone.zoneName]?.items ?? [:]).filter { !$0.value.assets.isEmpty }.keys.sorted()
            let large = names.filter { LargeAsset.isHad(by: $0) }
            for name in Set([random.one(of: names), random.one(of: large)].compactMap({ $0 })) {
                let record = try await reader.record(for: Record.ID(recordName: name, zoneID: zone))
                let asset: Asset? = record["scan"]
                let file = asset?.fileURL
                defer { if let file { try? FileManager.default.removeItem(at: file) } }
                try check(
                    file.flatMap { try? Data(contentsOf: $0) }
                        == (LargeAsset.isHad(by: name) ? load.large.bytes : load.assetBytes),
                    "the asset of \(name) is not what was saved")
            }
        }
        try await checkNoAccusation(container, by: "a device that has seen nothing before")
    }
}

extension CrashTorture.Totals {
    /// What was proven.
    var text: String {
        """
        \(blows)
          \(requests) requests; all \(count.acknowledged) acknowledged writes are there, none that was refused.
          \(count.lost) requests got no answer: \(count.lostApplied) of them had happened, as a whole where they were atomic, \
        and each had one effect when it was repeated, twice.
          \(count.repeated) answered requests were repeated: the same answers, no effect. All change tokens went on working and \
        delivered exactly what changed.
          Every field of the \(records) records that are left verified, opened, and came from one save; no device said of the \
        server that it did wrong.
          A device that listens was told of \(notified) changed records: of every change, of none that did not happen, of none twice.
          \(upheavals.acknowledged) cascades, deletions of zones, indexes made anew and schema deployments were acknowledged, and were there as a whole; \
        of \(upheavals.unheard) without an answer \(upheavals.unheardAndDone) had happened, as a whole.
          \(sharing.acknowledged) invitations, acceptances, removals, new keys and notes of a zone that is shared were acknowledged, and new devices of owner \
        and guest saw them; of \(sharing.unheard) without an answer \(sharing.unheardAndDone) had happened, as a whole. \(repeatedAcceptances) acceptances \
        were repeated, without effect where they had happened.
          \(soundness)
        """
    }
}
