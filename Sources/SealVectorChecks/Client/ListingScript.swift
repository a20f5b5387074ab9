import SealClient
import SealPrimitives

/// A list that comes in parts, in one of the three orders that clients ask for lists in.
struct ListingScript {
    private enum Listing {
        case bytes(OrderedListing<String>)
        case places(OrderedListing<UInt64>)
        case once(NameListing)
    }

    private var listing: Listing
    private var judged = Judged()

    init(_ test: Fields) throws(VectorError) {
        switch try test.string("order") {
        case "bytes": listing = .bytes(OrderedListing(after: try test.string("after")))
        case "places": listing = .places(OrderedListing(after: try test.number("after")))
        case "once": listing = .once(NameListing())
        default: throw .missing("order")
        }
    }

    /// - Throws: `disbelieved` for a part that leads nowhere: nothing is asked for after it.
    mutating func run(_ parts: [Fields]) throws(VectorError) {
        for part in parts {
            if let error = try take(part.strings("names"), isMoreComing: part.bool("moreComing")) {
                try judged.expect("verdict", of: part, Judgement(error))
                break
            }
            try judged.expect("verdict", of: part, .taken("accepted"))
            try part.expect("last", last)
        }
        try judged.finish()
    }

    private mutating func take(_ names: [String], isMoreComing: Bool) throws(VectorError) -> ClientError? {
        var places: [UInt64] = []
        if case .places = listing {
            for name in names {
                guard let place = UInt64(name) else { throw .missing("names") }
                places.append(place)
            }
        }
        do throws(ClientError) {
            switch listing {
            case .bytes(var list):
                try list.take(names, isMoreComing: isMoreComing)
                listing = .bytes(list)
            case .places(var list):
                try list.take(places, isMoreComing: isMoreComing)
                listing = .places(list)
            case .once(var list):
                try list.take(names, isMoreComing: isMoreComing)
                listing = .once(list)
            }
        } catch {
            return error
        }
        return nil
    }

    /// What the next part would be asked for after.
    private var last: JSON {
        switch listing {
        case .bytes(let list): .string(list.last)
        case .places(let list): .number(list.last)
        case .once(let list): .string(list.last)
        }
    }
}
