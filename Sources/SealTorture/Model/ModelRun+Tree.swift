import SealKit
import SealLab

/// A zone of hierarchies that are shared by themselves, one call at a time.
extension ModelRun {
    mutating func playTree(_ device: Int, _ owner: Int, _ random: inout SeededRandom) async throws {
        switch random.below(20) {
        case 0..<8: try await saveLeaf(random.chance(50) ? owner : device, &random)
        case 8..<10: try await deleteLeaf(random.chance(50) ? owner : device, &random)
        case 10..<14: try await readTree(device)
        case 14: try await lookUpLeaves(device)
        case 15: try await renewTreeKeys(owner, &random)
        default: try await shareTree(owner, &random)
        }
    }

    func treeID(_ device: Int) -> RecordZone.ID { devices[device].zoneID(ModelTree.zone) }

    // MARK: Writing

    /// A new record, or one that is changed and perhaps moved: within its share, into it, or out of it.
    private mutating func saveLeaf(_ device: Int, _ random: inout SeededRandom) async throws {
        let person = devices[device].person
        let seen = tree.visible(to: person).keys.sorted()
        let number = random.below(1_000)
        let isNew = seen.isEmpty || (tree.leaves.count < Self.mostLeaves && random.chance(40))
        let name = isNew ? tree.newName() : seen[random.below(seen.count)]
        let older = seen.filter { $0 < name }
        var parent: String??
        // Only the owner gives a root another parent.
        if isNew || (random.chance(40) && (person == 0 || tree.leaves[name]?.share == nil)) {
            parent = .some(random.chance(80) ? random.one(of: older) : nil)
        }
        let usesOwn = random.chance(30)
        doing = "device \(device) saves \(name) (share \(tree.share(of: name) ?? "none")) with \(number)\(parent.map { ", parent \($0 ?? "none")" } ?? "")"
        let database = devices[device].database
        var record = ModelLeaves.new(name, treeID(device))
        if !isNew {
            if usesOwn, let own = devices[device].leaves.records[name] {
                record = own
            } else {
                record = try await database.record(for: record.recordID)
            }
        }
        ModelLeaves.set(number, in: &record)
        // Where a copy has that parent already nothing of it is changed, whatever the server has by now.
        if !isNew, let wanted = parent, wanted == record.parent?.recordName { parent = nil }
        if let parent { record.parent = parent.map { Record.Reference(recordName: $0) } }
        let before = tree.share(of: name)
        let draft = record
        let found = await code { () throws(SealKitError) in
            let results = try await database.modifyRecords(saving: [draft], savePolicy: .changedKeys)
            _ = try results.saveResults[draft.recordID]?.get()
        }
        try checkCode(found, tree.save(name, by: person, number: number, parent: parent))
        guard found == nil else { return count(.refusedInTree) }
        let after = tree.share(of: name)
        count(isNew ? .leavesMade : before == after ? .leavesChanged : before == nil ? .movedIn : after == nil ? .movedOut : .movedAcross)
        if person != 0 { count(.leavesByParticipants) }
    }

    private static let mostLeaves = 12

    private mutating func deleteLeaf(_ device: Int, _ random: inout SeededRandom) async throws {
        let person = devices[device].person
        guard let name = random.one(of: tree.leaves.keys.sorted()) else { return }
        let isRoot = tree.leaves[name]?.share != nil
        doing = "device \(device) deletes \(isRoot ? "root" : "leaf") \(name) (share \(tree.share(of: name) ?? "none"))"
        let (database, id) = (devices[device].database, Record.ID(recordName: name, zoneID: treeID(device)))
        let found = await code { () throws(SealKitError) in
            _ = try await database.modifyRecords(deleting: [id]).deleteResults[id]?.get()
        }
        let wasThere = tree.sees(person, name)
        try checkCode(found, tree.delete(name, by: person))
        guard found == nil else { return count(.refusedInTree) }
        if wasThere { count(isRoot ? (person == 0 ? .rootsDeleted : .leftTree) : .leavesDeleted) }
    }

    // MARK: Reading

    /// What a device has after reading on, or from the start, is what its person may see, and nothing else.
    mutating func readTree(_ device: Int) async throws {
        let person = devices[device].person
        doing = "device \(device) reads the tree \(devices[device].leaves.token == nil ? "from the start" : "since a token")"
        let isThere = tree.isThere(for: person)
        let (database, id) = (devices[device].database, treeID(device))
        var leaves = devices[device].leaves
        while true {
            let page: Database.RecordZoneChanges
            do {
                page = try await database.recordZoneChanges(inZoneWith: id, since: leaves.token, resultsLimit: 3)
            } catch {
                devices[device].leaves = ModelLeaves()
                if error.code == .changeTokenExpired, leaves.token != nil, leaves.joined != tree.joined(by: person) {
                    leaves = ModelLeaves()
                    continue
                }
                return try checkCode(error.code, isThere ? nil : .zoneNotFound)
            }
            if leaves.token == nil { leaves.joined = tree.joined(by: person) }
            for (id, result) in page.modifications {
                let record = try result.get()
                if record.recordType == ModelTree.type { leaves.records[id.recordName] = record }
            }
            for (id, _) in page.deletions { leaves.records[id.recordName] = nil }
            leaves.token = page.changeToken
            guard page.moreComing else { break }
        }
        try check(isThere, "a tree that is not there answers")
        let expected = tree.visible(to: person)
        try check(
            leaves.records.keys.sorted() == expected.keys.sorted(),
            "has \(leaves.records.keys.sorted()) after reading, not \(expected.keys.sorted())")
        for (name, leaf) in expected {
            if let record = leaves.records[name] { try ModelLeaves.compare(record, leaf, "after reading") }
        }
        devices[device].leaves = leaves
        count(person == 0 ? .treeRead : .treeReadByParticipants)
    }

    private mutating func lookUpLeaves(_ device: Int) async throws {
        let person = devices[device].person
        let names = tree.leaves.keys.sorted()
        guard !names.isEmpty else { return }
        doing = "device \(device) looks up all of the tree"
        let zone = treeID(device)
        let found = try await devices[device].database.records(for: names.map { Record.ID(recordName: $0, zoneID: zone) })
        for (id, result) in found {
            guard let leaf = tree.leaves[id.recordName], tree.sees(person, id.recordName) else {
                try checkCode(result.code, tree.isThere(for: person) ? .unknownItem : .zoneNotFound)
                continue
            }
            try ModelLeaves.compare(try result.get(), leaf, "looked up")
        }
        try check(found.count == names.count, "\(found.count) results, not \(names.count)")
        count(.leavesLookedUp)
    }

    private mutating func renewTreeKeys(_ owner: Int, _ random: inout SeededRandom) async throws {
        let (database, id) = (devices[owner].database, treeID(owner))
        if random.chance(50) {
            let share = random.one(of: tree.shares.keys.sorted())
            doing = "device \(owner) opens a new key of the tree's \(share.map { "share \($0)" } ?? "own")"
            try await database.rotateKeys(of: id, shareRecordName: share)
            if share != nil { count(.treeRotated) }
        } else {
            doing = "device \(owner) rekeys the tree"
            let result = try await database.rekey(id)
            try check(result.failures.isEmpty && result.writtenByOthers == 0, "fails for \(result.failures)")
            if result.rekeyed > 0 { count(.treeRekeyed) }
        }
    }
}

extension Result where Failure == SealKitError {
    fileprivate var code: SealKitError.Code? { if case .failure(let error) = self { error.code } else { nil } }
}
