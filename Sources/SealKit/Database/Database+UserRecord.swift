import SealStatements

/// A user's own record is there from the start, as in CloudKit. Only its user can sign it; so it is made when its user
/// first asks for it, and others do not find it before.
extension Database {
    /// Whether it is the record of the type `Users` that belongs to whoever asks.
    func isOwnUserRecord(_ id: Record.ID) -> Bool {
        switch (scope, core.access) {
        case (.shared, _), (_, .world): false
        case (.public, _), (.private, _):
            id.recordName == core.userID().recordName && id.zoneID.zoneName == RecordZone.defaultName
                && id.zoneID.isCurrentUsers
        }
    }

    /// Makes the own record that is not there yet.
    func makeOwnUserRecord(_ id: Record.ID, desiredKeys: [String]?) async -> Result<Record, SealKitError> {
        do throws(SealKitError) {
            return .success(try await save(Record(recordType: Names.usersType, recordID: id)))
        } catch let error where error.code == .serverRecordChanged {
            // Another device of the user's was faster.
        } catch {
            return .failure(error)
        }
        do throws(SealKitError) {
            guard case .success(.record(let record))? = try await look(up: [id], desiredKeys: desiredKeys).first?.1
            else {
                return .failure(Database.unknown(id))
            }
            return await materialize(record)
        } catch {
            return .failure(error)
        }
    }
}
