package import SealPrimitives

/// What comes of a vector that is not simply accepted.
package enum VectorError: Error, CustomStringConvertible {
    /// The protocol's refusal of the inputs, which is what an invalid test expects.
    case refused(SealError)
    /// What a client refuses to believe, which is what an invalid test expects as well.
    case disbelieved(Judgement)
    /// An input is not there, or not of its type.
    case missing(String)
    /// An output is not what the inputs give.
    case differs(String)

    package var description: String {
        switch self {
        case .refused(let refusal): refusal.rawValue
        case .disbelieved(let judgement): judgement.description
        case .missing(let key): "“\(key)” is missing or of another type"
        case .differs(let key): "“\(key)” is not what the inputs give"
        }
    }
}

/// What the core gives; what it refuses is the vector's refusal.
package func core<R>(_ result: @autoclosure () throws(SealError) -> R) throws(VectorError) -> R {
    do { return try result() } catch { throw .refused(error) }
}
