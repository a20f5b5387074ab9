import SealClient
import SealStatements
import SealWire

/// An answer that no honest server fills without end: it has so many items at most as one request, and goes on in
/// another page. What each of them costs here is a multiple of what it costs to send.
protocol PagedAnswer {
    /// Of its longest list.
    var itemCount: Int { get }
}

extension PagedAnswer {
    /// - Throws: `serverRejectedRequest` for a page that is longer than any.
    func checkLength() throws(SealKitError) {
        guard itemCount <= Limits.itemsPerRequest else {
            throw SealKitError(
                .serverRejectedRequest,
                "the server's answer has \(itemCount) items; at most \(Limits.itemsPerRequest) come at once",
                remedy: "tell the server's operator; nothing of it was taken")
        }
    }
}

extension Wire.RecordChangesResponse: PagedAnswer { var itemCount: Int { records.count } }
extension Wire.ZonesRecordChangesResponse: PagedAnswer {
    var itemCount: Int { zones.reduce(zones.count) { max($0, $1.itemCount) } }
}
extension Wire.ZoneRecordChanges {
    fileprivate var itemCount: Int { if case .changes(let page)? = outcome { page.itemCount } else { 0 } }
}
extension Sealkit_V1_RecordChangesResponse: PagedAnswer { var itemCount: Int { records.count } }
extension Sealkit_V1_QueryRecordsResponse: PagedAnswer { var itemCount: Int { matches.count } }
extension Sealkit_V1_CreatedRecordsResponse: PagedAnswer { var itemCount: Int { results.count } }
extension Sealkit_V1_StaleRecordsResponse: PagedAnswer { var itemCount: Int { records.count } }
extension Sealkit_V1_LookupRecordsResponse: PagedAnswer { var itemCount: Int { results.count } }
extension Sealkit_V1_ModifyRecordsResponse: PagedAnswer { var itemCount: Int { results.count } }
