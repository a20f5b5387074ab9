/// What waits for the writer, or for a reader: in its order for each payer, while the payers take turns. Whoever has
/// much waiting delays nobody else by more than one piece of it.
struct TurnQueue<Payer: Hashable, Element> {
    private struct Line {
        var elements: [Element?] = []
        var first = 0

        var count: Int { elements.count - first }

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
    /// Those of whom something waits, whose turn it is first.
    private var order: [Payer] = []
    private(set) var count = 0

    func count(of payer: Payer) -> Int { lines[payer]?.count ?? 0 }

    mutating func append(_ element: Element, of payer: Payer) {
        if lines[payer] == nil { order.append(payer) }
        lines[payer, default: Line()].elements.append(element)
        count += 1
    }

    /// Takes from whoever's turn it is, and puts them behind all others.
    /// - Parameter served: those who are passed over; where nobody else waits, nothing is taken.
    mutating func next(passing served: Set<Payer> = []) -> (payer: Payer, element: Element)? {
        guard let place = order.firstIndex(where: { !served.contains($0) }) else { return nil }
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
