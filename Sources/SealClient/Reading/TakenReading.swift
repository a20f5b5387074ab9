import SealPrimitives
public import SealStatements

/// The records that a server says go along with one that is to be deleted (R-TAKEN-7): each is verified as if it had
/// been read, and so are the references that lead from it to the target. Whoever signs the deletion holds the sightings
/// against what was seen before.
public struct TakenReading: Sendable {
    private let target: Statement
    private var reading: RecordReading
    private var records: [TakenRecord] = []
    public private(set) var sightings: [Sighting] = []

    /// - Parameters:
    ///   - target: the newest statement of the record that is to be deleted.
    ///   - count: of the records that are named.
    /// - Throws: `invalid` with `invalidLength` for more than 750.
    public init(goingWith target: Statement, count: Int, in ground: ZoneGround) throws(ClientError) {
        guard count <= Limits.takenRecords else { throw .invalid(.invalidLength) }
        self.target = target
        // Of their fields only the reference comes.
        reading = RecordReading(.zone(ground), desiredKeys: [])
        records.reserveCapacity(count)
        sightings.reserveCapacity(count)
    }

    public var ground: RecordGround { reading.ground }
    public mutating func refresh(_ ground: RecordGround) { reading.refresh(ground) }

    /// The next one, nearest to the target first.
    /// - Throws: as `RecordReading.read`; `invalid` with `invalidNotice` where the reference is missing.
    package mutating func add(_ shown: some ShownTakenRecord) throws(ClientError) {
        do throws(SealError) {
            let record = shown.shownRecord
            let verified = try reading.verify(record, recordName: nil)
            guard reading.isAbout(verified.statement, record) else { throw .wrongContext }
            let sighting = Sighting(verified, moved: try reading.origin(of: record, verified), role: .covered)
            records.append(try shown.taken(record: verified))
            sightings.append(sighting)
        } catch {
            throw reading.refused(error)
        }
    }

    /// All of them, which the deletion's author is to cover.
    /// - Throws: `invalid` with `invalidNotice` where they do not lead to the target, `wrongContext` where its scope is
    ///   not at hand.
    public func checked() throws(ClientError) -> [VerifiedStatement] {
        guard case .zone(let ground) = reading.ground, let roster = ground.view(of: target)?.roster else {
            throw .invalid(.wrongContext)
        }
        do { try TakenRecord.check(records, with: target, in: roster) } catch { throw .invalid(error) }
        return records.map { $0.record }
    }

    /// What a deletion covers of what was checked: the records that its request saves or deletes itself do not go
    /// along.
    /// - Parameter names: of the records of the request.
    public static func covered(_ checked: [VerifiedStatement], beside names: Set<String>) -> [VerifiedStatement] {
        checked.filter { !names.contains($0.statement.recordName) }
    }
}
