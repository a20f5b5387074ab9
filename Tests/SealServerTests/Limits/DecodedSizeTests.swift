import Foundation
import SealService
import SealStorage
import SealWire
import SwiftProtobuf
import Testing

/// What a message takes in memory is known before it is decoded.
@Suite(.timeLimit(.minutes(60))) struct DecodedSizeTests {
    private static func measure<M: Message>(_ message: M) throws -> (binary: Int, json: Int) {
        (
            try DecodedSize.measure(M.self, protobuf: try message.serializedData()),
            try DecodedSize.measure(json: try message.jsonUTF8Data())
        )
    }

    private static func isTooDense<M: Message>(_ message: M, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let (binary, json) = (try message.serializedData(), try message.jsonUTF8Data())
        #expect(throws: DecodedSize.Refusal.tooDense, sourceLocation: sourceLocation) {
            try DecodedSize.measure(M.self, protobuf: binary)
        }
        #expect(throws: DecodedSize.Refusal.tooDense, sourceLocation: sourceLocation) {
            try DecodedSize.measure(json: json)
        }
    }

    /// What was sent: 4.2 MB in two bytes each.
    @Test func whatIsNothingButElementsIsRefused() throws {
        let count = 2_100_000
        try Self.isTooDense(
            Sealkit_V1_ModifyRecordsRequest.with { $0.records = Array(repeating: .init(), count: count) })
        try Self.isTooDense(
            Sealkit_V1_RecordChangesResponse.with { $0.records = Array(repeating: .init(), count: count) })
        try Self.isTooDense(
            Sealkit_V1_QueryRecordsRequest.with { $0.query.filterBy = Array(repeating: .init(), count: count) })
        // Deeper down, too.
        let field = Sealkit_V1_Field.with { $0.plain.list.values = Array(repeating: .init(), count: count) }
        try Self.isTooDense(Sealkit_V1_ModifyRecordsRequest.with { $0.records = [.with { $0.fields = [field] }] })
        // What takes no more than a list of numbers is counted, and has to find room.
        let bundles = Sealkit_V1_RotateKeysRequest.with { $0.recovery = Array(repeating: .init(), count: count) }
        let size = try DecodedSize.measure(Sealkit_V1_RotateKeysRequest.self, protobuf: try bundles.serializedData())
        #expect(size >= count * MemoryLayout<Sealkit_V1_RecoveryBundle>.stride)
    }

    /// The densest that honest clients and servers send: many small values, answers without content, and many small
    /// things.
    @Test func whatHonestPeersSendIsTaken() throws {
        let numbers = Sealkit_V1_Field.with { field in
            field.name = "n"
            field.plain.list.values = (0..<260_000).map { number in .with { $0.int64 = Int64(number % 60) } }
        }
        let record = Sealkit_V1_Record.with { $0.fields = [numbers] }
        #expect(
            try Self.measure(Sealkit_V1_ModifyRecordsRequest.with { $0.records = [record, record] }).binary > 1 << 20)
        let texts = Sealkit_V1_Field.with { field in
            field.plain.list.values = (0..<260_000).map { number in .with { $0.string = number % 2 == 0 ? "" : "a" } }
        }
        _ = try Self.measure(Sealkit_V1_ModifyRecordsRequest.with { $0.records = [.with { $0.fields = [texts] }] })
        let saved = (0..<400).map { number in
            Sealkit_V1_RecordResult.with {
                $0.recordName = "\(number)"
                $0.record.changeTag = "1"
                $0.record.creationDate = 1_700_000_000_000_000
                $0.record.modificationDate = 1_700_000_000_000_000
            }
        }
        _ = try Self.measure(Sealkit_V1_ModifyRecordsResponse.with { $0.results = saved })
        let fields = (0..<1_000).map { number in
            Sealkit_V1_Field.with {
                $0.name = "f\(number)"
                $0.plain.int64 = 1
            }
        }
        _ = try Self.measure(
            Sealkit_V1_ModifyRecordsRequest.with { $0.records = (0..<100).map { _ in .with { $0.fields = fields } } })
        let subscriptions = (0..<1_000).map { number in
            Sealkit_V1_Subscription.with {
                $0.subscriptionID = "\(number)"
                $0.kind = 3
                $0.notificationInfo.shouldBadge = true
            }
        }
        _ = try Self.measure(Sealkit_V1_ListSubscriptionsResponse.with { $0.subscriptions = subscriptions })
    }

    /// Those whose fields lie in an object of their own are known by their size, which the generator chooses.
    @Test func whatEachElementTakesIsCounted() throws {
        func element<M: Message>(_ message: M) throws -> Int {
            try DecodedSize.measure(M.self, protobuf: try message.serializedData())
        }
        let empty = try element(Sealkit_V1_ModifyRecordsRequest())
        let one = try element(Sealkit_V1_ModifyRecordsRequest.with { $0.records = [.init()] })
        #expect(one - empty >= 1_024 + MemoryLayout<Sealkit_V1_Record>.stride)
        let nothing = try element(Sealkit_V1_ModifyRecordsResponse())
        let result = try element(Sealkit_V1_ModifyRecordsResponse.with { $0.results = [.init()] })
        #expect(result - nothing == 2 * MemoryLayout<Sealkit_V1_RecordResult>.stride)
        let opening = try element(Sealkit_V1_ModifyRecordsRequest.with { $0.openings = [.init()] })
        #expect(opening - empty >= 1_024)
        let info = try element(Sealkit_V1_Subscription.with { $0.notificationInfo = .init() })
        #expect(info >= 1_024)
        let derived = try element(Sealkit_V1_Record.with { $0.derived = .init() })
        #expect(derived >= 2_048)
        let bytes = try element(Sealkit_V1_Grant.with { $0.sealed = Data(count: 5_000) })
        #expect((5_000...6_500).contains(bytes))
    }

    /// Nothing that the decoder takes is refused for its shape, and nothing is read past its end.
    @Test func everyPartOfAMessageIsMeasuredAsTheDecoderReadsIt() throws {
        let record = Sealkit_V1_Record.with {
            $0.recordName = "a name that is longer than fifteen"
            $0.fields = [
                .with { $0.plain.list.values = [.with { $0.location.latitude = 1 }, .with { $0.string = "text" }] }
            ]
            $0.proof.path = Data(count: 64)
            $0.derived.tombstone.statement = Data(count: 20)
        }
        let whole = try Sealkit_V1_ModifyRecordsRequest.with {
            $0.records = [record, record]
            $0.openings = [.with { $0.following.grants = [.with { $0.epoch = 300 }] }]
            $0.rekeying = true
        }.serializedData()
        var (taken, refused) = (0, 0)
        for place in 0..<whole.count {
            // Cut off there, or other there: another field, length or value.
            for flip in [UInt8(0), 1 << 3, 1 << 4, 1 << 7] {
                var bytes = flip == 0 ? Data(whole.prefix(place)) : whole
                if flip != 0 { bytes[place] ^= flip }
                guard (try? Sealkit_V1_ModifyRecordsRequest(measured: bytes)) != nil else {
                    refused += 1
                    continue
                }
                taken += 1
                #expect(throws: Never.self) {
                    try DecodedSize.measure(Sealkit_V1_ModifyRecordsRequest.self, protobuf: bytes)
                }
            }
        }
        #expect(taken > 20)
        #expect(refused > 100)
    }

    @Test func whatIsNestedWithoutEndIsRefused() throws {
        func list(_ depth: Int) -> Sealkit_V1_ListValue {
            depth == 0 ? .init() : .with { $0.values = [.with { $0.list = list(depth - 1) }] }
        }
        let (deep, flat) = (list(17), list(15))
        _ = try DecodedSize.measure(Sealkit_V1_ListValue.self, protobuf: try flat.serializedData())
        _ = try DecodedSize.measure(json: try flat.jsonUTF8Data())
        let (binary, json) = (try deep.serializedData(), String(repeating: #"{"values":[{"list":"#, count: 80) + "{}")
        #expect(throws: DecodedSize.Refusal.malformed) {
            try DecodedSize.measure(Sealkit_V1_ListValue.self, protobuf: binary)
        }
        #expect(throws: DecodedSize.Refusal.malformed) { try DecodedSize.measure(json: Data(json.utf8)) }
        // Braces in a text are text.
        _ = try DecodedSize.measure(json: Data((#"{"text":"\""# + String(repeating: "{", count: 10_000) + "\"}").utf8))
    }
}
