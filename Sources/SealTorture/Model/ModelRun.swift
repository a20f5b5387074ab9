import SealKit
import SealLab
import SealStatements

/// Plays steps against a server and against the model and compares every answer: three devices of one person who owns
/// zones, and those of three people who take part in shares of them, one of whom has two.
struct ModelRun {
    static let container = "org.sealkit.model"
    static let zoneNames = ["alpha", "beta"]
    /// The one in which records are shared with what is below them.
    static let hierarchyZone = "trees"
    static let shareNames = ["share0", "share1", "share2"]
    static let recordNames = (0..<9).map { "r\($0)" }
    static let owners = 3
    static let participants = 3

    var store = ModelStore()
    var devices: [ModelDevice]
    var ears: [ModelEar] = []
    /// What the step that is being played does, for the report.
    var doing = ""
    private(set) var counts = ModelCounts()

    /// - Parameter transport: one for each device.
    init(_ transport: () throws -> any Transport) async throws {
        func account(_ name: String) async throws -> Account {
            try await Account.create(transport: transport(), deviceName: name).account
        }
        let owner = try await account("device 0")
        // One more device of each writes what ends a listener's waiting.
        let further = try Devices.more(
            of: owner, through: (0..<Self.owners).map { _ in try transport() })
        let name = try Container(Self.container, account: owner).userRecordID().recordName
        devices = try ([owner] + further.dropLast()).map { try ModelDevice(person: 0, $0, owner: name) }
        var bells = [further[Self.owners - 1]]
        for person in 1...Self.participants {
            let account = try await account("device of person \(person)")
            let further = try Devices.more(
                of: account, through: (0..<Self.devices(of: person)).map { _ in try transport() })
            devices += try ([account] + further.dropLast()).map { try ModelDevice(person: person, $0, owner: name) }
            bells.append(further[further.count - 1])
        }
        store.makeZone(ModelEar.zone)
        for (person, account) in bells.enumerated() {
            let bell = try Container(Self.container, account: account)
            try await ModelEar.subscribe(person, bell)
            for device in devices where device.person == person {
                ears.append(try await ModelEar(device, bell: bell.privateDatabase))
            }
        }
        _ = store.takeNews()
    }

    private static func devices(of person: Int) -> Int { person == 1 ? 2 : 1 }

    /// Makes the record types known to the container, so that queries for them are none for unknown ones.
    static func prepare(_ transport: any Transport) async throws {
        let account = try await Account.create(transport: transport, deviceName: "schema").account
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
        if random.chance(Self.hierarchyShare) { return try await playHierarchies(device, owner, &random) }
        switch random.below(100) {
        case 0..<4: try await makeZone(owner, zone)
        case 4: try await deleteZone(owner, zone)
        case 5..<17: try await share(zone, &random)
        case 17..<45: try await modify(device, zone, &random)
        case 45..<54: try await playAtOnce(zone, &random)
        case 54..<62:
            guard let call = lookUp(device, zone, &random) else { return }
            try await play(call)
            count(.lookUps)
        case 62..<68:
            try await play(ModelQuery(device: device, zone: zone, &random))
            count(.queries)
        case 68..<80: try await zoneChanges(device, zone, &random)
        case 80..<84: try await databaseChanges(device, &random)
        case 84..<86: try await listen(device)
        case 86..<93: try await playKeys(zone, &random)
        case 93..<99: try await restart(device, &random)
        default: try await listZones(device)
        }
    }

    mutating func count(_ kind: ModelKind) { counts.count(kind) }

    /// Devices that start anew find what the model has, and nothing else.
    mutating func checkEnd() async throws {
        for index in devices.indices {
            doing = "reads everything at the end"
            devices[index].zoneTokens = [:]
            devices[index].databaseTokens = []
            for zone in Self.zoneNames + [Self.hierarchyZone] { try await readAll(index, zone) }
            try await readDatabase(index)
            try await listZones(index)
            try await listen(index)
            try await checkNoAccusation(devices[index].container, by: "device \(index)")
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

    // MARK: Zones

    mutating func makeZone(_ device: Int, _ zone: String) async throws {
        doing = "device \(device) makes zone \(zone)"
        let database = devices[device].database
        try checkCode(
            await code { () throws(SealKitError) in try await database.save(RecordZone(zoneName: zone)) }, nil)
        store.makeZone(zone)
        tell(from: device)
        count(.zonesMade)
    }

    mutating func deleteZone(_ device: Int, _ zone: String) async throws {
        doing = "device \(device) deletes zone \(zone)"
        let database = devices[device].database
        let found = await code { () throws(SealKitError) in
            try await database.deleteRecordZone(withID: RecordZone.ID(zoneName: zone))
        }
        try checkCode(found, store.deleteZone(zone))
        tell(from: device)
        if found == nil { count(.zonesDeleted) }
    }

    private mutating func listZones(_ device: Int) async throws {
        doing = "device \(device) lists zones"
        let person = devices[device].person
        let found = try await devices[device].database.allRecordZones().map(\.zoneID.zoneName)
            .filter { $0 != RecordZone.defaultName }.sorted()
        let expected = store.zones.keys.filter { store.zone($0, for: person) != nil }.sorted()
        try check(found == expected, "the zones are \(found), not \(expected)")
    }
}
