// The module is made where there is no CloudKit but ours.
#if !canImport(Darwin)
    import CloudKit
    import Foundation
    import SealKit
    import SealLab

    /// What CloudKit's names cost: the same records saved and fetched by them, and by SealKit's.
    struct CloudKitBenchmark {
        private static let count = 10_000
        private static let rounds = 3
        private static let text = String(repeating: "0123456789", count: 8)

        private struct Mismatch: Error { let found: Int }

        /// Seconds.
        private struct Times {
            var save = Double.infinity
            var fetch = Double.infinity
            var whole: Double { save + fetch }

            mutating func best(_ other: Times) {
                if other.whole < whole { self = other }
            }
        }

        func run(_ report: inout Report) async throws {
            report.heading(
                "\(Self.count) records of ten sealed fields, saved and fetched by CloudKit's names",
                "Values are set and read each, records saved 400 at a time, the feed fetched from its beginning. Against the same by SealKit's names, in turns."
            )
            let server = try ServerProcess.temporary(
                arguments: ServerProcess.withoutRates)
            defer { server.remove() }
            let account = try await Account.create(
                transport: try HTTPTransport(server: server.origin), deviceName: "bench"
            ).account
            let accounts = AccountProvider()
            accounts.signIn(account, trust: try TrustStore())
            let sealed = try Container("org.sealkit.bench", accounts: accounts).privateDatabase
            let database = CKContainer(
                identifier: "org.sealkit.bench", setup: CKContainer.Setup(account: .provider(accounts))
            ).privateCloudDatabase
            var (own, named) = (Times(), Times())
            for round in 0..<Self.rounds {
                own.best(try await time(sealed, zone: "own-\(round)"))
                named.best(try await time(database, zone: "named-\(round)"))
            }
            report.row("saved by SealKit", own.save * 1_000, "ms")
            report.row("saved by CloudKit", named.save * 1_000, "ms", ratio: named.save / own.save)
            report.row("fetched by SealKit", own.fetch * 1_000, "ms")
            report.row("fetched by CloudKit", named.fetch * 1_000, "ms", ratio: named.fetch / own.fetch)
            report.row(
                "both by CloudKit", named.whole * 1_000, "ms", ratio: named.whole / own.whole, aim: .atMost(1.15))
        }

        // MARK: SealKit's names

        private func time(_ database: Database, zone name: String) async throws -> Times {
            let zone = try await database.save(RecordZone(zoneName: name)).zoneID
            let clock = ContinuousClock()
            var times = Times()
            times.save =
                try await clock.measure {
                    for start in stride(from: 0, to: Self.count, by: EndToEndBenchmark.batch) {
                        let records = (start..<min(Self.count, start + EndToEndBenchmark.batch)).map { index in
                            var record = Record(
                                recordType: "Note", recordID: Record.ID(recordName: "record-\(index)", zoneID: zone))
                            for field in 0..<4 { record.encryptedValues["text\(field)"] = Self.text }
                            for field in 0..<3 { record.encryptedValues["number\(field)"] = index + field }
                            for field in 0..<2 { record.encryptedValues["size\(field)"] = Double(index) / 3 }
                            record.encryptedValues["date"] = Date(timeIntervalSinceReferenceDate: Double(index))
                            return record
                        }
                        for result in try await database.modifyRecords(saving: records).saveResults.values {
                            _ = try result.get()
                        }
                    }
                } / .seconds(1)
            times.fetch =
                try await clock.measure {
                    var (found, token, isMore) = (0, ServerChangeToken?.none, true)
                    while isMore {
                        let page = try await database.recordZoneChanges(inZoneWith: zone, since: token)
                        for (_, result) in page.modifications {
                            let values = try result.get().encryptedValues
                            for field in 0..<4 where values["text\(field)"] as? String == Self.text { found += 1 }
                            for field in 0..<3 where values["number\(field)"] as? Int != nil { found += 1 }
                            for field in 0..<2 where values["size\(field)"] as? Double != nil { found += 1 }
                            if values["date"] as? Date != nil { found += 1 }
                        }
                        (token, isMore) = (page.changeToken, page.moreComing)
                    }
                    guard found == 10 * Self.count else { throw Mismatch(found: found) }
                } / .seconds(1)
            return times
        }

        // MARK: CloudKit's names

        private func time(_ database: CKDatabase, zone name: String) async throws -> Times {
            let zone = try await database.save(CKRecordZone(zoneName: name)).zoneID
            let clock = ContinuousClock()
            var times = Times()
            times.save =
                try await clock.measure {
                    for start in stride(from: 0, to: Self.count, by: EndToEndBenchmark.batch) {
                        let records = (start..<min(Self.count, start + EndToEndBenchmark.batch)).map { index in
                            let record = CKRecord(
                                recordType: "Note", recordID: CKRecord.ID(recordName: "record-\(index)", zoneID: zone))
                            let values = record.encryptedValues
                            for field in 0..<4 { values["text\(field)"] = Self.text }
                            for field in 0..<3 { values["number\(field)"] = index + field }
                            for field in 0..<2 { values["size\(field)"] = Double(index) / 3 }
                            values["date"] = Date(timeIntervalSinceReferenceDate: Double(index))
                            return record
                        }
                        let results = try await database.modifyRecords(saving: records, deleting: [])
                        for result in results.saveResults.values { _ = try result.get() }
                    }
                } / .seconds(1)
            times.fetch =
                try await clock.measure {
                    var (found, token, isMore) = (0, CKServerChangeToken?.none, true)
                    while isMore {
                        let page = try await database.recordZoneChanges(inZoneWith: zone, since: token)
                        for result in page.modificationResultsByID.values {
                            let values = try result.get().record.encryptedValues
                            for field in 0..<4 where values["text\(field)"] as? String == Self.text { found += 1 }
                            for field in 0..<3 where values["number\(field)"] as? Int != nil { found += 1 }
                            for field in 0..<2 where values["size\(field)"] as? Double != nil { found += 1 }
                            if values["date"] as? Date != nil { found += 1 }
                        }
                        (token, isMore) = (page.changeToken, page.moreComing)
                    }
                    guard found == 10 * Self.count else { throw Mismatch(found: found) }
                } / .seconds(1)
            return times
        }
    }
#endif
