import SealClient
import SealWire

/// An answer with records, which is read by hand (SealClient's `Wire`): SwiftProtobuf takes several times as long, and
/// leaves each field in a shape of its own.
protocol ReadByHand {
    associatedtype ByHand: WireMessage, PagedAnswer
}

extension Sealkit_V1_RecordChangesResponse: ReadByHand { typealias ByHand = Wire.RecordChangesResponse }
extension Sealkit_V1_ZonesRecordChangesResponse: ReadByHand { typealias ByHand = Wire.ZonesRecordChangesResponse }
