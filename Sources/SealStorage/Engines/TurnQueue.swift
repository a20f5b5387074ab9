/// What waits for the writer, or for a reader: in its order for each payer, while the payers take turns. Whoever has
/// much waiting delays nobody else by more than one piece of it.
struct TurnQueue<Payer: Hashable, Element> {
    private struct Line {
        var elements: [Element?] = []
        var first = 0

        var count: Int { elements.count - first }
        var next: Element? { first < elements.count ? elements[first] : nil }

        /// In their order; none of them is nil.
        var all: ArraySlice<Element?> { elements[first...] }

        mutating func putBack(_ element: Element) { elements.insert(element, at: first) }

        mutating func removeFirst(where isMeant: (Element) -> Bool) {
            let place = elements[first...].firstIndex { element in element.map(isMeant) ?? false }
            if let place { elements.remove(at: place) }
        }

        mutating func take() -> Element? {
            guard first < elements.count else { return nil }
            // Given up at once: a request's message may be large.
            defer {
                elements[first] = nil
                first += 1
                if first > 32, first * 2 > elements.count {
                    elements.removeFirst(first)
                    first = 0
                }
            }
            return elements[first]
        }
    }

    private var lines: [Payer: Line] = [:]
    private var order: [Payer] = []
    private(set) var count = 0

    /// Those of whom something waits, whose turn it is first.
    var payers: [Payer] { order }

    func count(of payer: Payer) -> Int { lines[payer]?.count ?? 0 }

    mutating func append(_ element: Element, of payer: Payer) {
        if lines[payer] == nil { order.append(payer) }
        lines[payer, default: Line()].elements.append(element)
        count += 1
    }

    /// What was taken and not used is its payer's next again.
    /// - Parameter isNext: whether it is the payer's turn next; else, where nothing else of the payer waits, that comes
    ///   after all others'.
    mutating func putBack(_ element: Element, of payer: Payer, isNext: Bool) {
        if isNext {
            order.removeAll { $0 == payer }
            order.insert(payer, at: 0)
        } else if lines[payer] == nil {
            order.append(payer)
        }
        lines[payer, default: Line()].putBack(element)
        count += 1
    }

    /// Whether something waits of somebody else than these.
    func hasOthers(than payers: Set<Payer>) -> Bool { order.contains { !payers.contains($0) } }

    /// What a payer's next piece is.
    func first(of payer: Payer) -> Element? { lines[payer]?.next }

    /// What waits of a payer, in its order; none of it is nil.
    func elements(of payer: Payer) -> ArraySlice<Element?> { lines[payer]?.all ?? [] }

    /// What a payer has no more use for.
    mutating func removeFirst(of payer: Payer, where isMeant: (Element) -> Bool) {
        guard var line = lines.removeValue(forKey: payer) else { return }
        count -= line.count
        line.removeFirst(where: isMeant)
        count += line.count
        if line.count > 0 { lines[payer] = line } else { order.removeAll { $0 == payer } }
    }

    /// A payer's turn comes after all others'.
    mutating func putLast(_ payer: Payer) {
        guard let place = order.firstIndex(of: payer) else { return }
        order.append(order.remove(at: place))
    }

    /// Takes from a payer whose turn it is made, and puts them behind all others.
    mutating func next(of payer: Payer) -> Element? {
        guard let place = order.firstIndex(of: payer) else { return nil }
        return take(at: place)?.element
    }

    /// Takes from whoever's turn it is, and puts them behind all others.
    /// - Parameter served: those who are passed over; where nobody else waits, nothing is taken.
    mutating func next(passing served: Set<Payer> = []) -> (payer: Payer, element: Element)? {
        guard let place = order.firstIndex(where: { !served.contains($0) }) else { return nil }
        return take(at: place)
    }

    private mutating func take(at place: Int) -> (payer: Payer, element: Element)? {
        let payer = order.remove(at: place)
        guard var line = lines.removeValue(forKey: payer), let element = line.take() else { return nil }
        count -= 1
        if line.count > 0 {
            lines[payer] = line
            order.append(payer)
        }
        return (payer, element)
    }
}
