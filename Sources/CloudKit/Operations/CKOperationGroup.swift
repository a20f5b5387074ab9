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
    }

    public override init() { content = Shared(Content()) }

    init(_ group: OperationGroup) { content = Shared(Content(group: group)) }

    public var operationGroupID: String { content.value.group.operationGroupID }

    /// For operations of the group that have none of their own. Never nil: a default one takes its place.
    public var defaultConfiguration: CKOperation.Configuration! {
        get { content.value.configuration }
        set {
            let configuration = newValue ?? CKOperationConfiguration()
            content.withLock { $0.configuration = configuration }
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
        let content = content.value
        var group = content.group
        let configuration = content.configuration.sealed
        group.defaultConfiguration = configuration == OperationConfiguration() ? nil : configuration
        return group
    }
}
