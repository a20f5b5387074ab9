import SealPrimitives

/// Calls that belong together, to find them again in the server's log: CloudKit's `CKOperationGroup`.
///
/// The id, the quantity and the expected sizes travel with each request and stand in its log line. The name stays on
/// this device: it is text of the app's, and the server's log keeps none.
public struct OperationGroup: Sendable, Hashable {
    /// Roughly how much is going to be transferred, by CloudKit's steps.
    public enum TransferSize: Int, Sendable {
        case unknown = 0
        case kilobytes = 1
        case megabytes = 2
        case tensOfMegabytes = 3
        case hundredsOfMegabytes = 4
        case gigabytes = 5
        case tensOfGigabytes = 6
        case hundredsOfGigabytes = 7
    }

    /// 32 hexadecimal digits, drawn at random.
    public let operationGroupID: String
    public var name: String?
    /// How many user-visible things the calls are about; 0 for unknown.
    public var quantity: Int = 0
    public var expectedSendSize: TransferSize = .unknown
    public var expectedReceiveSize: TransferSize = .unknown
    /// For calls of the group that are given no configuration of their own.
    public var defaultConfiguration: OperationConfiguration?

    public init(name: String? = nil) {
        var random = SystemRandom()
        operationGroupID = ID16(random: &random).hex
        self.name = name
    }

    static let headerName = "sealkit-operation-group"

    /// Digits and hexadecimal digits only, so that nothing else can reach a log.
    var headerValue: String {
        "\(operationGroupID) \(UInt32(clamping: quantity)) \(expectedSendSize.rawValue) \(expectedReceiveSize.rawValue)"
    }
}
