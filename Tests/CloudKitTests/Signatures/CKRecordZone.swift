import CloudKit

func zones(_ zone: CKRecordZone, _ coder: NSCoder) {
    let _: CKRecordZone = CKRecordZone(zoneName: "Notes")
    let _: CKRecordZone = CKRecordZone(zoneID: zone.zoneID)
    let _: CKRecordZone? = CKRecordZone(coder: coder)
    let _: CKRecordZone = CKRecordZone.default()
    let _: CKRecordZone.ID = zone.zoneID
    let _: CKRecordZone.Capabilities = zone.capabilities
    let _: CKRecordZone.Capabilities = [.fetchChanges, .atomic, .sharing, .zoneWideSharing]
    let _: CKRecordZone.Capabilities = CKRecordZone.Capabilities(rawValue: 1)
    let _: CKRecord.Reference? = zone.share
    zone.encryptionScope = .perZone
    let _: CKRecordZone.EncryptionScope = .perRecord
    let _: CKRecordZone.EncryptionScope? = CKRecordZone.EncryptionScope(rawValue: 1)
}

func zoneIdentifiers(_ coder: NSCoder) {
    let zoneID: CKRecordZone.ID = CKRecordZone.ID(zoneName: "Notes", ownerName: CKCurrentUserDefaultName)
    let _: CKRecordZone.ID = CKRecordZone.ID(zoneName: CKRecordZone.ID.defaultZoneName)
    let _: CKRecordZone.ID? = CKRecordZone.ID(coder: coder)
    let _: CKRecordZone.ID = CKRecordZone.ID.default
    let _: String = zoneID.zoneName
    let _: String = zoneID.ownerName
}

@available(*, deprecated)
func deprecatedZoneIdentifiers(_ owner: String?) {
    let _: CKRecordZone.ID = CKRecordZone.ID(zoneName: "Notes", ownerName: owner)
}
