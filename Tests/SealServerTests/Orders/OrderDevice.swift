import Foundation
import SealClient
import SealKit
import SealLab
import SealPrimitives
import SealService
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization

@testable import SealKit

/// Leads to a server under its public name, wherever it listens: one that is started anew has another port.
final class MovingTransport: PassingTransport {
    let origin: String
    private let current: Mutex<HTTPTransport>

    init(origin: String, at server: RunningServer) throws {
        self.origin = origin
        current = Mutex(try HTTPTransport(server: server.origin))
    }

    func move(to server: RunningServer) throws {
        let transport = try HTTPTransport(server: server.origin)
        current.withLock { $0 = transport }
    }

    var next: any Transport { current.withLock { $0 } }
}

/// Somebody with one device in one zone's story: what the device has seen there, nothing else does.
struct OrderPerson: Sendable {
    let account: Account
    let name: String

    init(_ transport: MovingTransport) async throws {
        account = try await Account.create(transport: transport, deviceName: "orders").account
        let container = try Container("org.example.orders", account: account)
        _ = try await container.privateDatabase.allRecordZones()
        name = try container.userRecordID().recordName
    }

    /// A device that has seen what `trust` holds.
    func device(_ trust: TrustStore) throws -> Container {
        try Container("org.example.orders", account: account, trust: trust)
    }
}

/// One zone, its people's devices, and what should have come of what they did.
final class OrderZone: @unchecked Sendable {
    // Unchecked: one task after another uses it.
    let story: [OrderModel.Step]
    let isHierarchy: Bool
    private let people: [OrderModel.Actor: OrderPerson]
    private var devices: [OrderModel.Actor: Container] = [:]
    private var trusts: [OrderModel.Actor: TrustStore] = [:]
    private let zoneName: String
    private var url = ""
    private var shareName: String?
    private var firstKey: UInt32 = 0
    private(set) var model = OrderModel()
    /// What each device has written last, as its app keeps it.
    private var copies: [OrderModel.Actor: Record] = [:]
    /// In which the devices come back after a restore.
    var order: [OrderModel.Actor] = []

    struct Wrong: Error, CustomStringConvertible { let description: String }

    init(_ story: [OrderModel.Step], _ people: [OrderModel.Actor: OrderPerson], isHierarchy: Bool, number: Int) throws {
        (self.story, self.people, self.isHierarchy) = (story, people, isHierarchy)
        zoneName = "zone\(number)"
        for actor in people.keys { try forget(actor) }
    }

    private func forget(_ actor: OrderModel.Actor) throws {
        let trust = try TrustStore()
        trusts[actor] = trust
        devices[actor] = try person(actor).device(trust)
    }

    /// The same devices, started anew.
    func restart() throws {
        for (actor, trust) in trusts { devices[actor] = try person(actor).device(trust) }
    }

    private func person(_ actor: OrderModel.Actor) throws -> OrderPerson {
        guard let person = people[actor] else { throw Wrong(description: "nobody") }
        return person
    }

    private func device(_ actor: OrderModel.Actor) throws -> Container {
        guard let device = devices[actor] else { throw Wrong(description: "nobody") }
        return device
    }

    private func database(_ actor: OrderModel.Actor) throws -> SealKit.Database {
        actor == .ann ? try device(actor).privateDatabase : try device(actor).sharedDatabase
    }

    private func zoneID(_ actor: OrderModel.Actor) throws -> RecordZone.ID {
        actor == .ann
            ? RecordZone.ID(zoneName: zoneName) : RecordZone.ID(zoneName: zoneName, ownerName: try person(.ann).name)
    }

    private func keeper(_ actor: OrderModel.Actor) throws -> ZoneKeeper {
        try database(actor).keeper(zoneID(actor), shareName)
    }

    // MARK: Events

    func create() async throws {
        let own = try database(.ann)
        try await own.save(RecordZone(zoneName: zoneName))
        if isHierarchy {
            var root = Record(recordType: "Note", recordID: Record.ID(recordName: "root", zoneID: try zoneID(.ann)))
            root.encryptedValues["body"] = "root"
            root = try await own.save(root)
            let saved = try await own.save(Share(rootRecord: root), rootRecord: root)
            (url, shareName) = (saved.share.url ?? "", saved.share.recordID.recordName)
        } else {
            url = try await own.save(Share(recordZoneID: try zoneID(.ann))).url ?? ""
        }
        firstKey = try await keeper(.ann).refresh().roster.currentEpoch.number
    }

    func run(_ range: Range<Int>) async throws {
        for index in range {
            let step = story[index]
            let text = "\(index): \(step)"
            let isPossible = model.take(step, text)
            do {
                try await perform(step, text)
                guard isPossible else { throw Wrong(description: "\(text) was possible") }
            } catch let error as SealKitError {
                guard !isPossible else { throw Wrong(description: "\(text): \(error)") }
                // Refused for what it is, not for what it looks like.
                let expected: [SealKitError.Code] = [.zoneNotFound, .unknownItem, .permissionFailure]
                guard expected.contains(error.code) else { throw Wrong(description: "\(text): \(error)") }
            }
        }
    }

    private func perform(_ step: OrderModel.Step, _ text: String) async throws {
        switch step {
        case .invite(let actor):
            var share = try await share()
            guard try participant(actor, in: share) == nil else { return }
            share.addParticipant(
                try await device(.ann).shareParticipant(
                    forUserRecordID: Record.ID(recordName: try person(actor).name), permission: .readWrite))
            try await database(.ann).save(share)
        case .remove(let actor):
            var share = try await share()
            guard let found = try participant(actor, in: share) else { return }
            share.removeParticipant(found)
            try await database(.ann).save(share)
        case .rotate:
            try await database(.ann).rotateKeys(of: zoneID(.ann), shareRecordName: shareName)
        case .accept(let actor):
            let device = try device(actor)
            try await device.accept(try await device.shareMetadata(for: url))
        case .leave(let actor):
            try await database(actor).leaveShare(of: zoneID(actor))
        case .write(let actor):
            try await write(actor, text)
        case .forget(let actor):
            try await checkNoViolations(actor)
            try forget(actor)
            copies[actor] = nil
        }
    }

    private func share() async throws -> Share {
        let zoneID = try zoneID(.ann)
        guard let shareName else { return try await database(.ann).share(for: zoneID) }
        return try await database(.ann).share(withID: Record.ID(recordName: shareName, zoneID: zoneID))
    }

    private func participant(_ actor: OrderModel.Actor, in share: Share) throws -> Share.Participant? {
        let name = try person(actor).name
        return share.participants.first { $0.userIdentity.userRecordID?.recordName == name }
    }

    private func write(_ actor: OrderModel.Actor, _ text: String) async throws {
        let (database, zoneID) = (try database(actor), try zoneID(actor))
        let id = Record.ID(recordName: "by-\(actor)", zoneID: zoneID)
        var record = Record(recordType: "Note", recordID: id)
        if let copy = copies[actor] {
            record = copy
        } else if model.texts[actor] != text, let found = try? await database.record(for: id) {
            record = found
        }
        record.encryptedValues["body"] = text
        if isHierarchy { record.parent = Record.Reference(recordName: "root") }
        let results = try await database.modifyRecords(saving: [record], savePolicy: .changedKeys)
        copies[actor] = try results.saveResults[id]?.get()
    }

    // MARK: After a restore

    /// Each device comes by, in this order, and gives back what it has: rosters by itself, records by its app.
    func comeBack(_ order: [OrderModel.Actor]) async throws {
        for actor in order + order where model.members.contains(actor) || actor == .ann {
            // It may take another device first.
            do { _ = try await keeper(actor).refresh() } catch {
                guard let refused = error as? SealKitError, [.rollback, .zoneNotFound].contains(refused.code) else {
                    throw error
                }
            }
        }
        // By and by everybody reads on; where keys of others were lost, its owner's device, which may say so first,
        // opens another one for all.
        let (owners, zone) = (try database(.ann), try zoneID(.ann))
        _ = try await owners.recordZoneChanges(inZoneWith: zone)
        do { try await owners.maintain(zone) } catch {
            guard error.code == .rollback else { throw error }
            try await owners.maintain(zone)
        }
        for actor in order {
            guard let copy = copies[actor], model.members.contains(actor) else { continue }
            let results = try await database(actor).modifyRecords(saving: [copy], savePolicy: .restoring)
            copies[actor] = try results.saveResults[copy.recordID]?.get()
        }
    }

    // MARK: What came of it

    /// Everybody who may read, on the device that it has had all along and on a fresh one, sees what the model says;
    /// who is out holds no key of what came since.
    /// - Parameter wasRestored: there may be more keys.
    func check(wasRestored: Bool = false) async throws {
        let owners = try await keeper(.ann).refresh()
        let names = Set(try model.members.map { try person($0).name })
        try same(Set(owners.roster.members.keys.map(\.recordName)), names, "members")
        let invited = Set(owners.roster.invitations.values.compactMap { $0.invitee?.userID.recordName })
        try same(invited, Set(try model.invited.map { try person($0).name }), "invited")
        let keys = Int(owners.roster.currentEpoch.number) - Int(firstKey)
        if !wasRestored {
            try same(keys, model.keys, "keys")
            try same(owners.roster.rotationDue, model.isDue, "due")
        }
        for actor in people.keys {
            guard model.members.contains(actor) else {
                try await checkOut(actor)
                continue
            }
            try same(try await keeper(actor).refresh().roster.head, owners.roster.head, "head of \(actor)")
            try await checkRecords(actor, "\(actor)")
            let kept = (devices[actor], trusts[actor])
            try forget(actor)
            _ = try await keeper(actor).refresh()
            try await checkRecords(actor, "a fresh device of \(actor)")
            if !wasRestored { try await checkNoViolations(actor) }
            (devices[actor], trusts[actor]) = kept
        }
        // A server that was restored has taken back what devices know of.
        if !wasRestored { for actor in people.keys { try await checkNoViolations(actor) } }
    }

    private func checkNoViolations(_ actor: OrderModel.Actor) async throws {
        let violations = try await device(actor).violations()
        try same(violations.map(\.reason), [], "what \(actor) says that the server did wrong")
    }

    private func checkRecords(_ actor: OrderModel.Actor, _ who: String) async throws {
        let changes = try await database(actor).recordZoneChanges(inZoneWith: try zoneID(actor))
        var found: [String: String] = [:]
        for change in changes.modifications where change.recordID.recordName.hasPrefix("by-") {
            found[change.recordID.recordName] = try change.result.get().encryptedValues["body"]
        }
        let expected = Dictionary(uniqueKeysWithValues: model.texts.map { ("by-\($0.key)", $0.value) })
        try same(found, expected, "records for \(who)")
    }

    private func checkOut(_ actor: OrderModel.Actor) async throws {
        let keeper = try keeper(actor)
        var view = await keeper.view
        do { view = try await keeper.refresh() } catch {
            // The log of what they never were in is not theirs to read.
            guard [.zoneNotFound, .unknownItem].contains(error.code) else {
                throw Wrong(description: "\(actor), who is out, reads the log: \(error)")
            }
        }
        if let view {
            try same(view.isMember, false, "\(actor) in the zone")
            let last = model.lastKey[actor] ?? -1
            try same(view.keys.keys.allSatisfy { Int($0) - Int(firstKey) <= last }, true, "no newer key for \(actor)")
        }
        try same(await code(of: actor), .zoneNotFound, "what the server says to \(actor), who is out")
    }

    /// Asks the server itself for what is in the zone, whatever the device knows of that.
    private func code(of actor: OrderModel.Actor) async throws -> SealKitError.Code? {
        let id = try zoneID(actor)
        let request = Sealkit_V1_RecordChangesRequest.with { request in
            request.zone = Sealkit_V1_ZoneID.with { ($0.zoneName, $0.ownerName) = (id.zoneName, id.ownerName) }
        }
        do {
            let _: Sealkit_V1_RecordChangesResponse = try await device(actor).core.call(
                .shared, Endpoints.records.changes, request)
            return nil
        } catch let error as SealKitError {
            return error.code
        }
    }

    private func same<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
        guard found == expected else { throw Wrong(description: "\(what): \(found), not \(expected)") }
    }
}
