public import Foundation
import SealKit

/// Operations that belong together, to find them again in the server's log. The server's operator sees
/// the group's name in telemetry: nothing that concerns a person belongs into it.
public final class CKOperationGroup: NSObject, NSSecureCoding, Sendable {
    /// Roughly how much is going to be transferred: `CKOperationGroup.TransferSize`.
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

    private let content: Shared<Content>

    private struct Content {
        var group = OperationGroup()
        var configuration = CKOperationConfiguration()
        var hasConfiguration = false
    }

    public override init() { content = Shared(Content()) }

    public var operationGroupID: String { content.value.group.operationGroupID }

    /// For operations of the group that have none of their own.
    public var defaultConfiguration: CKOperation.Configuration? {
        get { content.withLock { $0.hasConfiguration ? $0.configuration : nil } }
        set {
            content.withLock { content in
                content.hasConfiguration = newValue != nil
                if let newValue { content.configuration = newValue }
            }
        }
    }

    public var name: String? {
        get { content.value.group.name }
        set { content.withLock { $0.group.name = newValue } }
    }

    /// How many user-visible things the operations are about; 0 for unknown.
    public var quantity: Int {
        get { content.value.group.quantity }
        set { content.withLock { $0.group.quantity = newValue } }
    }

    public var expectedSendSize: TransferSize {
        get { TransferSize(rawValue: content.value.group.expectedSendSize.rawValue) ?? .unknown }
        set { content.withLock { $0.group.expectedSendSize = .init(rawValue: newValue.rawValue) ?? .unknown } }
    }

    public var expectedReceiveSize: TransferSize {
        get { TransferSize(rawValue: content.value.group.expectedReceiveSize.rawValue) ?? .unknown }
        set { content.withLock { $0.group.expectedReceiveSize = .init(rawValue: newValue.rawValue) ?? .unknown } }
    }

    public static var supportsSecureCoding: Bool { true }

    /// Name, quantity and sizes, under an ID of its own: what goes on after a restart is another group in the log.
    public required convenience init?(coder: NSCoder) {
        self.init()
        name = coder.text("Name")
        quantity = coder.decodeInteger(forKey: "Quantity")
        guard let sent = TransferSize(rawValue: coder.decodeInteger(forKey: "SendSize")),
            let received = TransferSize(rawValue: coder.decodeInteger(forKey: "ReceiveSize"))
        else { return nil }
        (expectedSendSize, expectedReceiveSize) = (sent, received)
    }

    public func encode(with coder: NSCoder) {
        if let name { coder.encode(NSString(string: name), forKey: "Name") }
        coder.encode(quantity, forKey: "Quantity")
        coder.encode(expectedSendSize.rawValue, forKey: "SendSize")
        coder.encode(expectedReceiveSize.rawValue, forKey: "ReceiveSize")
    }

    var sealed: OperationGroup {
        var group = content.value.group
        group.defaultConfiguration = defaultConfiguration?.sealed
        return group
    }
}
