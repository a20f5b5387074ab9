import Foundation
import SealClient
import SealLab
import SealPrimitives
import SealWire
import Testing

/// Messages that are written and read by hand, against SwiftProtobuf.
@Suite("Wire", .timeLimit(.minutes(60)))
struct WireTests {
    @Test("Every message has SwiftProtobuf's bytes, and its fields SwiftProtobuf's names", arguments: MessagePair.all)
    func sameBytes(pair: MessagePair) throws {
        #expect(pair.testDescription == pair.generatedName.split(separator: ".").last.map(String.init))
        for seed in 0..<60 {
            let bytes = pair.fill(UInt64(seed))
            #expect(pair.bySwiftProtobuf(bytes) == bytes, "written otherwise, seed \(seed)")
            #expect(pair.byHand(bytes) == bytes, "read otherwise, seed \(seed)")
            let shown = try pair.shown(bytes)
            #expect(shown.byHand == shown.bySwiftProtobuf, "seed \(seed)")
        }
    }

    @Test("Every message knows the fields that SwiftProtobuf knows, and no others", arguments: MessagePair.all)
    func sameFields(pair: MessagePair) {
        let contents: [(form: UInt64, bytes: [UInt8])] = [
            (0, [1]), (1, [0, 0, 0, 0, 0, 0, 0xF0, 0x3F]), (2, [0]), (2, [1, 0x61]), (5, [0, 0, 0x80, 0x3F]),
        ]
        for number in UInt64(1)...300 {
            for content in contents {
                let bytes = varint(number << 3 | content.form) + content.bytes
                guard let known = pair.bySwiftProtobuf(bytes) else { continue }
                let read = pair.byHand(bytes)
                // A field of another form than its own is refused here and unknown there.
                #expect(read == known || (read == nil && known.isEmpty), "field \(number), form \(content.form)")
            }
        }
    }

    @Test("Whatever is read of altered bytes, SwiftProtobuf reads alike", arguments: MessagePair.all)
    func alteredBytes(pair: MessagePair) {
        var random = SeededRandom(seed: 7)
        var (taken, refused) = (0, 0)
        for seed in 0..<150 {
            var bytes = pair.fill(UInt64(seed % 20))
            for _ in 0...random.below(3) {
                let place = random.below(bytes.count + 1)
                switch random.below(4) {
                case 0 where place < bytes.count: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                case 1 where place < bytes.count: bytes[place] ^= 1 << UInt8(random.below(8))
                case 2: bytes = [UInt8](bytes[..<place])
                default:
                    bytes.insert(contentsOf: pair.fill(UInt64(random.below(20))).prefix(random.below(40)), at: place)
                }
            }
            guard let read = pair.byHand(bytes) else {
                refused += 1
                continue
            }
            taken += 1
            #expect(pair.bySwiftProtobuf(bytes) == read)
        }
        #expect(taken > 0)
        if !pair.fill(1).isEmpty { #expect(refused > 0) }
    }

    @Test(
        "What has no one meaning is refused",
        arguments: [
            ("cut within a tag", [0x8A]),
            ("cut within a length", [0x3A, 0x80]),
            ("a length beyond the end", [0x3A, 5, 0x61]),
            ("a length beyond what can be counted", [0x3A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]),
            ("eight bytes, cut", [0xF1, 0x06, 0, 0, 0]),
            ("a number in more bytes than it needs", [0x48, 0x81, 0x00]),
            ("a length in more bytes than it needs", [0x3A, 0x81, 0x00, 0x61]),
            ("a number of eleven bytes", [0x48, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]),
            ("a number of 65 bits", [0x48, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02]),
            ("field 0", [0x00, 0x01]),
            ("a tag of 33 bits", [0x80, 0x80, 0x80, 0x80, 0x10, 0x00]),
            ("text as a number", [0x08, 0x01]),
            ("a number as text", [0x4A, 0x01, 0x61]),
            ("a group", [0x0B, 0x0C]),
            ("an unknown group", [0xA3, 0x06, 0xA4, 0x06]),
            ("the end of a group", [0x0C]),
            ("form 6", [0x0E]),
            ("a flag of 2", [0x50, 0x02]),
            ("text that is no UTF-8", [0x0A, 0x02, 0xC3, 0x28]),
            ("a surrogate in text", [0x0A, 0x03, 0xED, 0xA0, 0x80]),
            ("a proof twice", [0x42, 0x00, 0x42, 0x00]),
        ])
    func refused(what: String, bytes: [UInt8]) {
        #expect(throws: SealError.malformed) { try Wire.Record(protobuf: bytes) }
    }

    @Test("A number that its field has no room for is refused")
    func largeNumber() {
        #expect(throws: SealError.malformed) { try Wire.Grant(protobuf: [0x18, 0x80, 0x80, 0x80, 0x80, 0x10]) }
        #expect(throws: SealError.malformed) { try Wire.Condition(protobuf: [0x10, 0x10]) }
    }

    @Test("Unknown fields are passed over, and the last of several counts")
    func lastOne() throws {
        let unknown: [UInt8] = [0xA2, 0x06, 0x01, 0x00, 0xA8, 0x06, 0x01, 0xB5, 0x06, 0, 0, 0, 0, 0xB9, 0x06]
        let bytes = [0x0A, 0x01, 0x61] + unknown + [0, 0, 0, 0, 0, 0, 0, 0] + [0x0A, 0x01, 0x62]
        #expect(try Wire.ZoneID(protobuf: bytes).zoneName == "b")
        // A oneof's members too: its last one counts, and one that is a message may not come twice.
        let value = try Wire.Value(protobuf: [0x0A, 0x01, 0x61, 0x18, 0x02])
        guard case .int64(1) = value.kind else {
            Issue.record("another member than the last")
            return
        }
        #expect(throws: SealError.malformed) { try Wire.Value(protobuf: [0x32, 0x00, 0x32, 0x00]) }
    }

    @Test("Elements that would take far more memory than their bytes are refused before there is room for one")
    func density() throws {
        let empty = [UInt8](repeating: 0, count: 60_000).enumerated().map { $0.offset % 2 == 0 ? 0x0A : $0.element }
        #expect(throws: SealError.invalidLength) { try Wire.RecordChangesResponse(protobuf: empty) }
        // The densest list that is meant: small numbers.
        let numbers = Wire.ListValue.with { list in
            list.values = (0..<100_000).map { number in .with { $0.kind = .int64(Int64(number % 3)) } }
        }
        #expect(try Wire.ListValue(protobuf: numbers.protobuf()).values.count == 100_000)
    }

    @Test("Messages are read to a depth, and not beyond")
    func depth() {
        func nested(_ count: Int) -> [UInt8] {
            (0..<count).reduce([]) { inner, level in
                // A value is a list, and a list has a value.
                varint(level % 2 == 0 ? 0x42 : 0x0A) + varint(UInt64(inner.count)) + inner
            }
        }
        let deepest = nested(WireReader.deepest - 1)
        #expect(throws: Never.self) { try Wire.Value(protobuf: deepest) }
        #expect(throws: Never.self) { try Sealkit_V1_Value(measured: Data(deepest)) }
        #expect(throws: SealError.malformed) { try Wire.ListValue(protobuf: nested(WireReader.deepest)) }
    }

    @Test("NaN, infinity and negative zero travel as they are")
    func doubles() throws {
        for number in [Double.nan, .signalingNaN, .infinity, -0.0, .leastNonzeroMagnitude] {
            let place = Wire.Location.with { $0.latitude = number }
            #expect(place.protobuf().count == 9)
            #expect(try Wire.Location(protobuf: place.protobuf()).latitude.bitPattern == number.bitPattern)
        }
    }
}

private func varint(_ value: UInt64) -> [UInt8] {
    value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + varint(value >> 7)
}
