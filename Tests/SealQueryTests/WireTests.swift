import SealCoding
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealQuery

@Suite(.timeLimit(.minutes(60))) struct WireTests {
    static let query = Query(
        recordType: "T",
        predicate: .init([
            .init(.never), .init(.compare("a", .lessOrEqual, .int64(3)), isNegated: true),
            .init(.between("a", .double(1), .double(2))),
            .init(.isIn("a", [])), .init(.beginsWith("a", "x")), .init(.contains("a", .data([1]))),
            .init(.containsAny("a", [.date(1)])),
            .init(.words("x y", all: false)), .init(.words("x y", all: true)),
            .init(.near("a", latitude: 1, longitude: 2, metres: 3)),
            .init(.compare("recordID", .equal, .reference(ReferenceValue(recordName: "x")))),
        ]),
        sortDescriptors: [
            .init(key: "a", ascending: false), .init(key: "b", relativeLocation: Location(latitude: 1, longitude: 2)),
        ])

    @Test func whatTravelsComesBack() throws {
        let bytes: [UInt8] = try Self.query.wire.serializedBytes()
        #expect(try Query(Sealkit_V1_Query(serializedBytes: bytes)) == Self.query)
        let json: String = try Self.query.wire.jsonString()
        #expect(try Query(Sealkit_V1_Query(jsonString: json)) == Self.query)
    }

    @Test(
        arguments: [
            { $0.recordType = "no type" }, { $0.filterBy = Array(repeating: $0.filterBy[1], count: 51) },
            { $0.filterBy[1].comparator = .unspecified }, { $0.filterBy[1].comparator = .UNRECOGNIZED(99) },
            { $0.filterBy[1].values = [] },
            { $0.filterBy[1].values += $0.filterBy[1].values }, { $0.filterBy[1].fieldName = "no name" },
            { $0.filterBy[1].fieldName = "" },
            { $0.filterBy[1].fieldName = "recordType" }, { $0.filterBy[1].values = [Sealkit_V1_Value()] },
            { $0.filterBy[2].negated = true },
            { $0.filterBy[2].values.removeLast() }, { $0.filterBy[4].values = [.with { $0.int64 = 1 }] },
            { $0.filterBy[3].values = Array(repeating: .with { $0.int64 = 1 }, count: 251) },
            { $0.filterBy[7].fieldName = "a" },
            { $0.filterBy[7].negated = true }, { $0.filterBy[9].distance = .nan }, { $0.filterBy[9].distance = -1 },
            { $0.filterBy[9].values = [.with { $0.location.latitude = 100 }] },
            { $0.filterBy[1].values = [.with { $0.list.values = [] }] },
            { $0.filterBy[1].values = [.with { $0.date = .nan }] },
            { $0.filterBy[1].values = [.with { $0.date = .infinity }] },
            { $0.filterBy[1].values = [.with { $0.date = -0.0 }] },
            { $0.filterBy[3].values = [.with { $0.date = -.infinity }] },
            { $0.filterBy[1].values = [.with { $0.string = String(repeating: "x", count: 1025) }] },
            { $0.sortBy = Array(repeating: $0.sortBy[0], count: 2) },
            { $0.sortBy = Array(repeating: $0.sortBy[0], count: 9) },
            { $0.sortBy[0].fieldName = "" }, { $0.sortBy[1].descending = true },
            { $0.sortBy[1].relativeLocation.longitude = .nan },
        ] as [@Sendable (inout Sealkit_V1_Query) -> Void])
    func refused(_ change: @Sendable (inout Sealkit_V1_Query) -> Void) {
        var wire = Self.query.wire
        change(&wire)
        #expect(throws: QueryError.self) { try Query(wire) }
    }

    @Test func damagedBytesNeverCrash() throws {
        let bytes: [UInt8] = try Self.query.wire.serializedBytes()
        for _ in 0..<20_000 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...3) { damaged[Int.random(in: damaged.indices)] = UInt8.random(in: 0...255) }
            guard let wire = try? Sealkit_V1_Query(serializedBytes: damaged), let query = try? Query(wire) else {
                continue
            }
            _ = query.matches(.init(recordType: "T", recordName: "x", fields: ["a": .int64(1)]))
            for condition in query.predicate.conditions {
                for kind in ValueKind.allCases { _ = condition.ranges(in: kind) }
            }
        }
    }
}
