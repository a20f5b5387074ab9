import Foundation
import SealCoding
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService

/// Requests to modify records have two readers: by hand, and SwiftProtobuf. They read the same, or neither reads.
@Suite(.timeLimit(.minutes(60))) struct SaveMessageTests {
    private static let long = "a-name-that-is-longer-than-fifteen"

    private static func field(_ name: String, _ sealed: Int, kind: UInt32 = 3) -> Sealkit_V1_Field {
        .with {
            $0.name = name
            $0.encrypted = .with {
                $0.kind = kind
                $0.sealed = Data(repeating: 0x5A, count: sealed)
            }
        }
    }

    /// As clients write it.
    private static let usual = Sealkit_V1_ModifyRecordsRequest.with {
        $0.operationID = Data(repeating: 7, count: 16)
        $0.zone.zoneName = "zone"
        $0.atomic = true
        $0.signature = Data(repeating: 9, count: 64)
        $0.records = (0..<2).map { index in
            .with {
                $0.recordName = "record-\(index)"
                $0.recordType = long
                $0.changeTag = index == 0 ? "" : "4"
                $0.statement = Data(repeating: 3, count: 20)
                $0.fields = [field("a", 5), field(long, 130, kind: UInt32(ValueType(.string, isList: true).tag))]
            }
        }
    }

    /// Everything else that a request can have in it.
    private static let unusual = Sealkit_V1_ModifyRecordsRequest.with {
        $0.records = [
            .with {
                $0.recordName = "ä"
                $0.deleted = true
                $0.creationDate = -5
                $0.proof.path = Data(count: 3)
            },
            .with {
                $0.fields = [
                    field("plain", 0), field("none", 3, kind: 0), field("odd", 3, kind: 0x83),
                    field("big", 3, kind: 300), field("", 2),
                    .with {
                        $0.name = "text"
                        $0.plain.string = "hello"
                    },
                    .with {
                        $0.name = "omitted"
                        $0.omitted = Data(count: 32)
                    },
                    field("last", 2),
                ]
            },
            .init(),
        ]
        $0.openings = [.with { $0.shareRecordName = "share" }]
        $0.restoring = true
    }

    @Test func whatClientsWriteIsReadByHand() throws {
        let message = try SaveMessage(protobuf: Self.usual.serializedData())
        #expect(message.whole == Self.usual)
        #expect(message.workAmount == Endpoints.records.modify.work.amount(Self.usual))
        for record in message.records {
            var (encoder, copied) = (FieldEncoder(), FieldEncoder())
            for field in record.fields {
                guard case .encrypted(_, _, let element) = field.content else {
                    Issue.record("\(field.name) is not read by hand")
                    continue
                }
                try encoder.append(field.name, WireField(field.wire(in: record)))
                copied.append(element: record.bytes[element])
            }
            #expect(copied.bytes == encoder.bytes)
            #expect(copied.bytes.count == record.fieldBytes)
        }
        #expect(try SaveMessage(protobuf: Self.unusual.serializedData()).whole == Self.unusual.sent)
        #expect(SaveMessage(Self.unusual).whole == Self.unusual.sent)
        #expect(try SaveMessage(protobuf: Data()).whole == .init())
    }

    /// Cut off anywhere, with any bit another, and with any byte twice or gone.
    @Test(arguments: [usual, unusual])
    func bothReadersReadTheSame(_ request: Sealkit_V1_ModifyRecordsRequest) throws {
        let whole = try request.serializedData()
        var (taken, refused) = (0, 0)
        func compare(_ bytes: Data) {
            let decoded = try? Sealkit_V1_ModifyRecordsRequest(measured: bytes)
            let read = try? SaveMessage(protobuf: bytes)
            #expect(read?.whole == decoded?.sent, "\(bytes.map { String($0, radix: 16) })")
            if decoded == nil { refused += 1 } else { taken += 1 }
        }
        for place in 0..<whole.count {
            compare(whole.prefix(place))
            for bit in 0..<8 {
                var other = whole
                other[place] ^= 1 << UInt8(bit)
                compare(other)
            }
            compare(whole.prefix(place) + whole.suffix(from: place + 1))
            compare(whole.prefix(place + 1) + whole.suffix(from: place))
        }
        #expect(taken > 100)
        #expect(refused > 100)
    }

    /// One field twice, lengths in more bytes than they need, messages in two parts: SwiftProtobuf's rules hold.
    @Test func whatIsWrittenOtherwiseIsReadAsSwiftProtobufReadsIt() throws {
        let element = try Sealkit_V1_Record.with { $0.fields = [Self.field("a", 3)] }.serializedData()
        let records: [[UInt8]] = [
            [0x0A, 1, 0x61, 0x0A, 1, 0x62], [0x3A, 1, 1, 0x3A, 0], [0x0A, 0x81, 0, 0x61],
            [0x50, 0], [0x50, 2], [0x50, 1, 0x50, 0], [0x08, 1], [0xFA, 7, 1, 0],
            Array(element) + Array(element), [0x32, 8, 0x1A, 3, 0x12, 1, 7, 0x0A, 1, 0x61],
            [0x32, 12, 0x0A, 1, 0x61, 0x1A, 2, 0x08, 3, 0x1A, 3, 0x12, 1, 7],
            [0x32, 11, 0x0A, 1, 0x61, 0x1A, 6, 0x08, 0x83, 0, 0x12, 1, 7], [0x32, 0],
            [0x32, 12, 0x0A, 1, 0x61, 0x1A, 5, 0x08, 3, 0x12, 1, 7, 0x2A, 0],
        ]
        for record in records {
            for twice in [false, true] {
                let zones: [UInt8] = twice ? [0x12, 2, 0x0A, 0, 0x12, 0] : []
                let bytes = Data([0x22, UInt8(record.count)] + record + zones)
                let decoded = try? Sealkit_V1_ModifyRecordsRequest(measured: bytes)
                let read = try? SaveMessage(protobuf: bytes)
                #expect(read?.whole == decoded?.sent, "\(record.map { String($0, radix: 16) })")
            }
        }
    }
}

extension SaveMessage {
    /// As a message again.
    fileprivate var whole: Sealkit_V1_ModifyRecordsRequest {
        var message = head
        message.records = records.map { record in
            .with {
                $0.recordName = record.recordName
                $0.recordType = record.recordType
                $0.changeTag = record.changeTag
                $0.statement = Data(record.statement)
                $0.fields = record.fields.map { $0.wire(in: record) }
            }
        }
        return message
    }
}

extension SentField {
    fileprivate func wire(in record: SentRecord) -> Sealkit_V1_Field {
        switch content {
        case .message(let field): field
        case .encrypted(let tag, let sealed, _):
            .with {
                $0.name = name
                $0.encrypted = .with {
                    $0.kind = UInt32(tag)
                    $0.sealed = Data(record.bytes[sealed])
                }
            }
        }
    }
}

extension Sealkit_V1_ModifyRecordsRequest {
    /// What of it is looked at: a record's name, type, tag, statement and fields.
    fileprivate var sent: Self {
        var message = self
        message.records = records.map { record in
            .with {
                $0.recordName = record.recordName
                $0.recordType = record.recordType
                $0.changeTag = record.changeTag
                $0.statement = record.statement
                $0.fields = record.fields
            }
        }
        return message
    }
}
