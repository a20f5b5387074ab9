/// What an exchange goes by besides its arguments: set by the SDK around each one, read by transports.
public struct TransportOptions: Sendable {
    /// Those of the exchange that is under way in this task.
    @TaskLocal public static var current = TransportOptions()

    /// Longest time without progress; nil for the transport's own.
    public var requestTimeout: Duration?
    /// What is left for the whole exchange; nil for no limit.
    public var resourceTimeout: Duration?
    /// Further headers. They hold nothing secret.
    public var headers: [String: String] = [:]

    /// No options: an exchange as any other.
    public init() {}
}
