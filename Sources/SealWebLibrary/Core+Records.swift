import SealClient
import SealPrimitives
import SealStatements

extension Core {
    /// A zone that was read to its end → of each of its records that is new, another version or gone since this was
    /// asked last: its name, whether it is there, why it is not believed or nothing, and what stands for its version,
    /// which no other version has.
    func recordNews(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let news = try core { () throws(SealError) in try zones[try reader.number()] }.news()
        writer.number(UInt32(news.count))
        for one in news {
            writer.string(one.name)
            writer.flag(one.isThere)
            writer.string(one.refusal)
            writer.id(one.version)
        }
    }

    /// A zone, names of records → of each, as of `records`, what is shown of it.
    func namedRecords(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (zone, names) = try core { () throws(SealError) -> (SharedZone, [String]) in
            let zone = try zones[try reader.number()]
            var names: [String] = []
            for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: 4)) {
                names.append(try reader.string(atMost: Limits.nameBytes))
            }
            return (zone, names)
        }
        writer.number(UInt32(names.count))
        for name in names { write(name, of: zone, &writer) }
    }

    /// A zone that was read to its end, a query (`Query.init`) → the names of the records that it asks for, in its
    /// order.
    func queryRecords(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (zone, query) = try core { () throws(SealError) -> (SharedZone, Query) in
            (try zones[try reader.number()], try Query(&reader))
        }
        let names = zone.names(by: query)
        writer.number(UInt32(names.count))
        for name in names { writer.string(name) }
    }
}
