public import Foundation
import SealKit

/// What makes predicates of text possible, which Foundation on this platform has no initializers for.
public protocol CKPredicateReadingText {}

extension NSPredicate: CKPredicateReadingText {}

extension CKPredicateReadingText where Self: NSPredicate {
    /// A predicate in CloudKit's language. A text that cannot be read fails the query that it is used in
    /// (`invalidArguments`), with the place.
    public init(format predicateFormat: String, _ args: Any...) {
        self.init(format: predicateFormat, argumentArray: args)
    }

    public init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        // A class's initializer in a protocol's extension may give another object.
        guard let predicate = TextPredicate(predicateFormat, arguments ?? []) as? Self else {
            preconditionFailure("\(Self.self) has no predicate of text: use NSPredicate(format:)")
        }
        self = predicate
    }
}

/// A predicate's text with its arguments: read when a query is made of it, and by then on another thread than the one
/// that the arguments belong to. So they are taken as the values that they are now.
final class TextPredicate: NSPredicate {
    let source: String
    let arguments: [Result<RecordValue, Refusal>]

    convenience init(_ text: String, _ arguments: [Any]) {
        self.init(
            text, values: arguments.map { argument in Result { () throws(Refusal) in try RecordValue(argument) } })
    }

    init(_ text: String, values: [Result<RecordValue, Refusal>]) {
        source = text
        arguments = values
        super.init(value: false)
    }

    override func copy(with zone: NSZone? = nil) -> Any { self }
    override func isEqual(_ object: Any?) -> Bool { (object as? TextPredicate)?.predicateFormat == predicateFormat }
    override var hash: Int { source.hashValue }

    /// With the arguments in their places.
    override var predicateFormat: String {
        var (words, next) = (source.components(separatedBy: "%"), 0)
        for index in words.indices.dropFirst() where next < arguments.count {
            let (value, isKey) = (try? arguments[next].get(), words[index].hasPrefix("K"))
            words[index] = (value?.shown(asKey: isKey) ?? "?") + words[index].drop { $0.isLetter || $0 == "@" }
            next += 1
        }
        return words.joined()
    }

    /// - Throws: `invalidArguments`.
    func read() throws(SealKitError) -> SealKit.Query.Predicate {
        var values: [any SealKit.Query.Argument] = []
        for argument in arguments {
            do throws(Refusal) { values.append(try argument.get()) } catch {
                throw SealKitError(
                    .invalidArguments, "argument \(values.count + 1) of the predicate \(error.reason)",
                    remedy: error.remedy)
            }
        }
        do throws(QueryError) {
            return try SealKit.Query.Predicate(text: source, arguments: values)
        } catch {
            throw SealKitError(
                .invalidArguments, error.reason + (error.offset.map { " at character \($0) of the predicate" } ?? ""),
                remedy: error.remedy)
        }
    }
}

extension RecordValue {
    /// - Parameter argument: `%K` takes a string, `%@` whatever a field holds, or lists of it; a record or its ID
    ///   stands for a reference to it.
    fileprivate init(_ argument: Any) throws(Refusal) {
        let list = (argument as? [Any])?.map(Self.referring)
        let object = list ?? Self.referring(argument)
        // Of whichever zone the records are.
        let reference = object as? CKRecordReference ?? list?.lazy.compactMap { $0 as? CKRecordReference }.first
        let zoneID = reference?.recordID.zoneID.sealed ?? .default
        guard case .value(let value) = try SealKit.Record.Content(object, in: zoneID) else { throw .noValue }
        self = value
    }

    private static func referring(_ argument: Any) -> Any {
        switch argument {
        case let record as CKRecord: CKRecordReference(record: record, action: .none)
        case let id as CKRecordID: CKRecordReference(recordID: id, action: .none)
        default: argument
        }
    }

    /// As a predicate's text has it.
    fileprivate func shown(asKey isKey: Bool) -> String {
        if case .string(let text) = self { isKey ? text : "\"\(text)\"" } else { "\(object(in: .default))" }
    }
}

extension SealKit.Query.Predicate {
    /// - Throws: `invalidArguments` for what CloudKit's predicates do not have.
    init(_ predicate: NSPredicate) throws(SealKitError) {
        switch predicate {
        case let text as TextPredicate: self = try text.read()
        case let read as ReadPredicate: self = read.predicate
        case let compound as NSCompoundPredicate: try self.init(compound)
        default:
            // Of the others only the two constants say what they are.
            switch predicate.text {
            case "TRUEPREDICATE": self = .constant(true)
            case "FALSEPREDICATE": self = .constant(false)
            default:
                throw SealKitError(
                    .invalidArguments, "a server cannot be asked for what a block or a key path decides",
                    remedy: "use NSPredicate(format:), and compare fields with values")
            }
        }
    }

    private init(_ compound: NSCompoundPredicate) throws(SealKitError) {
        var conditions: [SealKit.Query.Condition] = []
        switch compound.compoundPredicateType {
        case .and:
            for part in compound.subpredicates {
                conditions += try SealKit.Query.Predicate(part).conditions
            }
            self.init(conditions)
        case .not:
            for part in compound.subpredicates { conditions += try SealKit.Query.Predicate(part).conditions }
            guard conditions.count == 1 else {
                throw SealKitError(
                    .invalidArguments, "NOT stands before one comparison", remedy: "negate each comparison by itself")
            }
            self.init(conditions.map { SealKit.Query.Condition($0.test, isNegated: !$0.isNegated) })
        default:
            throw SealKitError(
                .invalidArguments, "predicates of CloudKit have no OR",
                remedy: "ask twice, or use IN where one field has one of several values")
        }
    }
}

extension NSPredicate {
    /// One that tells it from others: to Foundation's own every compound is "FALSEPREDICATE".
    var text: String {
        guard let compound = self as? NSCompoundPredicate else { return (self as any HavingFormat).predicateFormat }
        let parts = compound.subpredicates.map { $0.text }.joined(separator: ", ")
        return "\(compound.compoundPredicateType.rawValue)(\(parts))"
    }
}

/// Foundation discourages reading a predicate's text, which for the constants is their meaning.
private protocol HavingFormat { var predicateFormat: String { get } }
extension NSPredicate: HavingFormat {}
