import SealClient
import SealEnvelope
import SealHPKE
import SealPrimitives
import SealStatements

/// Zones of the visitor's own, made and deleted; and whether one is there.
extension Core {
    /// A zone whose roster was asked for → whether it was not shown, though something of it was seen at some visit.
    func isWithheld(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        writer.flag(try core { () throws(SealError) in try zones[try reader.number()] }.isWithheld)
    }

    /// A zone whose roster was asked for, if there is any, time → whether it is to be made, and the request: one that
    /// was deleted begins another life.
    /// - Throws: `withheld` where the server says that there is none of what was seen: nobody begins it a second time.
    mutating func zoneRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (zone, time) = try core { () throws(SealError) -> (SharedZone, Int64) in
            (try zones[try reader.number()], try reader.number())
        }
        guard zone.scope.owner == zone.own.chain.userID, Names.isCustomZone(zone.scope.zoneName) else {
            throw Refusal("invalidArguments")
        }
        guard !zone.isWithheld else { throw Refusal("withheld") }
        let existing = zone.rosters.first { $0.scope == zone.scope }
        guard existing?.isClosed ?? true else {
            writer.flag(false)
            return
        }
        let draft = try core { () throws(SealError) in
            try RosterAuthor<SodiumHPKE>(user: zone.own.chain.userID, keys: zone.own.keys).open(
                zone.scope, following: existing, encryptionScope: .perRecord, identity: zone.own.chain, time: time,
                random: &random)
        }
        var save = Wire.ZoneSave()
        save.zoneID = zone.zoneID
        save.open = Wire.SignedEntry(draft.entry)
        if let grant = draft.grants.first {
            save.grant = Wire.Grant(subject: grant.subject, epoch: grant.epoch, sealed: grant.sealed)
        }
        var request = Wire.ModifyZonesRequest()
        request.operationID = ID16(random: &random).bytes
        request.saves = [save]
        writer.flag(true)
        writer.blob(request.protobuf())
    }

    /// A zone that was read to its end, time → the request that deletes it, with the shares in it.
    mutating func zoneEndRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (zone, time) = try core { () throws(SealError) -> (SharedZone, Int64) in
            (try zones[try reader.number()], try reader.number())
        }
        let user = zone.own.chain.userID
        guard zone.scope.owner == user else { throw Refusal("permissionFailure") }
        var delete = Wire.ZoneDelete()
        delete.zoneID = zone.zoneID
        for roster in zone.rosters where !roster.isClosed {
            let author = RosterAuthor<SodiumHPKE>(user: user, keys: zone.own.keys(in: roster))
            let entry = Wire.SignedEntry(author.plain(.close, on: roster, time: time).entry)
            if roster.scope == zone.scope {
                delete.close = entry
            } else {
                var closing = Wire.ShareClosing()
                closing.shareRecordName = roster.scope.shareRecordName
                closing.close = entry
                delete.shares.append(closing)
            }
        }
        guard delete.close != nil else { throw Refusal("zoneGone") }
        var request = Wire.ModifyZonesRequest()
        request.operationID = ID16(random: &random).bytes
        request.deletes = [delete]
        writer.blob(request.protobuf())
    }
}
