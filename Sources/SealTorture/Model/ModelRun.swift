import SealKit
import SealLab
import SealStatements

/// Plays steps against a server and against the model and compares every answer: three devices of one person who owns zones,
/// and one device each of two people who take part in shares of them.
struct ModelRun {
    static let container = "org.sealkit.model"
    static let zoneNames = ["alpha", "beta"]
    static let recordNames = (0..<9).map { "r\($0)" }
    private static let owners = 3
    static let participants = 2

    var store = ModelStore()
    var devices: [ModelDevice]
    var ears: [ModelEar] = []
    /// What the step that is being played does, for the report.
    var doing = ""

    init(origin: String) async throws {
        func account(_ name: String) async throws -> Account {
            try await Account.create(transport: HTTPTransport(server: origin), deviceName: name).account
        }
        let owner = try await account("device 0")
        // One more device of each writes what ends a listener's waiting.
        let further = try Devices.more(of: owner, through: (0..<Self.owners).map { _ in try HTTPTransport(server: origin) })
        let name = try Container(Self.container, account: owner).userRecordID().recordName
        devices = try ([owner] + further.dropLast()).map { try ModelDevice(person: 0, $0, owner: name) }
        var bells = [further[Self.owners - 1]]
        for person in 1...Self.participants {
            let account = try await account("device of person \(person)")
            bells += try Devices.more(of: account, through: [HTTPTransport(server: origin)])
            devices.append(try ModelDevice(person: person, account, owner: name))
        }
        store.makeZone(ModelEar.zone)
        for (person, account) in bells.enumerated() {
            let bell = try Container(Self.container, account: account)
            try await ModelEar.subscribe(person, bell)
            for device in devices where device.person == person { ears.append(try await ModelEar(device, bell: bell.privateDatabase)) }
        }
        _ = store.takeNews()
    }

    /// Makes the record types known to the container, so that queries for them are none for unknown ones.
    static func prepare(origin: String) async throws {
        let account = try await Account.create(transport: HTTPTransport(server: origin), deviceName: "schema").account
        let database = try Container(container, account: account).privateDatabase
        for type in ["Note", "Task"] {
            var record = Record(recordType: type)
            for key in ModelFields.keys { ModelFields.set(key, 0, in: &record) }
            try await database.save(record)
        }
    }

    /// - Parameter step: seeds the step's own choices, so that steps can be left out without changing the others.
    mutating func play(_ step: UInt64) async throws {
        var random = SeededRandom(seed: step)
        let device = random.below(devices.count)
        let owner = random.below(Self.owners)
        let zone = Self.zoneNames[random.below(Self.zoneNames.count)]
        switch random.below(100) {
        case 0..<5: try await makeZone(owner, zone)
        case 5..<7: try await deleteZone(owner, zone)
        case 7..<12: try await share(owner, zone, &random)
        case 12..<50: try await play(modification(device, zone, &random))
        case 50..<60: try await playAtOnce(zone, &random)
        case 60..<70: if let call = lookUp(device, zone, &random) { try await play(call) }
        case 70..<78: try await play(ModelQuery(device: device, zone: zone, &random))
        case 78..<91: try await zoneChanges(device, zone, &random)
        case 91..<95: try await databaseChanges(owner, &random)
        case 95..<97: try await listen(device)
        case 97: try await rekey(device, zone)
        case 98: try restart(device, &random)
        default: try await listZones(device)
        }
    }

    /// Devices that start anew find what the model has, and nothing else.
    mutating func checkEnd() async throws {
        for index in devices.indices {
            doing = "reads everything at the end"
            devices[index].zoneTokens = [:]
            devices[index].databaseTokens = []
            for zone in Self.zoneNames { try await readAll(index, zone) }
            try await listZones(index)
            try await listen(index)
        }
    }

    /// The code that a call fails with; nil when it does not.
    func code(_ body: () async throws(SealKitError) -> Void) async -> SealKitError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return error.code
        }
    }

    func checkCode(_ found: SealKitError.Code?, _ expected: SealKitError.Code?) throws {
        try check(found == expected, "fails with \(found?.rawValue ?? "nothing"), not with \(expected?.rawValue ?? "nothing")")
    }

    /// A device keeps what it knows, or starts with what it kept, or with nothing: its answers stay the same.
    private mutating func restart(_ device: Int, _ random: inout SeededRandom) throws {
        let choice = random.below(3)
        doing = "device \(device) " + ["keeps its trust store", "goes back to the trust store that it kept", "loses its trust store"][choice]
        if choice == 0 { try devices[device].keepTrust() } else { try devices[device].restart(knowingNothing: choice == 2) }
    }

    /// Whoever may write seals what is there under the newest key.
    private mutating func rekey(_ device: Int, _ zone: String) async throws {
        let permission = store.permission(of: devices[device].person, in: zone)
        // Without such records it depends on the share's own whether anything happens.
        doing = "device \(device) rekeys \(zone)"
        guard permission != .readWrite || store.open(zone)?.stale.isEmpty == false else { return }
        let (database, id) = (devices[device].database, devices[device].zoneID(zone))
        let result: Database.RekeyResult
        do { result = try await database.rekey(id) } catch {
            return try checkCode(error.code, permission == nil ? .zoneNotFound : permission == .readOnly ? .permissionFailure : nil)
        }
        try check(permission == .readWrite, "somebody rekeys who may not write")
        let count = store.rekey(zone)
        // The share's own record is sealed again too, by those who may.
        try check(result.rekeyed == count || result.rekeyed == count + 1, "rekeys \(result.rekeyed) records, not \(count)")
        try check(result.writtenByOthers == 0 && result.failures.keys.allSatisfy { $0.recordName == Share.recordName }, "fails for \(result.failures)")
        tell(from: device)
    }

    // MARK: Zones

    private mutating func makeZone(_ device: Int, _ zone: String) async throws {
        doing = "device \(device) makes zone \(zone)"
        let database = devices[device].database
        try checkCode(await code { () throws(SealKitError) in try await database.save(RecordZone(zoneName: zone)) }, nil)
        store.makeZone(zone)
        tell(from: device)
    }

    private mutating func deleteZone(_ device: Int, _ zone: String) async throws {
        doing = "device \(device) deletes zone \(zone)"
        let database = devices[device].database
        let found = await code { () throws(SealKitError) in
            try await database.deleteRecordZone(withID: RecordZone.ID(zoneName: zone))
        }
        try checkCode(found, store.deleteZone(zone))
        tell(from: device)
    }

    private mutating func listZones(_ device: Int) async throws {
        doing = "device \(device) lists zones"
        let person = devices[device].person
        let found = try await devices[device].database.allRecordZones().map(\.zoneID.zoneName).sorted()
        let expected = store.zones.keys.filter { store.zone($0, for: person) != nil }.sorted()
        try check(found == expected, "the zones are \(found), not \(expected)")
    }
}
