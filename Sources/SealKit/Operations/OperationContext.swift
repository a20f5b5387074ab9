/// What the calls of a task go by, set by `configuredWith`.
///
/// It is bound to the task and not to a database or container value, so that what a call causes underneath (fetching a
/// roster, renewing a session) goes by it as well.
struct OperationContext: Sendable {
    @TaskLocal static var current = OperationContext()

    var configuration: OperationConfiguration?
    var group: OperationGroup?
    /// Inside an attempt that is repeated as a whole: what it calls is not repeated by itself too.
    var isPartOfAttempt = false

    /// nil: what the transport was set up with, and CloudKit's defaults.
    var chosen: OperationConfiguration? { configuration ?? group?.defaultConfiguration }

    /// Runs what was begun by a configuration, unless the task has one.
    static func goingOn<R, E: Error>(
        by configuration: OperationConfiguration?, _ body: () async throws(E) -> R
    ) async throws(E) -> R {
        guard current.chosen == nil, let configuration else { return try await body() }
        return try await $current.bound(to: current.with(configuration, nil), body)
    }

    /// What is nil stays as it is.
    fileprivate func with(_ configuration: OperationConfiguration?, _ group: OperationGroup?) -> OperationContext {
        var context = self
        if let configuration { context.configuration = configuration }
        if let group { context.group = group }
        return context
    }
}

extension Database {
    /// Runs `body` with calls configured otherwise: CloudKit's `configuredWith`.
    ///
    /// ```swift
    /// let configuration = OperationConfiguration(qualityOfService: .utility)
    /// let record = try await database.configuredWith(configuration: configuration) { database in
    ///     try await database.record(for: id)
    /// }
    /// ```
    /// It holds for everything that the body awaits, child tasks included, and ends with it. What is nil stays as it
    /// was outside.
    /// - Throws: what `body` throws; its calls throw `invalidArguments` for time-outs that cannot be kept.
    public func configuredWith<R, E: Error>(
        configuration: OperationConfiguration? = nil, group: OperationGroup? = nil,
        body: (Database) async throws(E) -> R
    ) async throws(E) -> R {
        try await configured(configuration, group) { () async throws(E) in try await body(self) }
    }
}

extension Container {
    /// Runs `body` with the calls of this container and its databases configured otherwise: see
    /// `Database.configuredWith(configuration:group:body:)`.
    public func configuredWith<R, E: Error>(
        configuration: OperationConfiguration? = nil, group: OperationGroup? = nil,
        body: (Container) async throws(E) -> R
    ) async throws(E) -> R {
        try await configured(configuration, group) { () async throws(E) in try await body(self) }
    }
}

extension OperationConfiguration {
    /// What the calls of this task go by; nil for CloudKit's defaults.
    package static var chosen: OperationConfiguration? { OperationContext.current.chosen }

    /// The same of all databases and containers, for a face of the SDK that takes its database only when it is called.
    package static func bound<R, E: Error>(
        _ configuration: OperationConfiguration?, group: OperationGroup?, _ body: () async throws(E) -> R
    ) async throws(E) -> R {
        try await configured(configuration, group, body: body)
    }

    /// For what `body` begins without waiting for it: a task has what was bound where it was made.
    package static func bound<R>(
        _ configuration: OperationConfiguration?, group: OperationGroup?, _ body: () throws -> R
    ) rethrows -> R {
        try OperationContext.$current.withValue(OperationContext.current.with(configuration, group), operation: body)
    }
}

private func configured<R, E: Error>(
    _ configuration: OperationConfiguration?, _ group: OperationGroup?, body: () async throws(E) -> R
) async throws(E) -> R {
    try await OperationContext.$current.bound(to: OperationContext.current.with(configuration, group), body)
}

extension TaskLocal {
    /// `withValue`, keeping the error's type.
    package func bound<R, E: Error>(to value: Value, _ body: () async throws(E) -> R) async throws(E) -> R {
        try await withValue(value) {
            do throws(E) { return Result<R, E>.success(try await body()) } catch { return Result<R, E>.failure(error) }
        }.get()
    }
}
