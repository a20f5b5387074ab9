import SealPrimitives

/// What the module keeps between calls, by numbers that the host hands back. No number is given twice.
///
/// A list and not a dictionary: there are few, and each kind of dictionary is kilobytes of what travels to a reader.
package struct HandleTable<Element> {
    private final class Entry {
        let handle: UInt32
        var element: Element

        init(_ handle: UInt32, _ element: Element) { (self.handle, self.element) = (handle, element) }
    }

    private var entries: [Entry] = []

    package init() {}

    package mutating func insert(_ element: Element, _ next: inout UInt32) -> UInt32 {
        next += 1
        entries.append(Entry(next, element))
        return next
    }

    /// - Throws: `missingKey` for a number that stands for nothing of this kind, or no longer.
    package subscript(_ handle: UInt32) -> Element {
        get throws(SealError) {
            guard let entry = entry(handle) else { throw .missingKey }
            return entry.element
        }
    }

    /// For what is there already.
    package mutating func replace(_ handle: UInt32, _ element: Element) { entry(handle)?.element = element }

    package mutating func remove(_ handle: UInt32) { entries.removeAll { $0.handle == handle } }

    private func entry(_ handle: UInt32) -> Entry? {
        for entry in entries where entry.handle == handle { return entry }
        return nil
    }
}
