import CloudKit
import Testing

@Suite(.timeLimit(.minutes(60))) struct ZoneTests {
    @Test func savingAndFetching() async throws {
        try await Cloud.runNotes { database, zone in
            #expect(CKRecordZone(zoneID: zone).capabilities == [])
            let fetched = try await database.recordZone(for: zone)
            #expect(fetched.capabilities == [.fetchChanges, .atomic, .sharing, .zoneWideSharing])
            #expect(fetched.share == nil)
            #expect(fetched.encryptionScope == .perRecord)
            let all = try await database.allRecordZones()
            #expect(Set(all.map(\.zoneID)) == [zone, .default])
            // 34
            let record = try await database.save(CKRecord.note("a", in: zone))
            try await database.save(CKRecordZone(zoneID: zone))
            _ = try await database.record(for: record.recordID)
            let absent = CKRecordZone.ID(zoneName: "Absent")
            let found = try await database.recordZones(for: [zone, absent])
            #expect(try found[zone]?.get().zoneID == zone)
            #expect(found[absent]?.code == .zoneNotFound)
            await expectFailure(.zoneNotFound) { _ = try await database.recordZone(for: absent) }
            await expectFailure(.invalidArguments) { try await database.save(CKRecordZone(zoneName: "")) }
        }
    }

    @Test func encryptionPerZone() async throws {
        try await Cloud.run { cloud in
            let database = try await cloud.container(of: "ann").privateCloudDatabase
            let zone = CKRecordZone(zoneName: "Whole")
            zone.encryptionScope = .perZone
            try await database.save(zone)
            #expect(try await database.recordZone(for: zone.zoneID).encryptionScope == .perZone)
        }
    }

    /// 35 and 37. A single deletion of an absent zone succeeds; among several it is that one's failure.
    @Test func deleting() async throws {
        try await Cloud.runNotes { database, zone in
            let before = try await database.databaseChanges(since: nil)
            #expect(before.modifications.map(\.zoneID).contains(zone))
            try await database.save(CKRecord.note("a", in: zone))
            #expect(try await database.deleteRecordZone(withID: zone) == zone)
            let after = try await database.databaseChanges(since: before.changeToken)
            #expect(after.deletions.map(\.zoneID) == [zone])
            #expect(after.deletions.first?.reason == .deleted)
            try await database.deleteRecordZone(withID: zone)
            let results = try await database.modifyRecordZones(saving: [], deleting: [zone])
            #expect(results.deleteResults[zone]?.code == .zoneNotFound)
        }
    }

    @Test func theSharedDatabaseMakesNone() async throws {
        try await Cloud.run { cloud in
            let database = try await cloud.container(of: "ann").sharedCloudDatabase
            await expectFailure(.badDatabase) { try await database.save(CKRecordZone(zoneName: "Notes")) }
        }
    }

    /// 40 and 41.
    @Test func feeds() async throws {
        try await Cloud.runNotes { database, zone in
            let record = CKRecord.note("a", in: zone)
            for number in 1...2 {
                record["number"] = number
                try await database.save(record)
            }
            let changes = try await database.recordZoneChanges(inZoneWith: zone, since: nil)
            #expect(changes.modificationResultsByID.count == 1)
            #expect(try changes.modificationResultsByID[record.recordID]?.get().record["number"] as? Int == 2)
            let data = try NSKeyedArchiver.archivedData(
                withRootObject: changes.changeToken, requiringSecureCoding: true)
            let token = try #require(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: data))
            #expect(token == changes.changeToken)
            let none = try await database.recordZoneChanges(inZoneWith: zone, since: token)
            #expect(none.modificationResultsByID.isEmpty)
            let ofDatabase = try await database.databaseChanges(since: nil).changeToken
            await expectFailure(.changeTokenExpired) {
                _ = try await database.recordZoneChanges(inZoneWith: zone, since: ofDatabase)
            }
        }
    }
}
