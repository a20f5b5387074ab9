import SealVectorChecks

/// A family of published test vectors: whose files it knows, and what the code that SealKit stands on says to them.
protocol PublishedFamily: SendableMetatype {
    static var name: String { get }
    /// By content: a file may lie in any folder and have any name.
    static func recognises(_ file: JSON) -> Bool
    /// - Throws: where the file has not the family's shape; the whole file is missed then.
    static func run(_ file: JSON, into report: inout PublishedReport) throws
}

/// Published vectors so few that they stand in the source.
protocol PublishedConstants: SendableMetatype {
    static var name: String { get }
    static func run(into report: inout PublishedReport) throws
}

/// What one piece of code, a face of the primitive, says to a test.
struct PublishedVerdict {
    let face: String
    /// Whether it accepts the input and, where there is an output, gives the published one.
    let accepts: Bool

    init(_ face: String, _ accepts: Bool) { (self.face, self.accepts) = (face, accepts) }
}

/// What came of one file.
struct PublishedReport {
    private(set) var held = 0
    private(set) var refused = 0
    private(set) var misses: [String] = []
    /// Tests that cannot be put to our code, by reason.
    private var inexpressible: [String: Int] = [:]
    private var remarks: [String] = []

    var tests: Int { held + refused + misses.count }
    var left: Int { inexpressible.values.reduce(0, +) }

    /// One test, which every face has to accept, or every face to refuse. Without a face nothing was tested: a miss.
    mutating func test(_ id: String, accepted expected: Bool, by verdicts: [PublishedVerdict]) {
        let wrong = verdicts.filter { $0.accepts != expected }.map { $0.face }
        if verdicts.isEmpty || !wrong.isEmpty {
            let faces = wrong.isEmpty ? "anything" : wrong.joined(separator: ", ")
            misses.append("\(id): has to be \(expected ? "accepted" : "refused"), is not by \(faces)")
        } else if expected {
            held += 1
        } else {
            refused += 1
        }
    }

    mutating func miss(_ text: String) { misses.append(text) }
    mutating func leaveOut(_ reason: String) { inexpressible[reason, default: 0] += 1 }
    mutating func remark(_ text: String) { remarks.append(text) }

    var summary: String {
        let left = inexpressible.sorted { $0.key < $1.key }.map { "\($0.value) more not expressible (\($0.key))" }
        return (["\(tests) tests, \(held) hold, \(refused) refused, \(misses.count) missed"] + left + remarks).joined(
            separator: "; ")
    }
}

enum PublishedError: Error, CustomStringConvertible {
    case unknown(String, String)

    var description: String {
        switch self {
        case .unknown(let kind, let name): "the \(kind) “\(name)” is not known"
        }
    }
}

extension Fields {
    /// A length that a file names: within bounds, since it comes from outside.
    func count(_ key: String, atMost limit: Int) throws -> Int {
        let value = try int(key)
        guard (0...limit).contains(value) else { throw VectorError.missing(key) }
        return value
    }
}

extension JSON {
    var fields: Fields? {
        guard case .object(let values) = self else { return nil }
        return Fields(values: values)
    }

    /// Of a file that is a list of objects.
    var list: [Fields]? {
        guard case .array(let elements) = self else { return nil }
        let objects = elements.compactMap { $0.fields }
        return objects.count == elements.count ? objects : nil
    }
}
