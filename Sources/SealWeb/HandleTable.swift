import SealPrimitives

/// What the module keeps between calls, by numbers that the host hands back. No number is given twice.
struct HandleTable<Element> {
    private var elements: [UInt32: Element] = [:]

    mutating func insert(_ element: Element, _ next: inout UInt32) -> UInt32 {
        next += 1
        elements[next] = element
        return next
    }

    /// - Throws: `missingKey` for a number that stands for nothing of this kind, or no longer.
    subscript(_ handle: UInt32) -> Element {
        get throws(SealError) {
            guard let element = elements[handle] else { throw .missingKey }
            return element
        }
    }

    /// For what is there already.
    mutating func replace(_ handle: UInt32, _ element: Element) { elements[handle] = element }

    mutating func remove(_ handle: UInt32) { elements[handle] = nil }
}
