public import Foundation
import SealKit
import Synchronization

/// What an operation of CloudKit's is: asynchronous, to be added to a database, a container, or a queue of the app's.
///
/// Set its properties before it is added. Its blocks come one after another, on a queue of its own and never while it
/// is added; whatever is owed comes, also after `cancel()`. Once the last has returned the operation lets go of them
/// all: they are nil then, and a block that holds its operation keeps nothing alive.
open class CKOperation: Operation, @unchecked Sendable {
    public typealias Configuration = CKOperationConfiguration
    public typealias ID = String

    private enum Phase { case ready, executing, finished }

    private struct State {
        var phase = Phase.ready
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())
    private let blocks = DispatchQueue(label: "org.sealkit.cloudkit.operation")

    /// Of one that a former process began, what it had there.
    public internal(set) var operationID: CKOperation.ID = UUID().uuidString
    /// A former process began it: what it was configured by is all there is.
    var isGoneOnWith = false
    /// The operation's own: a copy of what it is set to, since others may have that too; a default one for nil.
    open var configuration: CKOperation.Configuration! = CKOperationConfiguration() {
        didSet { configuration = configuration?.copy() as? CKOperationConfiguration ?? CKOperationConfiguration() }
    }
    /// Whose default configuration counts where the operation's own was not changed.
    open var group: CKOperationGroup?
    /// Comes once the operation outlasts the process.
    open var longLivedOperationWasPersistedBlock: () -> Void = {}

    @available(*, deprecated, message: "use configuration.container")
    open var container: CKContainer? {
        get { configuration.container }
        set { configuration.container = newValue }
    }

    @available(*, deprecated, message: "use configuration.isLongLived")
    open var isLongLived: Bool {
        get { configuration.isLongLived }
        set { configuration.isLongLived = newValue }
    }

    @available(*, deprecated, message: "use configuration.allowsCellularAccess")
    open var allowsCellularAccess: Bool {
        get { configuration.allowsCellularAccess }
        set { configuration.allowsCellularAccess = newValue }
    }

    @available(*, deprecated, message: "use configuration.timeoutIntervalForRequest")
    open var timeoutIntervalForRequest: TimeInterval {
        get { configuration.timeoutIntervalForRequest }
        set { configuration.timeoutIntervalForRequest = newValue }
    }

    @available(*, deprecated, message: "use configuration.timeoutIntervalForResource")
    open var timeoutIntervalForResource: TimeInterval {
        get { configuration.timeoutIntervalForResource }
        set { configuration.timeoutIntervalForResource = newValue }
    }

    public override init() { super.init() }

    /// The configuration's.
    open override var qualityOfService: QualityOfService {
        get { configuration.qualityOfService }
        set { configuration.qualityOfService = newValue }
    }

    open override var isAsynchronous: Bool { true }
    open override var isExecuting: Bool { state.withLock { $0.phase == .executing } }
    open override var isFinished: Bool { state.withLock { $0.phase == .finished } }

    /// Starts once; what `main()` begins goes on after it has returned.
    open override func start() {
        let isFirst = state.withLock { state in
            guard state.phase == .ready else { return false }
            state.phase = .executing
            return true
        }
        guard isFirst else { return }
        didChangeValue(for: \.isExecuting)
        main()
        // A subclass that does all of its work in `main()` begins nothing.
        if state.withLock({ $0.task == nil }) { finish() }
    }

    open override func main() {
        let task = Task { [self] in
            await configured { await self.run() }
            tell { self.finish() }
        }
        state.withLock { $0.task = task }
        if isCancelled { task.cancel() }
    }

    open override func cancel() {
        super.cancel()
        let (task, isAtWork) = state.withLock { ($0.task, $0.phase == .executing) }
        task?.cancel()
        // Of what is not at work nothing tells the end.
        if !isAtWork { givenUp() }
    }

    /// It was cancelled before it was added, or after its end was told.
    func givenUp() {}

    /// What the operation is about, to its end, whatever that is: it is told once, here.
    func run() async {
        let failure: CKError?
        do throws(CKError) {
            try await work()
            failure = nil
        } catch {
            failure = error
        }
        tell { self.ended(failure) }
        await toldAll()
        // Whoever cancels it in its last block gives it up; one that another object is at work on is not this one's.
        let isGivenUp = isCancelled && failure?.code != .constraintViolation
        await told(isGivenUp ? CKError(any: CancellationError()) : failure)
    }

    /// - Throws: what has ended it, or what some of its items failed with.
    func work() async throws(CKError) {}

    /// Tells the app's last blocks, in both forms.
    func ended(_ failure: CKError?) {}

    /// The app's last blocks have returned.
    func told(_ failure: CKError?) async {}

    /// Runs a block of the app's, after those before it.
    func tell(_ block: @escaping @Sendable () -> Void) { blocks.async(execute: block) }

    /// Waits until the app's blocks have returned that were told so far.
    func toldAll() async { await withCheckedContinuation { done in blocks.async { done.resume() } } }

    /// - Throws: `operationCancelled` where the operation was cancelled and the call has not succeeded before that.
    func calling<T>(_ body: () async throws -> T) async throws(CKError) -> T {
        do {
            guard !isCancelled else { throw CancellationError() }
            return try await body()
        } catch {
            let error = isCancelled ? CancellationError() : error
            throw core?.words(any: error) ?? CKError(any: error)
        }
    }

    /// Whether a journal keeps the operation until its end was told.
    var outlastsProcess: Bool { false }

    /// Lets go of the app's blocks, and of what they hold: the operation itself, often.
    func releaseBlocks() { longLivedOperationWasPersistedBlock = {} }

    /// Of the container that it works in; nil where there is none.
    var core: ContainerCore? { try? chosenContainer.core }

    private func configured(_ body: () async -> Void) async {
        // In the one context of a task all calls are found, whichever database they are of.
        let own = configuration.sealed
        let isGroups = own == OperationConfiguration() && !isGoneOnWith
        await OperationConfiguration.bound(isGroups ? nil : own, group: group?.sealed) {
            await OperationConfiguration.bound(patience, group: nil, body)
        }
    }

    /// Nobody waits for what outlasts the process, unless the app says so: it waits for a network as CloudKit's does.
    private var patience: OperationConfiguration? {
        var chosen = OperationConfiguration.chosen ?? OperationConfiguration()
        guard outlastsProcess, chosen.qualityOfService == .default else { return nil }
        chosen.qualityOfService = .utility
        return chosen
    }

    private func finish() {
        releaseBlocks()
        let ended = state.withLock { state in
            guard state.phase == .executing else { return false }
            state.phase = .finished
            return true
        }
        guard ended else { return }
        // Without these an operation never leaves its queue, nor starts what depends on it.
        didChangeValue(for: \.isExecuting)
        didChangeValue(for: \.isFinished)
    }
}

extension CKOperation {
    /// The default one where none was set.
    /// - Throws: `badContainer` where there is no default container either.
    var chosenContainer: CKContainer {
        get throws(CKError) {
            if let container = configuration.container { return container }
            return try CKContainer.defaultContainer()
        }
    }
}

/// An operation of a database.
open class CKDatabaseOperation: CKOperation, @unchecked Sendable {
    /// The default container's private database where none was set.
    open var database: CKDatabase?

    override var core: ContainerCore? { try? chosenDatabase.core }

    /// - Throws: `badContainer` where there is no default container either.
    var chosenDatabase: CKDatabase {
        get throws(CKError) {
            if let database { return database }
            if let container = configuration.container { return container.privateCloudDatabase }
            return try CKContainer.defaultContainer().privateCloudDatabase
        }
    }
}
