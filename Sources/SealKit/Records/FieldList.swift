import SealPrimitives
import SealStatements

/// What a record has under the names of its fields, ascending by the bytes of the names: the order in which fields are
/// signed, sent and shown. So nothing is sorted or hashed on the way.
struct FieldList<Value: Sendable>: Sendable {
    typealias Element = (key: String, value: Value)

    private var elements: [Element] = []

    init() {}

    mutating func reserveCapacity(_ count: Int) { elements.reserveCapacity(count) }

    /// Setting nil removes the name.
    subscript(key: String) -> Value? {
        get {
            let index = place(of: key)
            guard index < elements.count, elements[index].key == key else { return nil }
            return elements[index].value
        }
        set {
            let index = place(of: key)
            let isThere = index < elements.count && elements[index].key == key
            switch (newValue, isThere) {
            case (let value?, true): elements[index].value = value
            case (let value?, false): elements.insert((key, value), at: index)
            case (nil, true): elements.remove(at: index)
            case (nil, false): break
            }
        }
    }

    /// Ascending.
    var keys: [String] { elements.map(\.key) }

    /// In the order of their names.
    var values: some Sequence<Value> { elements.lazy.map(\.value) }

    func filter(_ isKept: (Element) throws -> Bool) rethrows -> FieldList {
        var list = FieldList()
        list.elements = try elements.filter(isKept)
        return list
    }

    /// As the rules know fields, by name.
    func byName<T>(_ value: (Value) -> T) -> [String: T] {
        Dictionary(uniqueKeysWithValues: elements.map { ($0.key, value($0.value)) })
    }

    /// Of the first name that does not come before this one: mostly fields come in their order, and this is the end.
    private func place(of key: String) -> Int {
        guard let last = elements.last, !FieldSet.isOrdered(last.key, key) else { return elements.count }
        var (low, high) = (0, elements.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if FieldSet.isOrdered(elements[middle].key, key) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension FieldList: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { elements.count }
    subscript(position: Int) -> Element { elements[position] }
}

extension FieldList: ExpressibleByDictionaryLiteral {
    init(dictionaryLiteral elements: (String, Value)...) {
        for (key, value) in elements { self[key] = value }
    }
}

extension FieldList<Digest> {
    init(_ digests: [FieldDigest]) {
        reserveCapacity(digests.count)
        for one in digests { self[one.name] = one.digest }
    }

    /// As the rules know them.
    var listed: [FieldDigest] { map { FieldDigest(name: $0.key, digest: $0.value) } }
}
