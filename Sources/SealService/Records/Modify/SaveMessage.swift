package import Foundation
package import SealWire
import SwiftProtobuf

/// A request to modify records, as the server reads it: the records, which carry nearly every byte, by hand, and all
/// else by SwiftProtobuf.
///
/// By hand is read what is written as clients write it, in the fewest bytes and in the order of the numbers. Whatever
/// is written otherwise goes through SwiftProtobuf, so that both ways read the same of every request.
package struct SaveMessage: Sendable {
    /// Everything but the records.
    package let head: Sealkit_V1_ModifyRecordsRequest
    package let records: [SentRecord]

    private init(head: Sealkit_V1_ModifyRecordsRequest, records: [SentRecord]) {
        (self.head, self.records) = (head, records)
    }

    package init(_ message: Sealkit_V1_ModifyRecordsRequest) {
        var head = message
        head.records = []
        self.init(head: head, records: message.records.map(SentRecord.init))
    }

    /// - Parameter body: in protobuf's binary encoding, of which `DecodedSize` has taken the measure.
    /// - Throws: what SwiftProtobuf throws for what is no such message.
    package init(protobuf body: Data) throws {
        let bytes = [UInt8](body)
        guard let parts = SentRecordReader.parts(of: bytes) else {
            self.init(try Sealkit_V1_ModifyRecordsRequest(measured: body))
            return
        }
        var head = Data()
        for range in parts.others { head.append(contentsOf: bytes[range]) }
        var reader = SentRecordReader(bytes)
        var records: [SentRecord] = []
        records.reserveCapacity(parts.records.count)
        for range in parts.records {
            let record = reader.record(in: range)
            records.append(try record ?? SentRecord(Sealkit_V1_Record(measured: Data(bytes[range]))))
        }
        self.init(head: try Sealkit_V1_ModifyRecordsRequest(measured: head), records: records)
    }
}

/// A record as it came to be saved or deleted.
package struct SentRecord: Sendable {
    package let recordName: String
    let recordType: String
    /// The one that the client saw; empty for a new record.
    let changeTag: String
    let statement: [UInt8]
    let fields: [SentField]
    /// What the fields' places are places in.
    let bytes: [UInt8]

    /// What is stored of the fields that are read by hand: nearly always of all.
    var fieldBytes: Int {
        fields.reduce(0) { sum, field in
            if case .encrypted(_, _, let element) = field.content { sum + element.count } else { sum }
        }
    }

    init(
        recordName: String, recordType: String, changeTag: String, statement: [UInt8], fields: [SentField],
        bytes: [UInt8]
    ) {
        (self.recordName, self.recordType, self.changeTag) = (recordName, recordType, changeTag)
        (self.statement, self.fields, self.bytes) = (statement, fields, bytes)
    }

    init(_ wire: Sealkit_V1_Record) {
        self.init(
            recordName: wire.recordName, recordType: wire.recordType, changeTag: wire.changeTag,
            statement: [UInt8](wire.statement),
            fields: wire.fields.map { SentField(name: $0.name, content: .message($0)) }, bytes: [])
    }
}

struct SentField: Sendable {
    let name: String
    let content: Content

    enum Content: Sendable {
        /// Nearly every one: an encrypted value with the byte of its tag, which may be none. Its sealed bytes and the
        /// whole field, as an element of `Record.fields`, lie in the record's bytes.
        case encrypted(tag: UInt8, sealed: Range<Int>, element: Range<Int>)
        indirect case message(Sealkit_V1_Field)
    }
}
