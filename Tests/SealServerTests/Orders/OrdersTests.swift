import Foundation
import SealKit
import SealLab
import Testing

@testable import SealServer
@testable import SealService

/// Two and three people's devices do the same things in every order there is, each through the real SDK against a real
/// server, and all end in the one state that a model says. What a device does not do for a while, it is offline for.
///
/// Of each kind some orders are played, others each time; `SEED` plays the same ones again, and `ORDERS=all`, as in
/// `make torture`, all.
@Suite(.timeLimit(.minutes(60))) struct OrdersTests {
    typealias Step = OrderModel.Step
    private static let origin = "https://orders.example"

    private static let twoPeople: [[Step]] = [
        [.invite(.bob), .write(.ann), .remove(.bob), .invite(.bob)],
        [.accept(.bob), .write(.bob), .accept(.bob)],
    ]
    private static let leaving: [[Step]] = [
        [.rotate, .write(.ann), .invite(.bob)],
        [.write(.bob), .leave(.bob), .forget(.bob), .accept(.bob)],
    ]
    private static let threePeople: [[Step]] = [
        [.remove(.bob), .write(.ann)],
        [.accept(.bob), .write(.bob)],
        [.accept(.carol), .leave(.carol)],
    ]

    /// Tells stories at once, as many as there are cores.
    private func tell(
        _ zones: [OrderZone], _ what: String, _ body: @escaping @Sendable (OrderZone) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var next = zones.makeIterator()
            func add() {
                guard let zone = next.next() else { return }
                group.addTask {
                    do { try await body(zone) } catch {
                        Issue.record(
                            "\(what)\(zone.isHierarchy ? ", of a hierarchy" : ""): \(error)\nafter: \(zone.story)")
                    }
                }
            }
            for _ in 0..<3 { add() }
            while try await group.next() != nil { add() }
        }
    }

    private func people(_ transport: MovingTransport) async throws -> [OrderModel.Actor: OrderPerson] {
        var people: [OrderModel.Actor: OrderPerson] = [:]
        for actor in OrderModel.Actor.allCases { people[actor] = try await OrderPerson(transport) }
        return people
    }

    private var limits: ServerLimits {
        var limits = ServerLimits()
        (limits.sharingRate, limits.requestRate, limits.readRate) = (0, 0, 0)
        return limits
    }

    private static func some(of all: [[Step]]) -> [[Step]] {
        let environment = ProcessInfo.processInfo.environment
        guard environment["ORDERS"] != "all" else { return all }
        let seed = environment["SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1...999_999_999)
        print("12 of \(all.count) orders: SEED=\(seed)")
        var random = SeededRandom(seed: seed)
        return Array(all.shuffled(using: &random).prefix(12))
    }

    /// - Parameter prologue: what comes before all of them, in one order.
    private func all(_ scripts: [[Step]], after prologue: [Step] = [], isHierarchy: Bool) async throws {
        let stories = Self.some(of: OrderModel.orders(of: scripts).map { prologue + $0 })
        try await RunningServer.with(limits: unlimited, publicOrigin: Self.origin) { server in
            let people = try await self.people(MovingTransport(origin: Self.origin, at: server))
            let zones = try stories.enumerated().map { try OrderZone($1, people, isHierarchy: isHierarchy, number: $0) }
            try await self.tell(zones, "in one of \(zones.count) orders") { zone in
                try await zone.create()
                try await zone.run(0..<zone.story.count)
                try await zone.check()
            }
        }
    }

    /// Everything at once, and hundreds of zones, are not what their rates are for.
    private var unlimited: AbuseLimits {
        var rules = AbuseLimits(limits)
        rules.lookup = .init(count: 1_000_000, window: rules.lookup.window)
        return rules
    }

    @Test(arguments: [false, true]) func inviteAcceptWriteRemoveAndAgain(isHierarchy: Bool) async throws {
        try await all(Self.twoPeople, isHierarchy: isHierarchy)
    }

    @Test(arguments: [false, true]) func leaveForgetAndComeBack(isHierarchy: Bool) async throws {
        try await all(Self.leaving, after: [.invite(.bob), .accept(.bob)], isHierarchy: isHierarchy)
    }

    @Test(arguments: [false, true]) func threePeopleInAllOrders(isHierarchy: Bool) async throws {
        try await all(Self.threePeople, after: [.invite(.bob), .invite(.carol)], isHierarchy: isHierarchy)
    }

    /// The server is restored from a copy in the middle of each story: what it has lost it gets back from the devices,
    /// whoever comes first.
    @Test func aRestoredServerEndsInTheSameState() async throws {
        let stories = OrderModel.orders(of: [
            [.write(.ann), .invite(.carol), .rotate], [.write(.bob), .accept(.carol)],
        ])
        .map { [.invite(.bob), .accept(.bob), .write(.bob)] + $0 }
        let returns = OrderModel.permutations(OrderModel.Actor.allCases)
        let folder = TemporaryFolder()
        let cut = 4
        let told = Told()
        try await RunningServer.with(limits: unlimited, publicOrigin: Self.origin, folder: folder) { server in
            let transport = try MovingTransport(origin: Self.origin, at: server)
            let people = try await self.people(transport)
            let zones = try stories.enumerated().map { try OrderZone($1, people, isHierarchy: false, number: $0) }
            (told.transport, told.zones) = (transport, zones)
            try await self.tell(zones, "before the backup") { zone in
                try await zone.create()
                try await zone.run(0..<cut)
            }
        }
        try FileManager.default.copyItem(atPath: folder.file("data"), toPath: folder.file("backup"))
        try await RunningServer.with(limits: unlimited, publicOrigin: Self.origin, folder: folder) { server in
            try told.transport?.move(to: server)
            try await self.tell(told.zones, "after the backup") { zone in
                try await zone.run(cut..<zone.story.count)
                try await zone.check()
            }
        }
        try FileManager.default.removeItem(atPath: folder.file("data"))
        try FileManager.default.moveItem(atPath: folder.file("backup"), toPath: folder.file("data"))
        try await RunningServer.with(limits: unlimited, publicOrigin: Self.origin, folder: folder) { server in
            try told.transport?.move(to: server)
            for (index, zone) in told.zones.enumerated() { zone.order = returns[index % returns.count] }
            try await self.tell(told.zones, "after the restore") { zone in
                try zone.restart()
                try await zone.comeBack(zone.order)
                // Grants that were lost are made up for by a new key, where the owner has written since.
                try await zone.check(wasRestored: true)
            }
        }
    }

    private final class Told: @unchecked Sendable {
        // Unchecked: written by one task, read after it.
        var transport: MovingTransport?
        var zones: [OrderZone] = []
    }
}
