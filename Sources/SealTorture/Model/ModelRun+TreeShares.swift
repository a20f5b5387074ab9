import SealKit
import SealLab
import SealStatements

/// Records are shared with what is below them, and not any more.
extension ModelRun {
    mutating func shareTree(_ owner: Int, _ random: inout SeededRandom) async throws {
        let person = 1 + random.below(Self.participants)
        guard let guest = random.one(of: devices.indices.filter { devices[$0].person == person }) else { return }
        let share = random.one(of: tree.shares.keys.sorted())
        switch (share, random.below(10)) {
        case (let share?, 0..<4): try await changeTreeShare(owner, share, person, guest, &random)
        case (let share?, 4): try await endTreeShare(owner, share)
        case (_?, 5): try await leaveTree(guest)
        default: try await openTreeShare(owner, person, guest, &random)
        }
    }

    private mutating func openTreeShare(_ owner: Int, _ person: Int, _ guest: Int, _ random: inout SeededRandom) async throws {
        guard let name = random.one(of: tree.leaves.filter { $0.value.share == nil }.keys.sorted()) else { return }
        let permission: ModelStore.Permission = random.chance(30) ? .readOnly : .readWrite
        doing = "device \(owner) shares \(name) of the tree with person \(person), who has \(permission)"
        let (device, user) = (devices[owner], try devices[guest].container.userRecordID())
        let root = try await device.database.record(for: Record.ID(recordName: name, zoneID: treeID(owner)))
        var share = Share(rootRecord: root, shareID: Record.ID(recordName: "share-\(name)", zoneID: treeID(owner)))
        share.addParticipant(try await device.container.shareParticipant(forUserRecordID: user, permission: permission))
        let canShare = tree.canShare(name)
        let saved: Share
        do { saved = try await device.database.save(share, rootRecord: root).share } catch {
            try checkCode(error.code, canShare ? nil : .alreadyShared)
            return count(.refusedInTree)
        }
        try check(canShare, "shares what is above or below something shared")
        tree.open(saved.recordID.recordName, root: name)
        try await accept(saved, on: guest)
        tree.set(permission, for: person, in: saved.recordID.recordName)
        count(.treeShared)
    }

    /// Somebody comes, may do more or less, or is taken out.
    private mutating func changeTreeShare(
        _ owner: Int, _ name: String, _ person: Int, _ guest: Int, _ random: inout SeededRandom
    ) async throws {
        let before = tree.shares[name]?[person]
        let isEnding = before != nil && random.chance(40)
        let wanted: ModelStore.Permission? = isEnding ? nil : before == .readWrite ? .readOnly : .readWrite
        doing = "device \(owner) lets person \(person) have \(wanted.map { "\($0)" } ?? "nothing") in share \(name) of the tree"
        let (device, user) = (devices[owner], try devices[guest].container.userRecordID())
        var share = try await device.database.share(withID: Record.ID(recordName: name, zoneID: treeID(owner)))
        if let wanted {
            share.addParticipant(try await device.container.shareParticipant(forUserRecordID: user, permission: wanted))
        } else {
            guard let found = share.participants.first(where: { $0.userIdentity.userRecordID?.recordName == user.recordName }) else {
                throw Finding("person \(person) is not among the participants of \(name)")
            }
            share.removeParticipant(found)
        }
        share = try await device.database.save(share)
        if before == nil { try await accept(share, on: guest) }
        tree.set(wanted, for: person, in: name)
        count(before == nil ? .treeInvited : isEnding ? .treeTakenOut : .treePermissionChanged)
    }

    private mutating func endTreeShare(_ owner: Int, _ name: String) async throws {
        doing = "device \(owner) ends share \(name) of the tree"
        let id = Record.ID(recordName: name, zoneID: treeID(owner))
        _ = try await devices[owner].database.modifyRecords(deleting: [id]).deleteResults[id]?.get()
        tree.end(name)
        count(.treeShareEnded)
    }

    private mutating func leaveTree(_ guest: Int) async throws {
        let device = devices[guest]
        doing = "device \(guest) of person \(device.person) leaves the tree"
        let id = treeID(guest)
        let found = await code { () throws(SealKitError) in try await device.database.leaveShare(of: id) }
        try checkCode(found, tree.leave(device.person))
        if found == nil { count(.leftTree) }
    }
}
