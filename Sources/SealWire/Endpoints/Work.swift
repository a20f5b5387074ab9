public import SwiftProtobuf

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
    private let fixed: Int
    private let measure: (@Sendable (Request) -> Int)?

    /// What is taken from the bucket; at least 1.
    public func amount(_ request: Request) -> Int { max(1, measure?(request) ?? fixed) }

    public static func write(_ amount: Int) -> Self { Self(rate: .write, fixed: amount, measure: nil) }
    public static func read(_ amount: Int) -> Self { Self(rate: .read, fixed: amount, measure: nil) }
    public static var sharing: Self { Self(rate: .sharing, fixed: 1, measure: nil) }
    public static var request: Self { Self(rate: .request, fixed: 1, measure: nil) }
}

extension Work where Request: Message {
    public static func write(_ measure: @escaping @Sendable (Request) -> Int) -> Self {
        Self(rate: .write, fixed: 1, measure: measure)
    }
    public static func read(_ measure: @escaping @Sendable (Request) -> Int) -> Self {
        Self(rate: .read, fixed: 1, measure: measure)
    }
}

extension Work where Request: RawContent {
    /// What no message measures.
    public var amount: Int { fixed }
}

/// A page of a feed: what it will hold is not known before it is read.
let feedPage = 10
