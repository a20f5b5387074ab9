/// Which of an account's, key's or address's rates a request counts against, beside that of requests.
public enum RateClass: String, Sendable, CaseIterable {
    case write
    case read
    case sharing
    /// None: it is over with the request itself, or a rule of its own counts it.
    case request
}

/// How much work a request asks for, by what it holds: a batch of 400 counts as 400.
public struct Work<Request>: Sendable {
    public let rate: RateClass
    private let measure: @Sendable (Request) -> Int

    /// What is taken from the bucket; at least 1.
    public func amount(_ request: Request) -> Int { max(1, measure(request)) }

    public static func write(_ measure: @escaping @Sendable (Request) -> Int) -> Self { Self(rate: .write, measure: measure) }
    public static func read(_ measure: @escaping @Sendable (Request) -> Int) -> Self { Self(rate: .read, measure: measure) }
    public static func write(_ amount: Int) -> Self { write { _ in amount } }
    public static func read(_ amount: Int) -> Self { read { _ in amount } }
    public static var sharing: Self { Self(rate: .sharing) { _ in 1 } }
    public static var request: Self { Self(rate: .request) { _ in 1 } }
}

/// A page of a feed: what it will hold is not known before it is read.
let feedPage = 10
