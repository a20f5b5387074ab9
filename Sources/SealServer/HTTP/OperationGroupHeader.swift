import HTTPTypes
import Hummingbird
import Logging
import SealPrimitives

/// Which of a client's operations a request belongs to: a random id, how many items they are about, and how much is
/// going to be sent and received (CloudKit's steps).
///
/// It serves the log alone, which does not have the group's name. Only what is made of digits gets there: anything else
/// in the header is ignored.
struct OperationGroupHeader {
    static let name = HTTPField.Name("sealkit-operation-group")

    let id: ID16
    let quantity: UInt32
    let sendSize: UInt8
    let receiveSize: UInt8

    /// Nil where the request names none, or not in this form.
    init?(_ request: Request) {
        guard let name = Self.name, let header = request.headers.value(of: name) else { return nil }
        let parts = header.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].utf8.count == 32, let bytes = try? Hex.decode(parts[0]),
            let id = try? ID16(bytes),
            let quantity = UInt32(parts[1]), let sendSize = UInt8(parts[2]), let receiveSize = UInt8(parts[3])
        else { return nil }
        self.id = id
        self.quantity = quantity
        self.sendSize = sendSize
        self.receiveSize = receiveSize
    }

    /// The group's name, percent-encoded: text of the app's developer, for telemetry alone.
    static let nameHeader = HTTPField.Name("sealkit-operation-group-name")
    static let mostNameBytes = 64

    /// Empty where the request gives none, or one that is too long or not printable.
    static func groupName(of request: Request) -> String {
        guard let nameHeader, let header = request.headers.value(of: nameHeader),
            header.utf8.count <= 3 * mostNameBytes,
            let text = PercentEncoding.decode(header), text.utf8.count <= mostNameBytes,
            text.unicodeScalars.allSatisfy({ scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
                default: true
                }
            })
        else { return "" }
        return text
    }

    var metadata: Logger.Metadata {
        [
            "group": "\(id.hex)", "quantity": .stringConvertible(quantity),
            "expectedSend": .stringConvertible(sendSize),
            "expectedReceive": .stringConvertible(receiveSize),
        ]
    }
}
