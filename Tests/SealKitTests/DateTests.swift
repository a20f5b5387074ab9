import Foundation
import SealLab
import SealStatements
import Testing

@testable import SealKit

/// Dates, and lists without elements, over HTTP: what goes in comes out.
@Suite(.timeLimit(.minutes(60))) struct DateTests {
    private static func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }

    private static let dates: [Date] = [
        date(0), date(-0.0), date(0.1), date(-0.1), date(785_457_600.123_456_7), .distantPast, .distantFuture,
        date(1e300), date(-1e300),
        date(.greatestFiniteMagnitude), date(.leastNonzeroMagnitude), date(-.leastNonzeroMagnitude), date(-978_307_200),
        date(-978_307_200.000_001),
        Date(timeIntervalSince1970: 1_700_000_000.000_000_1), Date(),
    ]

    private func filled(_ record: Record, isPublic: Bool) -> Record {
        var record = record
        for (index, date) in Self.dates.enumerated() {
            let place = Location(latitude: 1, longitude: 2, timestamp: date)
            record["plain\(index)"] = date
            record["place\(index)"] = place
            guard !isPublic else { continue }
            record.encryptedValues["sealed\(index)"] = date
            record.encryptedValues["sealedPlace\(index)"] = place
        }
        record["all"] = Self.dates
        record["places"] = Self.dates.map { Location(latitude: 1, longitude: 2, timestamp: $0) }
        if !isPublic { record.encryptedValues["sealedAll"] = Self.dates }
        return record
    }

    private func check(_ record: Record, isPublic: Bool) {
        for (index, date) in Self.dates.enumerated() {
            #expect(record["plain\(index)"] == date, "\(date)")
            #expect((record["place\(index)"] as Location?)?.timestamp == date, "\(date)")
            guard !isPublic else { continue }
            #expect(record.encryptedValues["sealed\(index)"] == date, "\(date)")
            #expect((record.encryptedValues["sealedPlace\(index)"] as Location?)?.timestamp == date, "\(date)")
        }
        #expect(record["all"] == Self.dates)
        #expect((record["places"] as [Location]?)?.map(\.timestamp) == Self.dates)
        if !isPublic { #expect(record.encryptedValues["sealedAll"] == Self.dates) }
    }

    @Test func theVeryDateComesBack() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let id = Record.ID(recordName: "dates", zoneID: zone)
        try await ann.own.save(filled(Record(recordType: "Dates", recordID: id), isPublic: false))
        check(try await ann.onFreshDevice().own.record(for: id), isPublic: false)
        let publicID = Record.ID(recordName: "dates-\(UUID().uuidString)")
        try await ann.container.publicDatabase.save(
            filled(Record(recordType: "PublicDates", recordID: publicID), isPublic: true))
        check(try await ann.onFreshDevice().container.publicDatabase.record(for: publicID), isPublic: true)
    }

    @Test func queriesOrderThemByTheNumber() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let dates = [
            Self.date(-1e300), .distantPast, Self.date(-0.1), Self.date(-.leastNonzeroMagnitude), Self.date(0),
            Self.date(0.1), Self.date(0.1.nextUp), Self.date(1e300),
        ]
        let records = dates.enumerated().map { index, date in
            var record = Record(recordType: "Ordered", recordID: Record.ID(recordName: "\(index)", zoneID: zone))
            record["day"] = date
            return record
        }
        _ = try await ann.own.modifyRecords(saving: records.shuffled())
        func names(_ text: String, _ arguments: any Query.Argument...) async throws -> [String] {
            let order = Query.SortDescriptor(key: "day", ascending: true)
            let query = Query(
                recordType: "Ordered", predicate: try Query.Predicate(text: text, arguments: arguments),
                sortDescriptors: [order])
            return try await ann.own.records(matching: query, inZoneWith: zone).matchResults.map(\.0.recordName)
        }
        #expect(try await names("TRUEPREDICATE") == (0..<8).map(String.init))
        for (index, date) in dates.enumerated() {
            #expect(try await names("day = %@", date) == ["\(index)"])
            #expect(try await names("day < %@", date) == (0..<index).map(String.init))
            #expect(try await names("day >= %@", date) == (index..<8).map(String.init))
        }
        #expect(try await names("day BETWEEN {%@, %@}", Self.date(-0.0), Self.date(0.1)) == ["4", "5"])
        #expect(try await names("day IN %@", [Self.date(-0.0), .distantPast]) == ["1", "4"])
        #expect(throws: QueryError.self) { try Query.Predicate("day < %@", Self.date(.nan)) }
        // A predicate that no text was read for.
        let nan = Query(recordType: "Ordered", predicate: Query.Field<Date>("day") > Self.date(.infinity))
        #expect(await failure { _ = try await ann.own.records(matching: nan, inZoneWith: zone) } == .invalidArguments)
    }

    @Test func whatIsNoDateIsRefusedByItsFieldsName() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        for seconds in [Double.nan, .infinity, -.infinity] {
            let date = Self.date(seconds)
            let place = Location(latitude: 1, longitude: 2, timestamp: date)
            var all: [Record] = []
            for isSealed in [false, true] {
                for value in [date.recordValue, place.recordValue, [Date(), date].recordValue, [place].recordValue] {
                    var record = Record(recordType: "Note", recordID: Record.ID(recordName: "when", zoneID: zone))
                    if isSealed {
                        record.encryptedValues.setValue("starts", value)
                    } else {
                        record.setPlainValue("starts", value)
                    }
                    all.append(record)
                }
            }
            for record in all {
                let error = await #expect(throws: SealKitError.self) { try await ann.own.save(record) }
                #expect(error?.code == .invalidArguments)
                #expect(error?.reason.contains("starts") == true)
            }
        }
        #expect(
            await failure { _ = try await ann.own.record(for: Record.ID(recordName: "when", zoneID: zone)) }
                == .unknownItem)
    }

    @Test func anInvitationDoesNotLastUntilADateThatIsNone() async throws {
        let ann = try await Person()
        let (zone, _, _) = try await ann.share()
        for seconds in [Double.nan, .infinity, 1e300, -978_307_200, -1e300] {
            var link = Share.Participant.oneTimeURLParticipant()
            link.expirationDate = Self.date(seconds)
            let invited = link
            #expect(
                await failure { _ = try await ann.edit(zone) { $0.addParticipant(invited) } } == .invalidArguments,
                "\(seconds)")
        }
        var link = Share.Participant.oneTimeURLParticipant()
        link.expirationDate = .distantFuture
        let invited = link
        #expect(
            try await ann.edit(zone) { $0.addParticipant(invited) }.participants.last?.expirationDate == .distantFuture)
    }
}

/// As the command writes and reads them.
@Suite(.timeLimit(.minutes(60))) struct DateCommandTests {
    let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    private func run(_ arguments: String...) async throws -> Command {
        try await Command.finished(
            ServerProcess.executable, arguments + ["--key-file", temporary.url.appendingPathComponent("ann").path])
    }

    private func field(_ key: String) async throws -> [String: Any] {
        let said = try await run("record", "get", "first", "--zone", "Notes", "--json")
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(said.output.utf8)) as? [String: [String: Any]])
        let fields = try #require(object["record"]?["fields"] as? [String: [String: Any]])
        return try #require(fields[key])
    }

    @Test func whatIsPrintedIsTakenAgain() async throws {
        #expect(try await run("account", "create", "--server", ServerProcess.shared.get().origin).status == 0)
        #expect(try await run("zone", "create", "Notes").status == 0)
        let texts = [
            "2025-11-21T22:40:00.1234567Z", "2000-12-31T23:59:59.9Z", "@-63114076800", "@1e+300",
            "9999-12-31T23:59:59Z", "2001-01-01T00:00:00Z",
        ]
        let arguments = texts.enumerated().flatMap {
            ["--set", "day\($0):date=\($1)", "--seal", "sealed\($0):date=\($1)"]
        }
        let saved = try await Command.finished(
            ServerProcess.executable,
            [
                "record", "save", "--zone", "Notes", "--type", "Note", "--name", "first", "--set", "none:list-date=",
                "--seal", "all:list-date=\(texts.joined(separator: ","))",
            ]
                + arguments + ["--key-file", temporary.url.appendingPathComponent("ann").path])
        #expect(saved.status == 0, "\(saved.errors)")
        for (index, text) in texts.enumerated() {
            #expect(try await field("day\(index)")["value"] as? String == text)
            #expect(try await field("sealed\(index)")["value"] as? String == text)
        }
        let (all, none) = (try await field("all"), try await field("none"))
        #expect(all["value"] as? [String] == texts)
        #expect(all["kind"] as? String == "list-date")
        #expect(none["value"] as? [String] == [])
        #expect(none["kind"] as? String == "list")
        let refused = try await run(
            "record", "save", "--zone", "Notes", "--name", "first", "--update", "--set", "day0:date=@inf")
        #expect(refused.status == 65, "\(refused.errors)")
        #expect(refused.errors.contains("day0"), "\(refused.errors)")
    }
}

/// A list without elements is of no kind.
@Suite(.timeLimit(.minutes(60))) struct EmptyListTests {
    private func check(_ record: Record, isPublic: Bool) {
        #expect(record.plainValue("none") == .list([]))
        #expect(record["none"] == [String]())
        #expect(record["none"] == [Int]())
        #expect(record["none"] == [Date]())
        #expect(record["none"] == [] as [Location])
        #expect(record["none"] == [Record.Reference]())
        #expect(record["none"] as String? == nil)
        guard !isPublic else { return }
        #expect(record.encryptedValues["sealed"] == [Data]())
        #expect(record.encryptedValues["sealed"] == [Double]())
    }

    @Test func itReadsAsAnArrayOfEveryType() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var record = Record(recordType: "Empty", recordID: Record.ID(recordName: "a", zoneID: zone))
        record["none"] = [] as [String]
        record.encryptedValues["sealed"] = [] as [Date]
        try await ann.own.save(record)
        let found = try await ann.onFreshDevice().own.record(for: record.recordID)
        check(found, isPublic: false)
        // Nothing was declared by it: the first list with elements says what the field holds.
        var next = found
        next["none"] = [Date.distantPast]
        next.encryptedValues["sealed"] = [1.5]
        next = try await ann.own.save(next)
        #expect(try await ann.onFreshDevice().own.record(for: record.recordID)["none"] == [Date.distantPast])
        next["none"] = ["of strings"]
        let other = next
        #expect(await failure { try await ann.own.save(other) } == .invalidArguments)
        next["none"] = [] as [String]
        try await ann.own.save(next)
        check(try await ann.onFreshDevice().own.record(for: record.recordID), isPublic: true)

        let publicID = Record.ID(recordName: "empty-\(UUID().uuidString)")
        var published = Record(recordType: "PublicEmpty", recordID: publicID)
        published["none"] = [] as [Int]
        try await ann.container.publicDatabase.save(published)
        check(try await ann.onFreshDevice().container.publicDatabase.record(for: publicID), isPublic: true)
    }

    @Test func listsInListsAreRefusedByTheirFieldsName() async throws {
        let ann = try await Person()
        var record = ann.note(in: try await ann.makeZone(), "x")
        record["table"] = [[1], []] as [[Int]]
        let nested = record
        let error = await #expect(throws: SealKitError.self) { try await ann.own.save(nested) }
        #expect(error?.code == .invalidArguments)
        #expect(error?.reason.contains("table") == true)
    }

    @Test func queriesFindNothingInIt() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        func record(_ name: String, _ tags: [String]?) -> Record {
            var record = Record(recordType: "EmptyTags", recordID: Record.ID(recordName: name, zoneID: zone))
            record["tags"] = tags
            return record
        }
        _ = try await ann.own.modifyRecords(saving: [
            record("none", []), record("red", ["red"]), record("blue", ["blue"]), record("absent", nil),
        ])
        func names(_ text: String, _ arguments: any Query.Argument...) async throws -> Set<String> {
            let query = Query(recordType: "EmptyTags", predicate: try Query.Predicate(text: text, arguments: arguments))
            return Set(try await ann.own.records(matching: query, inZoneWith: zone).matchResults.map(\.0.recordName))
        }
        #expect(try await names("tags CONTAINS 'red'") == ["red"])
        #expect(try await names("NOT tags CONTAINS 'red'") == ["none", "blue"])
        #expect(try await names("ANY tags IN %@", ["red", "blue"]) == ["red", "blue"])
        #expect(try await names("ANY tags IN %@", [String]()) == [])
        #expect(try await names("NOT ANY tags IN %@", [Int]()) == ["none", "red", "blue"])
        #expect(try await names("recordID IN %@", [] as [String]) == [])
    }
}
