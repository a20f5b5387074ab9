import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// A page of results as it travels.
enum QueryAnswer {
    /// A serialized `QueryRecordsResponse`:
    /// `{ matches = 1 { scope = 1, record = 2 }, cursor = 2, scopes = 3, authors = 4 }`. It ends where it has no room
    /// for the next record; a larger record goes alone.
    static func serialized(
        _ pager: QueryPager, _ page: QueryPager.Page, asked: ZoneRow?, desired: Set<String>?
    ) throws -> [UInt8] {
        var writer = WireWriter(capacity: 64 * 1024)
        var scopes: [Int: UInt64] = [:]
        var heads: [Sealkit_V1_ScopeHead] = []
        var shares: Set<Int64> = []
        var authors = PublicAuthors()
        var sharesOf: [Int: Set<Int64>] = [:]
        var next = page.next
        var last: QueryPager.Found?
        for found in page.found {
            let zone = pager.zones[found.zone]
            guard let record = try StoredRecord.find(found.place.record, in: zone, pager.connection) else { continue }
            let bytes = try record.serialized(desired: desired)
            if let last, writer.bytes.count + bytes.count > RecordFeed.pageBytes {
                next = try pager.cursor(after: last, of: page)
                break
            }
            if pager.rights != nil { authors.add(try Statement(canonicalBytes: record.statement)) }
            if asked == nil, scopes[found.zone] == nil {
                scopes[found.zone] = UInt64(heads.count)
                heads.append(zone.scopeHead)
            }
            shares.insert(record.share)
            if asked == nil, record.share > 0 { sharesOf[found.zone, default: []].insert(record.share) }
            var match = WireWriter(capacity: bytes.count + 16)
            match.number(1, scopes[found.zone] ?? 0)
            match.blob(2, bytes)
            writer.blob(1, match.bytes)
            last = found
        }
        if let next { writer.blob(2, [UInt8](next.data(pager.seal))) }
        if let asked, pager.rights == nil { heads = try asked.scopeHeads(citing: shares, pager.connection) }
        // Those that matches are numbered by come first; then the shares' that their records are in.
        for (zone, shares) in sharesOf {
            heads += try Shares.numbered(shares, in: pager.zones[zone], pager.connection).map(\.scopeHead)
        }
        for head in heads { writer.blob(3, try head.serializedBytes()) }
        if pager.rights != nil, let asked {
            for chain in try authors.chains(in: asked.container, pager.connection) {
                writer.blob(4, try chain.serializedBytes())
            }
        }
        return writer.bytes
    }
}
