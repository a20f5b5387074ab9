public import Foundation
import SealKit

/// How long an operation may take and how hard it tries: `CKOperation.Configuration`.
public final class CKOperationConfiguration: NSObject, NSCopying, Sendable {
    private let content: Shared<Content>

    private struct Content {
        var container: CKContainer?
        var qualityOfService = QualityOfService.default
        var allowsCellularAccess = true
        var isLongLived = false
        var request: TimeInterval = 60
        var resource: TimeInterval = 7 * 86_400
    }

    public override init() { content = Shared(Content()) }

    convenience init(_ sealed: OperationConfiguration) {
        var content = Content()
        content.qualityOfService = sealed.qualityOfService
        (content.request, content.resource) = (sealed.timeoutIntervalForRequest, sealed.timeoutIntervalForResource)
        self.init(content)
    }

    private init(_ content: Content) { self.content = Shared(content) }

    /// Where the operation has none of its own.
    public var container: CKContainer? {
        get { content.value.container }
        set { content.withLock { $0.container = newValue } }
    }

    /// Whether somebody waits. `.utility` and `.background` outlast times without network or server, up to
    /// `timeoutIntervalForResource`. The others end with `networkFailure` after about a second, and so does `.default`,
    /// which waits on Apple's platforms; of an operation that outlasts the process it waits here too.
    public var qualityOfService: QualityOfService {
        get { content.value.qualityOfService }
        set { content.withLock { $0.qualityOfService = newValue } }
    }

    /// Kept by this object, and without effect: which network a call goes over is the system's to decide.
    public var allowsCellularAccess: Bool {
        get { content.value.allowsCellularAccess }
        set { content.withLock { $0.allowsCellularAccess = newValue } }
    }

    /// Whether the operation outlasts the process. Without effect on others than `CKFetchRecordsOperation` and
    /// `CKModifyRecordsOperation`, and on one that saves a share: see `CKContainer.allLongLivedOperationIDs()`.
    public var isLongLived: Bool {
        get { content.value.isLongLived }
        set { content.withLock { $0.isLongLived = newValue } }
    }

    /// Longest time without any progress, in seconds: a millisecond to ten years, else calls are `invalidArguments`.
    public var timeoutIntervalForRequest: TimeInterval {
        get { content.value.request }
        set { content.withLock { $0.request = newValue } }
    }

    /// Longest time for one request with all repetitions, in seconds: a millisecond to ten years.
    public var timeoutIntervalForResource: TimeInterval {
        get { content.value.resource }
        set { content.withLock { $0.resource = newValue } }
    }

    public func copy(with zone: NSZone? = nil) -> Any { CKOperationConfiguration(content.value) }

    var sealed: OperationConfiguration {
        let content = content.value
        return OperationConfiguration(
            qualityOfService: content.qualityOfService, timeoutIntervalForRequest: content.request,
            timeoutIntervalForResource: content.resource)
    }
}
