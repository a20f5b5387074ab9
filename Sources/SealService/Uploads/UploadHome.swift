import SealStorage

/// Where the writes of an upload that has begun are at home: in its zone. They rely on the uploader's session, and
/// change what is stored for whoever pays.
struct UploadHome: Sendable {
    let zone: ZoneRow
    private let account: Int64
    private let bill: Int64

    init(_ zone: ZoneRow, by session: Session, _ caller: Caller, in connection: any SQLConnection) throws {
        self.zone = zone
        account = session.accountID
        bill = try StorageUsage.Bill(zone, caller: caller, in: connection).account
    }

    var own: Home { .zone(owner: zone.owner, zone: zone.number) }
    var beside: Set<Home> { [.account(account), .bill(bill)] }
}
